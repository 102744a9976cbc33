"""prove: scripted model ─ real agent ─ hooks ─ evidence ─ certificate."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from msgspec.structs import replace

from hookonce import __version__
from hookonce.errors import HookonceError
from hookonce.lab import drivers
from hookonce.lab.certificate import Certificate, extra_ms, machine
from hookonce.lab.claim import Claim, contradicted, together, unreachable, untried
from hookonce.lab.evidence import impersonal
from hookonce.lab.experiment import EXPERIMENTS, Experiment
from hookonce.lab.found import Found
from hookonce.lab.stage import Stage

Tell = Callable[[str], None]


def names_of(found: Found, only: frozenset[str] = frozenset()) -> list[str]:
    """The claims about an agent that would be tried."""
    stage = Stage(drivers.load(found.agent), found, Path())
    return [name for one in EXPERIMENTS for name in _wanted(stage, one, only)]


def prove(found: Found, tries: int, tell: Tell, only: frozenset[str] = frozenset()) -> Certificate:
    """Try every claim about an agent, as often as wanted; with `only`, of those experiments or claims."""
    began = monotonic()
    with TemporaryDirectory(prefix="hookonce-lab-cache-") as cache:
        stage = Stage(drivers.load(found.agent), found, Path(cache))
        claims = [claim for one in EXPERIMENTS for claim in _claims(stage, one, tries, tell, only)]
    return Certificate(
        agent=found.agent,
        version=found.version,
        date=datetime.now(UTC).date().isoformat(),
        hookonce=__version__,
        machine=machine(),
        origin=found.origin,
        tries=tries,
        seconds=round(monotonic() - began, 1),
        extra_ms=extra_ms(stage.extra),
        claims=claims,
    )


def _claims(stage: Stage, one: Experiment, tries: int, tell: Tell, only: frozenset[str]) -> Iterator[Claim]:
    """What an experiment has to say; what it cannot reach is not tried, and what nobody asked about is not told."""
    known = stage.driver.unreachable
    wanted = _wanted(stage, one, only)
    open_ones = [name for name in wanted if name not in known]
    found = _tried(stage, one, tries, tell) if open_ones else {}
    for name in wanted:
        results = found.get(name, [])
        if name in known and not any(claim.state == "held" for claim in results):
            yield unreachable(name, known[name])
        else:
            yield together(results) if results else untried(name, "the experiment said nothing about it")


def _wanted(stage: Stage, one: Experiment, only: frozenset[str]) -> list[str]:
    return [name for name in one.claims(stage) if not only or name in only or one.name in only]


def _given_up(stage: Stage, one: Experiment) -> list[Claim]:
    told = "the agent does not end by itself, even without hookonce"
    return [contradicted(name, told) for name in one.claims(stage)]


def _tried(stage: Stage, one: Experiment, tries: int, tell: Tell) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for number in range(tries):
        tell(
            f"{stage.agent.title} {stage.found.version}: {one.name}"
            + (f", {number + 1} of {tries}" if tries > 1 else "")
        )
        try:
            results = _given_up(stage, one) if stage.is_stuck else one.run(stage)
        except (HookonceError, OSError) as problem:
            results = [contradicted(name, f"the experiment failed: {problem}") for name in one.claims(stage)]
        said = {claim.claim for claim in results}
        silent = [
            untried(name, "the experiment said nothing about it") for name in one.claims(stage) if name not in said
        ]
        for claim in [*results, *silent]:
            found.setdefault(claim.claim, []).append(replace(claim, evidence=impersonal(claim.evidence)))
    return found
