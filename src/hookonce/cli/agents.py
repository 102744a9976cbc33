"""hookonce agents."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from hookonce import agents
from hookonce.canon.events import EVENTS
from hookonce.cli import _named
from hookonce.cli._matrix import (
    CELLS,
    COUNTS,
    MARKED,
    MARKS,
    NOT_YET,
    POWERS,
    abilities,
    cells,
    contradictions,
    counts,
    failures,
    mark,
    notes,
    places,
    proof,
    remarks,
    sentence,
)
from hookonce.cli._table import show, table
from hookonce.journeys.matrix import Sheet, grouped, sheet
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce agents
  hookonce agents codex
  hookonce agents --event before_tool_execute
  hookonce agents codex --json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `agents`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("names", nargs="*", metavar="NAME", help="an agent; default: all of them, in short")
    parser.add_argument("--event", metavar="CANONICAL", help="compare what agents let a hook do at one event")
    parser.add_argument("--json", action="store_true", help="one JSON object per agent, whole")


def run(options: Namespace) -> int:
    """Show one agent whole, all in a table, or one event of them all."""
    sheets = [sheet(_named.agent(name), options.event) for name in options.names or agents.AGENTS]
    if options.event is not None and options.event not in EVENTS and not any(one.points for one in sheets):
        _named.event(options.event)
    if options.json:
        for one in sheets:
            sys.stdout.buffer.write(dump(one) + b"\n")
    elif options.event is not None:
        _compare(sheets, options.event)
    elif options.names:
        for one in sheets:
            _whole(one)
    else:
        _overview(sheets)
    return 0


def _overview(sheets: list[Sheet]) -> None:
    made = table("agent", *COUNTS)
    for one in sheets:
        made.add_row(one.name, *counts(one))
    show(made)
    print("\nprevent, ask, rewrite: the events at which a hook's answer can do that")
    print("crash: what becomes of a tool call when its hook crashes")
    if any(one.config is None for one in sheets):
        print(f"A question mark: {NOT_YET}")
    print(MARKS, *MARKED[:1], sep="\n")
    print("Next: hookonce agents NAME shows all of one; hookonce agents --event EVENT compares them")


def _compare(sheets: list[Sheet], event: str) -> None:
    made = table("agent", *CELLS, "native events")
    made.columns[-1].overflow = "fold"  # a name is never cut
    for one in sheets:
        for natives, row in grouped(one.points):
            more = f" ({', '.join(remarks(row))})" if remarks(row) else ""
            made.add_row(one.name, *cells(row), ", ".join(natives) + more)
    print(f"{event}: {EVENTS[event].meaning}" if event in EVENTS else event)
    _show_if_any(made)
    _list([f"{one.name}, {note}" for one in sheets for note in notes(one.points)])
    if without := [one.name for one in sheets if not one.points]:
        print(f"\nNo such event: {', '.join(without)}")
    if unknown := [one.name for one in sheets if one.points and one.config is None]:
        print(f"\nA question mark ({', '.join(unknown)}): {NOT_YET}")
    print("", *POWERS, MARKS, *MARKED, sep="\n")


def _whole(one: Sheet) -> None:
    rest = "" if one.certificate is None else f" ({one.certificate.date}), the rest {one.proof}"
    print(f"{one.title} ({one.name}): {proof(one)}{rest}, checked {one.checked}\nSource: {one.source}")
    if wrong := contradictions(one):
        print(wrong)
    if one.config is None:
        print(f"\nA question mark: {NOT_YET}")
    else:
        for title, rows in (("hooks", places), ("entries", abilities), ("failure", failures)):
            _pairs(title, rows(one.config))
    made = table("event", "canonical", "proof", "what an answer can do, and more")
    for row in one.points:
        made.add_row(row.event, row.canonical, mark(row), sentence(row))
    _show_if_any(made)
    _list(notes(one.points))
    _names(one)
    print()
    for quirk in one.quirks:
        print(f"- {quirk}")
    print("", *POWERS, MARKS, *MARKED, sep="\n")


def _names(one: Sheet) -> None:
    """What payloads call things: events where the configuration calls them otherwise, tools, arguments."""
    spelt = {row.event: row.canonical for row in one.points}
    others = {native: kind for native, kind in one.events.items() if spelt.get(native) != kind}
    for title, rows in (("event in payloads", others), ("native tool", one.tools)):
        made = table(title, "canonical")
        for native, canonical in rows.items():
            made.add_row(native, canonical)
        _show_if_any(made)
    made = table("tool", "native argument", "canonical")
    for tool, names in one.arguments.items():
        for native, canonical in names.items():
            made.add_row("every tool" if tool == "*" else tool, native, canonical)
    _show_if_any(made)


def _pairs(title: str, rows: list[tuple[str, str]]) -> None:
    made = table(title, "")
    for row in rows:
        made.add_row(*row)
    _show_if_any(made)


def _show_if_any(made: Any) -> None:
    if made.row_count:
        print()
        show(made)


def _list(lines: list[str]) -> None:
    if lines:
        print("", *lines, sep="\n")
