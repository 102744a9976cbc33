"""Prover: runs every experiment on a real agent and builds its certificate."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from msgspec.structs import replace

from hookonce import __version__
from hookonce.errors import HookonceError
from hookonce.lab import drivers
from hookonce.lab.experiments import EXPERIMENTS, Experiment
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Certificate, Claim, combine_tries, machine_label
from hookonce.lab.prove.run import remove_paths

Progress = Callable[[str], None]
_MAX_SECONDS_SHOWN = 120  # beyond which minutes are told
_STEP_S = 5  # an estimate is no more exact
_NO_RESULT = "the experiment said nothing about it"
_ALL: frozenset[str] = frozenset()  # no selection


def claim_names_of(program: AgentProgram, only: frozenset[str] = _ALL) -> list[str]:
    """Names of the claims that would be tried."""
    bench = Bench(drivers.load_driver(program.agent), program, Path())
    return [name for experiment in EXPERIMENTS for name in _select_names(bench, experiment, only)]


class RunProgress:
    """Progress of an agent's runs: which one it is, of how many, and about how long the rest takes."""

    def __init__(self, total: int, report: Progress) -> None:
        self._total, self._report = total, report
        self._count, self._start_time = 0, monotonic()

    def start_run(self, label: str) -> None:
        """Report the run that begins."""
        rest = self._estimate_rest(monotonic() - self._start_time)
        self._count += 1
        self._report(f"{label}, {self._count} of {self._total}{rest}")

    def _estimate_rest(self, elapsed_s: float) -> str:
        if not self._count:  # nobody knows
            return ""
        seconds = elapsed_s / self._count * (self._total - self._count)
        if seconds <= _MAX_SECONDS_SHOWN:
            return f", about {max(round(seconds / _STEP_S), 1) * _STEP_S} s left"
        return f", about {round(seconds / 60)} min left"


def prove_agent(program: AgentProgram, tries: int, progress: Progress, only: frozenset[str] = _ALL) -> Certificate:
    """Try every claim about an agent `tries` times; `only` selects experiments or claims."""
    start_time = monotonic()
    with TemporaryDirectory(prefix="hookonce-lab-cache-") as cache:
        bench = Bench(drivers.load_driver(program.agent), program, Path(cache))
        runs = RunProgress(tries * sum(bool(_reachable_names(bench, one, only)) for one in EXPERIMENTS), progress)
        claims = [claim for one in EXPERIMENTS for claim in _prove_claims(bench, one, tries, runs, only)]
    return Certificate(
        agent=program.agent,
        version=program.version,
        date=datetime.now(UTC).date().isoformat(),
        hookonce=__version__,
        machine=machine_label(),
        origin=program.origin,
        tries=tries,
        seconds=round(monotonic() - start_time, 1),
        extra_ms=round(median(bench.extra_seconds) * 1000, 1) if bench.extra_seconds else None,
        claims=claims,
    )


def _prove_claims(
    bench: Bench, experiment: Experiment, tries: int, progress: RunProgress, only: frozenset[str]
) -> Iterator[Claim]:
    """What an experiment has to say; what it cannot reach is not tried, and what nobody asked about is not told."""
    unreachable_reasons = bench.driver.unreachable
    wanted_names = _select_names(bench, experiment, only)
    is_reachable = bool(_reachable_names(bench, experiment, only))
    tries_by_name = _run_tries(bench, experiment, tries, progress) if is_reachable else {}
    for name in wanted_names:
        results = tries_by_name.get(name, [])
        if name in unreachable_reasons and not any(claim.state == "held" for claim in results):
            yield Claim(name, "unreachable", unreachable_reasons[name])
        else:
            yield combine_tries(results) if results else Claim(name, "untried", _NO_RESULT)


def _select_names(bench: Bench, experiment: Experiment, only: frozenset[str]) -> list[str]:
    return [name for name in experiment.claim_names(bench) if not only or name in only or experiment.name in only]


def _reachable_names(bench: Bench, experiment: Experiment, only: frozenset[str]) -> list[str]:
    names = _select_names(bench, experiment, only)
    return [name for name in names if name not in bench.driver.unreachable]


def _run_tries(bench: Bench, experiment: Experiment, tries: int, progress: RunProgress) -> dict[str, list[Claim]]:
    tries_by_name: dict[str, list[Claim]] = {}
    for number in range(tries):
        try_text = f", try {number + 1}" if tries > 1 else ""
        progress.start_run(f"{bench.agent.title} {bench.program.version}: {experiment.name}{try_text}")
        results, default = list[Claim](), Claim("", "untried", _NO_RESULT)
        if bench.is_stuck:
            default = Claim("", "contradicted", "the agent does not end by itself, even without hookonce")
        else:
            try:
                results = experiment.run_experiment(bench)
            except (HookonceError, OSError) as problem:
                default = Claim("", "contradicted", f"the experiment failed: {problem}")
        missing_names = [name for name in experiment.claim_names(bench) if name not in {one.claim for one in results}]
        for claim in [*results, *(replace(default, claim=name) for name in missing_names)]:
            tries_by_name.setdefault(claim.claim, []).append(replace(claim, evidence=remove_paths(claim.evidence)))
    return tries_by_name
