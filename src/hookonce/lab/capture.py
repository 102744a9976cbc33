"""capture: scenarios ─ real agent ─ hooks at every event ─ payloads ─ scrub ─ read again ─ goldens with provenance."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hookonce.errors import HookonceError
from hookonce.journeys.places import ConfigRoots
from hookonce.lab import drivers, found
from hookonce.lab.driver import Driver, ExtraRun
from hookonce.lab.experiments.denied import deny_rule
from hookonce.lab.found import AgentProgram
from hookonce.lab.goldens import TOUR_SCENARIO, CaptureRun, build_capture
from hookonce.lab.provenance import Capture
from hookonce.lab.run import summarize_run
from hookonce.lab.scenarios import DENIABLE_STEPS
from hookonce.lab.scrub import HOME, PROJECT, MachineOwner, Scrubber, find_owner
from hookonce.lab.stage import Bench

Progress = Callable[[str], None]

ERROR_SCENARIO = "error"
DEFAULT_SCENARIOS = (TOUR_SCENARIO, "pair", ERROR_SCENARIO, "long", "refuse-shell")
_DENY_RULES = tuple(deny_rule(word) for word in DENIABLE_STEPS)
_PACKAGE = Path(__file__).resolve().parents[1]


def require_program(name: str, version: str | None = None, *, use_pinned: bool = False) -> AgentProgram:
    """Find the agent's program, fetched or the user's own; the error says how to get it."""
    program = found.find_program(name, version, use_pinned=use_pinned)
    if program is None and version is not None:
        machine_program = found.find_program(name)
        program = machine_program if machine_program is not None and machine_program.version == version else None
    if program is not None:
        return program
    label, fetch_arguments = (f"{name} {version}", f"{name} --version {version}") if version else (name, name)
    raise HookonceError(f"{label} is not among the agents that were fetched; hookonce lab fetch {fetch_arguments} gets it")


def capture_agent(program: AgentProgram, scenarios: Sequence[str], progress: Progress) -> Capture:
    """Run the agent through these scenarios and capture its payloads.

    Without any these are the default ones, and the extra runs of its driver, which trigger further events.
    """
    driver, machine_owner = drivers.load_driver(program.agent), find_owner()
    runs_by_name = {name: _plain_run(name) for name in scenarios} or _default_runs(driver)
    capture_runs = []
    with TemporaryDirectory(prefix="hookonce-lab-cache-") as cache:
        bench = Bench(driver, program, Path(cache), "all")
        for number, (name, extra_run) in enumerate(runs_by_name.items(), 1):
            progress(f"{bench.agent.title} {program.version}: {name}, {number} of {len(runs_by_name)}")
            capture_runs.append(_play_run(bench, name, extra_run, Path(cache), machine_owner))
    if not any(capture_run.run.heard for capture_run in capture_runs):
        raise HookonceError(f"{program.agent} {program.version} called no hook at all: {summarize_run(capture_runs[0].run)}")
    return build_capture(program, capture_runs)


def _plain_run(scenario: str) -> ExtraRun:
    """A scenario as it is; where it is about refused calls, they are."""
    return ExtraRun(scenario=scenario, rules=_DENY_RULES if scenario.startswith("refuse") else ())


def _default_runs(driver: Driver) -> dict[str, ExtraRun]:
    """What an agent is put through, by names that tell the scenario: the usual, and its driver's trips.

    An agent that fails may leave before its hooks have heard of it; so that is played again.
    """
    driver_runs = {f"{extra_run.scenario}/{number}": extra_run for number, extra_run in enumerate(driver.extra_runs, 1)}
    further_runs = {name: extra_run for name, extra_run in driver_runs.items() if extra_run not in map(_plain_run, DEFAULT_SCENARIOS)}
    return {name: _plain_run(name) for name in DEFAULT_SCENARIOS} | {f"{ERROR_SCENARIO}/again": _plain_run(ERROR_SCENARIO)} | further_runs


def _play_run(bench: Bench, name: str, extra_run: ExtraRun, cache: Path, machine_owner: MachineOwner) -> CaptureRun:
    replacements = {str(cache): f"{HOME}/.cache"}

    def add_replacements(_home: object, locations: ConfigRoots) -> None:
        replacements.update({str(locations.project): PROJECT, str(locations.home): HOME, str(locations.home.parent): f"{HOME}/lab"})

    run = bench.play(extra_run.scenario, rules=list(extra_run.rules), hooks=bench.hooks_for_all_events, change_home=add_replacements, extra_run=extra_run)
    return CaptureRun(name, run, Scrubber(replacements | _own_replacements(machine_owner), machine_owner))


def _own_replacements(machine_owner: MachineOwner) -> dict[str, str]:
    """What of ours agents see: the package and its Python, and in the user's home whatever else is theirs."""
    replacements = {str(_PACKAGE): "/opt/hookonce", sys.executable: "/usr/bin/python3"}
    home_replacements = {str(found.cache_folder()): f"{HOME}/.cache/hookonce/agents", sys.prefix: "/opt/python"}
    return replacements | {
        path: name for path, name in home_replacements.items() if any(Path(path).is_relative_to(home) for home in machine_owner.homes)
    }
