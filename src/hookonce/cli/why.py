"""hookonce why."""

import sys
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from msgspec import to_builtins

from hookonce.canon.weaken import NEEDS_APPROVAL
from hookonce.cli._warn import warn
from hookonce.cli.consent import agent_above
from hookonce.errors import HookonceError
from hookonce.journeys.behind import Behind, behind
from hookonce.journeys.visible import visible
from hookonce.journeys.wanted import wanted
from hookonce.manifest.discover import project_of
from hookonce.model import Gap, HookRun, Stored
from hookonce.runtime.approvals import code_of
from hookonce.store.kept import latest, named
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce why
  hookonce why --list
  hookonce why --failures
  hookonce why 01a1dde4-3215-77eb-851b-eb5e5647ff91"""
_MOST = 20  # refusals in a list
_SHORT = 80  # characters of an action in a list
# What keeps a hook from running, and what to do about it.
_LACKING = {
    "trust": "hookonce trust shows a project's hooks, and lets them run",
    "policy": "whoever wrote the policy can change it",
    "manifest": "hookonce check FILE says what is wrong with it",
}


def configure(parser: ArgumentParser) -> None:
    """The options of `why`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("id", nargs="?", metavar="ID", help="an event; default: the last one that was refused")
    parser.add_argument("--list", action="store_true", help=f"the last refusals, {_MOST} at most, the newest last")
    parser.add_argument("--failures", action="store_true", help="of hooks that failed, instead of refusals")
    parser.add_argument("--json", action="store_true", help="the whole record as JSON; with --list one in each line")


def run(options: Namespace) -> int:
    """Explain the last refusal, or the last time that hooks did not run, and what can be done about it."""
    if options.list:
        return _list(options)
    found = [] if options.id else list(latest(tell=warn))
    failed = next((one for one in reversed(found) if _has_failed(one)), None)
    record = named(options.id, warn) if options.id else failed if options.failures else _last(found) or failed
    if record is None:
        raise HookonceError("there is no such event" if options.id else f"{_none(options)} so far")
    if options.json:
        sys.stdout.buffer.write(dump(to_builtins(record)) + b"\n")
        return 0
    _tell(record)
    if failed is not None and failed is not record and found.index(failed) > found.index(record):
        print(f"a hook has failed since then: hookonce why {failed.event.id}")
    return 0


def _none(options: Namespace) -> str:
    return "no hook has failed" if options.failures else "nothing was refused"


def _has_failed(record: Stored) -> bool:
    return any(run.failure is not None for run in record.runs)


def _list(options: Namespace) -> int:
    is_meant = _has_failed if options.failures else _is_refused
    found = deque(filter(is_meant, latest(tell=warn)), maxlen=_MOST)
    for record in found:
        if options.json:
            sys.stdout.buffer.write(dump(to_builtins(record)) + b"\n")
        else:
            print(visible(_in_a_line(record)))
    if not found and not options.json:
        print(f"{_none(options)} so far")
    return 0


def _in_a_line(record: Stored) -> str:
    what, reason = (" ".join(text.split()) for text in (wanted(record.event), _reason(record)))
    if len(what) > _SHORT:
        what = f"{what[:_SHORT]}…"
    told = f"{record.event.id} {_headline(record)}" + (f": {what}" if what else "")
    failed = ", ".join(f"{run.hook} failed ({run.failure})" for run in record.runs if run.failure is not None)
    return told + (f", because {reason}" if reason else f", {failed}" if failed else "")


def _reason(record: Stored) -> str:
    return (record.decision.reason if record.decision is not None else None) or ""


def _is_refused(record: Stored) -> bool:
    own = record.event.derived_from is None  # what follows from a refusal explains nothing
    return own and record.decision is not None and record.decision.outcome == "deny"


def _last(found: Iterable[Stored]) -> Stored | None:
    """The last refusal; where nothing was refused, the last event of which some hook was not told."""
    refused = lacking = None
    for record in found:
        if _is_refused(record):
            refused = record
        elif _lacks(record):
            lacking = record
    return refused or lacking


