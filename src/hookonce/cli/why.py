"""hookonce why."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from msgspec import to_builtins

from hookonce.canon.weaken import NEEDS_APPROVAL
from hookonce.cli.consent import agent_above
from hookonce.errors import HookonceError
from hookonce.journeys.trusting import visible
from hookonce.model import Stored
from hookonce.runtime.approvals import code_of
from hookonce.store.spool import records
from hookonce.texts import dump

# What keeps a hook from running, and what to do about it.
_LACKING = {
    "trust": "hookonce trust shows a project's hooks, and lets them run",
    "policy": "whoever wrote the policy can change it",
    "manifest": "hookonce check FILE says what is wrong with it",
}


def configure(parser: ArgumentParser) -> None:
    """The options of `why`."""
    parser.epilog = "examples:\n  hookonce why\n  hookonce why 01a1dde4-3215-77eb-851b-eb5e5647ff91"
    parser.add_argument("id", nargs="?", metavar="ID", help="an event; default: the last one that was refused")
    parser.add_argument("--json", action="store_true", help="the whole record as JSON")


def run(options: Namespace) -> int:
    """Explain the last refusal, or the last time that hooks did not run, and what can be done about it."""
    record = _named(options.id) if options.id else _last(records())
    if record is None:
        raise HookonceError("there is no such event" if options.id else "nothing was refused so far")
    if options.json:
        sys.stdout.buffer.write(dump(to_builtins(record)) + b"\n")
    else:
        _tell(record)
    return 0


def _named(name: str) -> Stored | None:
    return next((record for record in records() if record.event.id == name), None)


def _last(found: Iterable[Stored]) -> Stored | None:
    """The last refusal; where nothing was refused, the last event of which some hook was not told."""
    refused = lacking = None
    for record in found:
        if record.decision is not None and record.decision.outcome == "deny":
            refused = record
        elif _lacks(record):
            lacking = record
    return refused or lacking


def _lacks(record: Stored) -> list[str]:
    return sorted({gap.capability for gap in record.gaps if gap.capability in _LACKING})


def _tell(record: Stored) -> None:
    event, decision = record.event, record.decision
    what = f"{event.tool.name} ({event.tool.native})" if event.tool is not None else event.type
    outcome = (decision.outcome if decision else None) or "no opinion"
    print(visible(f"{event.time} {event.agent} {event.type}: {what}: {outcome}"))
    if decision is not None and decision.reason:
        print(visible(f"  because {decision.reason}" + (f" (said {decision.by})" if decision.by else "")))
    for run in record.runs:
        ending = run.failure or f"exit code {run.exit}"
        print(visible(f"  {run.hook} ({run.scope}): {run.outcome or 'no opinion'}, {ending}, {run.duration_ms} ms"))
    for gap in record.gaps:
        if gap.note:
            print(visible(f"  note: {gap.note}"))
    for word in _lacks(record):
        print(f"Next: {_LACKING[word]}")
    if decision is not None and str(decision.reason).startswith(NEEDS_APPROVAL):
        _offer(event.id)


def _offer(call: str) -> None:
    """The code is for people: whoever is not at a terminal, or has an agent in between, does not see it."""
    code = code_of(call) if sys.stdout.isatty() and agent_above() is None else None
    print(
        f"Next: hookonce allow {code}" if code else "Next: run hookonce why in a terminal to see how to allow it once"
    )
