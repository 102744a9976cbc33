"""hookonce why."""

import sys
from argparse import ArgumentParser, Namespace

from msgspec import to_builtins

from hookonce.canon.weaken import NEEDS_APPROVAL
from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.runtime.approvals import code_of
from hookonce.store.spool import records
from hookonce.texts import dump


def configure(parser: ArgumentParser) -> None:
    """The options of `why`."""
    parser.epilog = "examples:\n  hookonce why\n  hookonce why 01a1dde4-3215-77eb-851b-eb5e5647ff91"
    parser.add_argument("id", nargs="?", metavar="ID", help="an event; default: the last one that was refused")
    parser.add_argument("--json", action="store_true", help="the whole record as JSON")


def run(options: Namespace) -> int:
    """Explain the last refusal, and what can be done about it."""
    found = [one for one in records() if (one.event.id == options.id if options.id else _refused(one))]
    if not found:
        raise HookonceError("there is no such event" if options.id else "nothing was refused so far")
    record = found[-1]
    if options.json:
        sys.stdout.buffer.write(dump(to_builtins(record)) + b"\n")
        return 0
    _tell(record)
    return 0


def _refused(record: Stored) -> bool:
    return record.decision is not None and record.decision.outcome == "deny"


def _tell(record: Stored) -> None:
    event, decision = record.event, record.decision
    what = f"{event.tool.name} ({event.tool.native})" if event.tool is not None else event.type
    outcome = (decision.outcome if decision else None) or "no opinion"
    print(f"{event.time} {event.agent} {event.type}: {what}: {outcome}")
    if decision is not None and decision.reason:
        print(f"  because {decision.reason}" + (f" (said {decision.by})" if decision.by else ""))
    for run in record.runs:
        ending = run.failure or f"exit code {run.exit}"
        print(f"  {run.hook} ({run.scope}): {run.outcome or 'no opinion'}, {ending}, {run.duration_ms} ms")
    for gap in record.gaps:
        if gap.note:
            print(f"  note: {gap.note}")
    if decision is not None and str(decision.reason).startswith(NEEDS_APPROVAL):
        _offer(event.id)


def _offer(call: str) -> None:
    """The code is for people: whoever is not at a terminal does not see it."""
    code = code_of(call) if sys.stdout.isatty() else None
    print(
        f"Next: hookonce allow {code}" if code else "Next: run hookonce why in a terminal to see how to allow it once"
    )
