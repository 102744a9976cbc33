"""Capture of hook payloads: scenarios, real agent, hooks at every event, scrubbed golden files with provenance.

A payload is kept once, at most three of one shape; one that names the owner or decodes differently is a gap.
"""

import re
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import asdict
from provenance import Capture, CaptureGap, Golden, Provenance, payload_digest, save_capture
from scrub import HOME, PROJECT, MachineOwner, Scrubber, find_owner
from shape import deduplicate_events, event_label, group_by_thread, shape_of

import hookonce
from hookonce import __version__, agents
from hookonce.agents import config_events, decode, point_of
from hookonce.base.jsontext import dump
from hookonce.cli import EXIT_PROBLEM, EXIT_USAGE
from hookonce.configure.locations import ConfigRoots
from hookonce.dispatch.identification import payload_event
from hookonce.dispatch.request.call_request import native_name
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect.query_args import find_agent, unknown_name_error
from hookonce.lab import drivers
from hookonce.lab.drivers import Driver, ExtraRun
from hookonce.lab.experiments.decisions import deny_rule
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS, SCENARIOS
from hookonce.lab.fetch import programs
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import machine_label
from hookonce.lab.prove.run import AgentRun, find_conversations, summarize_run
from hookonce.model import Agent, Event, Json, Object

TOUR_SCENARIO = "tour"
_MAX_PER_SHAPE = 3  # payloads of the same event, tool and shape


class CaptureRun(Struct, frozen=True):
    """One run by the name of its scenario, and the scrubber of its payloads."""

    name: str
    run: AgentRun
    scrub: Scrubber


class CapturedEvent(Struct, frozen=True):
    """One event of a run with its native name."""

    capture_run: CaptureRun
    event: Object
    native: str

    @property
    def tool(self) -> str | None:
        """The canonical tool, if it is about one."""
        return (self.event.get("tool") or {}).get("name")


def build_capture(program: AgentProgram, capture_runs: Sequence[CaptureRun]) -> Capture:
    """Build the capture of these runs."""
    agent, driver = agents.load(program.agent), drivers.load_driver(program.agent)
    captured_events = [
        captured_event for capture_run in capture_runs for captured_event in _captured_events(agent, capture_run)
    ]
    payloads: dict[str, Json] = {}
    files: list[Golden] = []
    gaps: list[CaptureGap] = []
    for captured_event, payload in _select_payloads(captured_events):
        if (objection := _find_objection(agent, captured_event, payload)) is not None:
            gaps.append(
                CaptureGap(
                    scenario=captured_event.capture_run.name,
                    event=captured_event.native,
                    type=captured_event.event["type"],
                    why=objection,
                )
            )
            continue
        golden = _build_golden(captured_event, payload, payloads)
        payloads[golden.file] = payload
        files.append(golden)
    native_names = {captured_event.native for captured_event in captured_events}
    provenance = Provenance(
        agent=program.agent,
        version=program.version,
        origin=program.origin,
        date=datetime.now(UTC).date().isoformat(),
        hookonce=__version__,
        machine=machine_label(),
        scenarios=[capture_run.name for capture_run in capture_runs],
        tools=sorted(
            {
                name
                for capture_run in capture_runs
                for conversation in find_conversations(capture_run.run)[:1]
                for name in conversation.tools
            }
        ),
        order=_tour_order(agent, captured_events, driver.unsteady_events),
        unsteady=sorted(driver.unsteady_events),
        silent=[
            program
            for program in config_events(agent)
            if program not in native_names and point_of(agent, program).install != "never"
        ],
        files=files,
        gaps=gaps,
    )
    return Capture(provenance, payloads)


def _captured_events(agent: Agent, capture_run: CaptureRun) -> Iterator[CapturedEvent]:
    for event in deduplicate_events(capture_run.run.hook_events):
        yield CapturedEvent(capture_run, event, _native_name(agent, event))


def _native_name(agent: Agent, event: Object) -> str:
    """The agent's own name of an event: what the payload says, else the one that is configured for its type."""
    payload = event.get("native")
    payload_name = payload_event(agent, payload) if type(payload) is dict else None
    probe_event = Event(id="", schema="", type=event["type"], agent=agent.name, time="", time_source="none")
    return native_name(agent, probe_event, payload_name) or event["type"]


def _select_payloads(captured_events: Sequence[CapturedEvent]) -> Iterator[tuple[CapturedEvent, Json]]:
    """The payloads that are worth a file, scrubbed: none twice, and of the same shape only a few."""
    digests: set[tuple[str, bytes]] = set()
    shape_counts: Counter[tuple[object, ...]] = Counter()
    for captured_event in captured_events:
        payload = captured_event.event.get("native")
        kind = (captured_event.native, captured_event.tool, frozenset(shape_of(payload).items()))
        if (captured_event.event["type"], dump(payload)) in digests or shape_counts[kind] == _MAX_PER_SHAPE:
            continue
        digests.add((captured_event.event["type"], dump(payload)))
        shape_counts[kind] += 1
        yield captured_event, captured_event.capture_run.scrub.scrub(payload)


