"""hookonce lab capture: record the hook payloads of a real agent as golden files."""

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path

from msgspec.structs import asdict

from hookonce.base.jsontext import dump
from hookonce.cli._ui import names
from hookonce.cli._ui.messages import pluralize, show_progress
from hookonce.lab.capture.capture import DEFAULT_SCENARIOS, capture_agent, require_program
from hookonce.lab.capture.provenance import Provenance, save_capture
from hookonce.lab.fakes.scenarios import SCENARIOS

_CAPTURE_HELP = """Runs the real agent offline, in a temporary home, and writes every payload that it gives to hooks into
DIR/AGENT-VERSION/EVENT[-TOOL]-N.json: the agent's own event name, the canonical tool, a number. Of the same event, tool
and shape at most three are kept. The lab's folders become /home/dev and /home/dev/project; ports, names of this user
and machine and whatever looks like a secret have stand-ins. A payload that still names your home is not written.

provenance.json beside them says where they are from, and so does --json, with `folder` before all:
  {agent, version, origin, date, hookonce, machine, scenarios: [name], tools: [name that the model is offered],
   order: [[event of the tour that can be answered]], unsteady: [event], silent: [event that never came],
   files: [{file, scenario, event, type, tool, sha256}], gaps: [{scenario, event, type, why}]}

exit codes: 0 all payloads were written, 1 some were not (see gaps), or the agent is not there

examples:
  hookonce lab capture codex
  hookonce lab capture qwen-code --version 0.15.10 --out old
  hookonce lab capture claude-code --pinned --scenario tour --scenario fetch --json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `lab capture`."""
    parser.epilog = _CAPTURE_HELP
    parser.add_argument("name", metavar="AGENT", help="who is run")
    parser.add_argument("--version", metavar="V", help="a version that was fetched (hookonce lab fetch --version V)")
    parser.add_argument("--pinned", action="store_true", help="the version that we know best, if it was fetched")
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME",
        help=f"may be repeated, of {', '.join(SCENARIOS)}; default: {', '.join(DEFAULT_SCENARIOS)}, and what else brings about "
        "events of this agent",
    )
    parser.add_argument("--out", type=Path, default=Path("captures"), metavar="DIR", help="default: captures")
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Record what an agent tells its hooks."""
    for name in options.scenario:
        if name not in SCENARIOS:
            raise names.unknown_name_error("scenario", name, SCENARIOS, f"there are {', '.join(SCENARIOS)}")
    program = require_program(names.find_agent(options.name).name, options.version, use_pinned=options.pinned)
    capture_result = capture_agent(program, options.scenario, show_progress)
    show_progress("")
    folder, provenance = save_capture(capture_result, options.out), capture_result.provenance
    if options.json:
        sys.stdout.buffer.write(dump({"folder": str(folder)} | asdict(provenance)) + b"\n")
    else:
        _print_capture(provenance, folder)
    for gap in provenance.gaps:
        print(f"hookonce: a payload of {gap.event} in {gap.scenario} was not written: {gap.why}", file=sys.stderr)
    return int(bool(provenance.gaps))


def _print_capture(provenance: Provenance, folder: Path) -> None:
    payload_counts = Counter(golden.event for golden in provenance.files)
    print(f"{provenance.agent} {provenance.version}: {pluralize(len(provenance.files), 'payload')} in {folder}")
    print("events: " + ", ".join(f"{event} {number}" for event, number in sorted(payload_counts.items())))
    if provenance.silent:
        print(f"never came: {', '.join(sorted(provenance.silent))}")
