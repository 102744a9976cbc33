"""hookonce show."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from hookonce.cli import _filters
from hookonce.cli._lines import Lines
from hookonce.cli._warn import warn
from hookonce.cli._when import lasted, short
from hookonce.cli._words import counted
from hookonce.errors import HookonceError
from hookonce.journeys import sought
from hookonce.journeys.looking import looking
from hookonce.journeys.sessions import elapsed
from hookonce.journeys.timeline import Step, Timeline, phrase, timeline
from hookonce.journeys.told import used
from hookonce.journeys.visible import visible
from hookonce.store.query import Wanted, owner, records, whole
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce show 01a1dde4
  hookonce show 01a1dde4 --json
  hookonce show 01a1dde4 --agent codex"""
_DAY = 11  # characters of a time, before those that change within a day
_THOUSAND = 1000


def configure(parser: ArgumentParser) -> None:
    """The options of `show`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("session", metavar="SESSION", help="the beginning of its name is enough")
    _filters.configure(parser, "agent")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: Namespace) -> int:
    """Tell a session from its beginning: prompts, calls and what became of them, refusals, files."""
    with looking(warn) as connection:
        agent = sought.agent(options.agent, connection)
        name = whole(connection, options.session, agent)
        found = timeline(records(connection, Wanted(agent=agent or owner(connection, name), session=name)))
    if not found.steps:
        raise HookonceError(f"nothing of the session {name} is kept any more")
    if options.json:
        sys.stdout.buffer.write(dump(found) + b"\n")
    else:
        _tell(found)
    return 0


def _tell(found: Timeline) -> None:
    print(visible(f"{found.agent} {found.session}" + (f" in {found.project}" if found.project else "")))
    print(_in_short(found))
    lines = Lines("time (UTC)", "", "", "what")
    day = ""
    for step in found.steps:
        if step.time[:_DAY] != day:
            day = step.time[:_DAY]
            lines.row(short(step.time)[: _DAY - 1], "", "", "")
        lines.row(short(step.time)[_DAY:], *_cells(step), loud=step.decision == "deny")
    lines.flush()
    for title, told in (("files", _files(found)), ("sub-agents", _children(found))):
        if rows := list(told):
            print(f"\n{title}:", *(f"  {visible(row)}" for row in rows), sep="\n")


def _in_short(found: Timeline) -> str:
    seconds = elapsed(found.first, found.last) if found.first and found.last else None
    parts = [
        f"{short(found.first or '')} to {short(found.last or '')} UTC",
        lasted(seconds),
        counted(found.turns, "turn"),
        f"{counted(found.calls, 'call')} ({found.failed} failed, {found.refused} refused)",
        ", ".join(found.models),
        used(found.usage),
        f"ended: {found.ended}" if found.ended else "no end is known",
    ]
    return visible(" · ".join(part for part in parts if part))


def _cells(step: Step) -> tuple[str, str, str]:
    """How it went, which tool, and what; sub-agents are set in."""
    inner = "│ " * step.depth
    if step.tool is None or step.call is None:
        what = f"{phrase(step)}: {step.what}" if step.what else phrase(step)
        return _mark(step), "", f"{inner}{what}{_because(step)}"
    return _mark(step), step.tool, f"{inner}{step.what}{_because(step)}{_end(step)}"


def _mark(step: Step) -> str:
    if step.decision in {"deny", "ask"}:
        return "no" if step.decision == "deny" else "ask"
    if step.call is None:
        return ""
    return {True: "ok", False: "fail", None: "?" if step.call.end is None else ""}[step.call.ok]


def _because(step: Step) -> str:
    return f" · because {step.reason}" if step.reason else ""


def _end(step: Step) -> str:
    call = step.call
    if call is None or call.end is None:
        return ""
    ran = " · ran all the same" if call.refused else ""
    took = f" · {lasted(call.duration_ms / _THOUSAND)}" if call.duration_ms is not None else ""
    return ran + took + (" (paired by guess)" if call.guessed else "")


def _files(found: Timeline) -> Iterator[str]:
    for path, file in found.files.items():
        lines = f", +{file.added} -{file.removed} lines" if file.added or file.removed else ""
        yield f"{path} ({counted(file.writes, 'write')}{lines})"


def _children(found: Timeline) -> Iterator[str]:
    for name, child in found.subagents.items():
        yield f"{name}{f' ({child.type})' if child.type else ''}: {counted(child.calls, 'call')}"