def _find_objection(agent: Agent, captured_event: CapturedEvent, payload: Json) -> str | None:
    """Why a scrubbed payload cannot be kept: it tells too much, or is not understood any more."""
    if (leak := captured_event.capture_run.scrub.find_leak(captured_event.event.get("native"))) is not None:
        return f"it still contains {leak}"
    try:
        decoded_event = decode(agent, payload, captured_event.native)
    except HookonceError as problem:
        return f"it cannot be read after scrubbing: {problem}"
    old_label, new_label = (
        event_label(captured_event.event["type"], captured_event.tool),
        event_label(decoded_event.type, decoded_event.tool.name if decoded_event.tool else None),
    )
    return None if old_label == new_label else f"it was read as {old_label}, and is {new_label} after scrubbing"


def _build_golden(captured_event: CapturedEvent, payload: Json, payloads: dict[str, Json]) -> Golden:
    stem = "-".join(
        re.sub(r"[^\w.]+", "_", part) for part in (captured_event.native, _tool_label(captured_event)) if part
    )
    number = next(number for number in range(1, len(payloads) + 2) if f"{stem}-{number}.json" not in payloads)
    return Golden(
        file=f"{stem}-{number}.json",
        scenario=captured_event.capture_run.name,
        event=captured_event.native,
        type=captured_event.event["type"],
        tool=captured_event.tool,
        sha256=payload_digest(payload),
    )


def _tool_label(captured_event: CapturedEvent) -> str:
    """What of a file's name tells it from others of the same event: the tool."""
    return "mcp" if (captured_event.tool or "").startswith("mcp:") else captured_event.tool or ""


def _tour_order(agent: Agent, captured_events: Sequence[CapturedEvent], unsteady: frozenset[str]) -> list[list[str]]:
    """The events of the tour in their order: what the agent does not wait for comes now earlier, now later."""
    points_by_native = {
        native: point_of(agent, native) for native, kind in config_events(agent).items() if kind != "notification"
    }
    awaited_natives = {
        native for native, point in points_by_native.items() if point.capabilities and point.install == "default"
    } - unsteady
    tour = [
        captured_event
        for captured_event in captured_events
        if captured_event.capture_run.name == TOUR_SCENARIO and captured_event.native in awaited_natives
    ]
    return group_by_thread(
        (captured_event.event, event_label(captured_event.native, captured_event.tool)) for captured_event in tour
    )


Progress = Callable[[str], None]

ERROR_SCENARIO = "error"
DEFAULT_SCENARIOS = (TOUR_SCENARIO, "pair", ERROR_SCENARIO, "long", "refuse-shell")
_DENY_RULES = tuple(deny_rule(word) for word in DENIABLE_STEPS)
_PACKAGE = Path(hookonce.__file__).resolve().parent


def require_program(name: str, version: str | None = None, *, use_pinned: bool = False) -> AgentProgram:
    """Find the agent's program, fetched or the user's own; the error says how to get it."""
    program = programs.find_program(name, version, use_pinned=use_pinned)
    if program is None and version is not None:
        machine_program = programs.find_program(name)
        program = machine_program if machine_program is not None and machine_program.version == version else None
    if program is not None:
        return program
    label, fetch_arguments = (f"{name} {version}", f"{name} --version {version}") if version else (name, name)
    raise HookonceError(
        f"{label} is not among the agents that were fetched; hookonce lab fetch {fetch_arguments} gets it"
    )


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
    if not any(capture_run.run.hook_events for capture_run in capture_runs):
        raise HookonceError(
            f"{program.agent} {program.version} called no hook at all: {summarize_run(capture_runs[0].run)}"
        )
    return build_capture(program, capture_runs)


def _plain_run(scenario: str) -> ExtraRun:
    """A scenario as it is; where it is about refused calls, they are."""
    return ExtraRun(scenario=scenario, rules=_DENY_RULES if scenario.startswith("refuse") else ())


def _default_runs(driver: Driver) -> dict[str, ExtraRun]:
    """What an agent is put through, by names that tell the scenario: the usual, and its driver's trips.

    An agent that fails may leave before its hooks have heard of it; so that is played again.
    """
    driver_runs = {f"{extra_run.scenario}/{number}": extra_run for number, extra_run in enumerate(driver.extra_runs, 1)}
    further_runs = {
        name: extra_run
        for name, extra_run in driver_runs.items()
        if extra_run not in map(_plain_run, DEFAULT_SCENARIOS)
    }
    return (
        {name: _plain_run(name) for name in DEFAULT_SCENARIOS}
        | {f"{ERROR_SCENARIO}/again": _plain_run(ERROR_SCENARIO)}
        | further_runs
    )