def _lacks(record: Stored) -> list[str]:
    return sorted({gap.capability for gap in record.gaps if gap.capability in _LACKING})


def _tell(record: Stored) -> None:
    event, decision = record.event, record.decision
    print(visible(_headline(record)))
    print(f"  event {event.id}")
    if what := wanted(event):
        _say(f"it wanted: {what}")
    if decision is not None and decision.reason:
        _say(f"because {decision.reason}" + (f" (said {decision.by})" if decision.by else ""))
    runs = [(run, _behind(run, record) if _is_telling(run) else None) for run in record.runs]
    for run, found in runs:
        _tell_run(run, found)
    for gap in record.gaps:
        if gap.note and gap.strategy != "hashed":  # how a text was left out explains nothing
            _say(_note(gap))
    for word in _lacks(record):
        print(f"Next: {_LACKING[word]}")
    if _reason(record).startswith(NEEDS_APPROVAL):
        _offer(event.id)
    elif refusing := [one for one in runs if one[0].outcome == "deny"]:
        print(visible(_way_out(*refusing[-1])))


def _say(text: str) -> None:
    """Lines of a text that somebody else wrote; further ones stand deeper, so that none passes for a line of ours."""
    first, *others = text.splitlines()
    print(visible(f"  {first}"))
    for line in others:
        print(visible(f"    | {line}"))


def _note(gap: Gap) -> str:
    """What could not be carried; where something was made up, which field that was."""
    if gap.strategy == "synthesised":
        return f"note: {gap.where.removeprefix('$.')} was made up: {gap.note}"
    return f"note: {gap.note}"


def _headline(record: Stored) -> str:
    event, decision = record.event, record.decision
    what = f"{event.tool.name} ({event.tool.native})" if event.tool is not None else event.type
    outcome = (decision.outcome if decision else None) or "no opinion"
    return f"{event.received or event.time} {event.agent} {event.type}: {what}: {outcome}"


def _behind(run: HookRun, record: Stored) -> Behind | None:
    return behind(run, project_of(Path(record.event.cwd or ".").absolute()))


def _tell_run(run: HookRun, found: Behind | None) -> None:
    """A hook; of one that refused or failed its command too, and its id, by which it is known when its words change."""
    ending = run.failure or f"exit code {run.exit}"
    print(
        visible(
            f"  {run.hook} ({run.scope}): {run.outcome or 'no opinion'}, {ending}, {run.duration_ms} ms{_asked(run)}"
        )
    )
    if _is_telling(run):
        told = "its command is in no manifest now" if found is None else f"it ran: {found.command}"
        print(visible(f"    {told} (id {(run.digest or 'unknown')[:12]})"))
    if run.failure is not None and run.exit:
        print("    what it wrote to stderr is in hookonce logs")


def _is_telling(run: HookRun) -> bool:
    return run.outcome == "deny" or run.failure is not None


def _asked(run: HookRun) -> str:
    """The language model behind a hook, with what is known of its price."""
    if run.model is None and run.usage is None:
        return ""
    used = run.usage and (run.usage.total_tokens or (run.usage.input_tokens or 0) + (run.usage.output_tokens or 0))
    tokens = f", {used:,} tokens" if used else ""
    price = f", ${run.cost_micros / 1_000_000:.6f}" if run.cost_micros is not None else ""
    return f", asked {run.model or 'a model'}{tokens}{price}"


def _way_out(run: HookRun, found: Behind | None) -> str:
    """What a person can do who thinks that a hook was wrong."""
    pause = "hookonce pause 10m asks no hook for a while"
    return f"Next: {pause}" if found is None else f"Next: change the hook {run.hook} in {found.file}; {pause}"


def _offer(call: str) -> None:
    """The code is for people: whoever is not at a terminal, or has an agent in between, does not see it."""
    code = code_of(call) if sys.stdout.isatty() and agent_above() is None else None
    print(
        f"Next: hookonce allow {code}" if code else "Next: run hookonce why in a terminal to see how to allow it once"
    )