def _play_run(bench: Bench, name: str, extra_run: ExtraRun, cache: Path, machine_owner: MachineOwner) -> CaptureRun:
    replacements = {str(cache): f"{HOME}/.cache"}

    def add_replacements(_home: object, locations: ConfigRoots) -> None:
        replacements.update(
            {str(locations.project): PROJECT, str(locations.home): HOME, str(locations.home.parent): f"{HOME}/lab"}
        )

    run = bench.play(
        extra_run.scenario,
        rules=list(extra_run.rules),
        hooks=bench.hooks_for_all_events,
        change_home=add_replacements,
        extra_run=extra_run,
    )
    return CaptureRun(name, run, Scrubber(replacements | _own_replacements(machine_owner), machine_owner))


def _own_replacements(machine_owner: MachineOwner) -> dict[str, str]:
    """What of ours agents see: the package and its Python, and in the user's home whatever else is theirs."""
    replacements = {str(_PACKAGE): "/opt/hookonce", sys.executable: "/usr/bin/python3"}
    home_replacements = {str(programs.cache_folder()): f"{HOME}/.cache/hookonce/agents", sys.prefix: "/opt/python"}
    return replacements | {
        path: name
        for path, name in home_replacements.items()
        if any(Path(path).is_relative_to(home) for home in machine_owner.homes)
    }


_HELP = """Runs the real agent offline, in a temporary home, and writes every payload that it gives to hooks into
DIR/AGENT-VERSION/EVENT[-TOOL]-N.json: the agent's own event name, the canonical tool, a number. Of the same event, tool
and shape at most three are kept. The lab's folders become /home/dev and /home/dev/project; ports, names of this user
and machine and whatever looks like a secret have stand-ins. A payload that still names your home is not written.

provenance.json beside them says where they are from, and so does --json, with `folder` before all:
  {agent, version, origin, date, hookonce, machine, scenarios: [name], tools: [name that the model is offered],
   order: [[event of the tour that can be answered]], unsteady: [event], silent: [event that never came],
   files: [{file, scenario, event, type, tool, sha256}], gaps: [{scenario, event, type, why}]}

exit codes: 0 all payloads were written, 1 some were not (see gaps), or the agent is not there

examples:
  python tools/capture/capture.py codex
  python tools/capture/capture.py qwen-code --version 0.15.10 --out old
  python tools/capture/capture.py claude-code --pinned --scenario tour --scenario fetch --json"""


def configure(parser: ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="AGENT", help="who is run")
    parser.add_argument("--version", metavar="V", help="a version that was fetched (hookonce lab fetch --version V)")
    parser.add_argument("--pinned", action="store_true", help="the version that we know best, if it was fetched")
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME",
        help=f"may be repeated, of {', '.join(SCENARIOS)}; default: {', '.join(DEFAULT_SCENARIOS)}, "
        "and what else brings about events of this agent",
    )
    parser.add_argument("--out", type=Path, default=Path("captures"), metavar="DIR", help="default: captures")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> int:
    """Record what an agent tells its hooks."""
    for name in options.scenario:
        if name not in SCENARIOS:
            raise unknown_name_error("scenario", name, SCENARIOS, f"there are {', '.join(SCENARIOS)}")
    program = require_program(find_agent(options.name).name, options.version, use_pinned=options.pinned)
    capture_result = capture_agent(program, options.scenario, print_progress)
    folder, provenance = save_capture(capture_result, options.out), capture_result.provenance
    if options.json:
        print(dump({"folder": str(folder)} | asdict(provenance)).decode())
    else:
        _print_capture(provenance, folder)
    for gap in provenance.gaps:
        print(f"hookonce: a payload of {gap.event} in {gap.scenario} was not written: {gap.why}", file=sys.stderr)
    return int(bool(provenance.gaps))


def _print_capture(provenance: Provenance, folder: Path) -> None:
    payload_counts = Counter(golden.event for golden in provenance.files)
    print(f"{provenance.agent} {provenance.version}: {count_text(len(provenance.files), 'payload')} in {folder}")
    print("events: " + ", ".join(f"{event} {number}" for event, number in sorted(payload_counts.items())))
    if provenance.silent:
        print(f"never came: {', '.join(sorted(provenance.silent))}")


def print_progress(text: str) -> None:
    """Print a line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def count_text(count: int, noun: str) -> str:
    """`1 payload`, `2 payloads`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def run_tool(
    description: str, epilog: str, configure: Callable[[ArgumentParser], None], run: Callable[[Namespace], int]
) -> int:
    """Parse the command line and run; what is wrong is one sentence on stderr and an exit code."""
    parser = ArgumentParser(description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter)
    configure(parser)
    try:
        return run(parser.parse_args())
    except HookonceError as problem:
        print(f"{parser.prog}: {problem}", file=sys.stderr)
        return EXIT_USAGE if isinstance(problem, UsageError) else EXIT_PROBLEM


if __name__ == "__main__":
    sys.exit(run_tool("Record what an agent tells its hooks, scrubbed, as files.", _HELP, configure, run))
