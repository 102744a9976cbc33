"""hookonce agents: capability matrix of every agent's hooks, and its texts on a terminal and in the docs."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from hookonce import agents
from hookonce.canon.events import EVENTS
from hookonce.cli import _named
from hookonce.cli._matrix import (
    EVENT_COLUMNS,
    OVERVIEW_COLUMNS,
    PROOF_NOTES,
    PROOF_LEGEND,
    UNSUPPORTED_NOTE,
    POWER_LEGEND,
    ability_rows,
    event_cells,
    format_contradictions,
    overview_cells,
    failure_rows,
    proof_mark,
    install_notes,
    config_rows,
    format_proof,
    event_remarks,
    event_summary,
)
from hookonce.cli._table import print_table, new_table
from hookonce.journeys.matrix import AgentSheet, group_rows, build_sheet
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
    sheets = [build_sheet(_named.find_agent(name), options.event) for name in options.names or agents.AGENTS]
    if options.event is not None and options.event not in EVENTS and not any(agent_sheet.points for agent_sheet in sheets):
        _named.find_event_type(options.event)
    if options.json:
        for agent_sheet in sheets:
            sys.stdout.buffer.write(dump(agent_sheet) + b"\n")
    elif options.event is not None:
        _print_event(sheets, options.event)
    elif options.names:
        for agent_sheet in sheets:
            _print_agent(agent_sheet)
    else:
        _print_overview(sheets)
    return 0


def _print_overview(sheets: list[AgentSheet]) -> None:
    output = new_table("agent", *OVERVIEW_COLUMNS)
    for agent_sheet in sheets:
        output.add_row(agent_sheet.name, *overview_cells(agent_sheet))
    print_table(output)
    print("\nprevent, ask, rewrite: the events at which a hook's answer can do that")
    print("crash: what becomes of a tool call when its hook crashes")
    if any(agent_sheet.config is None for agent_sheet in sheets):
        print(f"A question mark: {UNSUPPORTED_NOTE}")
    print(PROOF_LEGEND, *PROOF_NOTES[:1], sep="\n")
    print("Next: hookonce agents NAME shows all of one; hookonce agents --event EVENT compares them")


def _print_event(sheets: list[AgentSheet], event: str) -> None:
    output = new_table("agent", *EVENT_COLUMNS, "native events")
    output.columns[-1].overflow = "fold"  # a name is never cut
    for agent_sheet in sheets:
        for natives, row in group_rows(agent_sheet.points):
            remark_text = f" ({', '.join(event_remarks(row))})" if event_remarks(row) else ""
            output.add_row(agent_sheet.name, *event_cells(row), ", ".join(natives) + remark_text)
    print(f"{event}: {EVENTS[event].meaning}" if event in EVENTS else event)
    _print_if_filled(output)
    _print_lines([f"{agent_sheet.name}, {note}" for agent_sheet in sheets for note in install_notes(agent_sheet.points)])
    if without := [agent_sheet.name for agent_sheet in sheets if not agent_sheet.points]:
        print(f"\nNo such event: {', '.join(without)}")
    if unknown := [agent_sheet.name for agent_sheet in sheets if agent_sheet.points and agent_sheet.config is None]:
        print(f"\nA question mark ({', '.join(unknown)}): {UNSUPPORTED_NOTE}")
    print("", *POWER_LEGEND, PROOF_LEGEND, *PROOF_NOTES, sep="\n")


def _print_agent(agent_sheet: AgentSheet) -> None:
    proof_text = "" if agent_sheet.certificate is None else f" ({agent_sheet.certificate.date}), the rest {agent_sheet.proof}"
    print(f"{agent_sheet.title} ({agent_sheet.name}): {format_proof(agent_sheet)}{proof_text}, checked {agent_sheet.checked}\nSource: {agent_sheet.source}")
    if contradiction_text := format_contradictions(agent_sheet):
        print(contradiction_text)
    if agent_sheet.config is None:
        print(f"\nA question mark: {UNSUPPORTED_NOTE}")
    else:
        for title, rows in (("hooks", config_rows), ("entries", ability_rows), ("failure", failure_rows)):
            _print_pairs(title, rows(agent_sheet.config))
    output = new_table("event", "canonical", "proof", "what an answer can do, and more")
    for row in agent_sheet.points:
        output.add_row(row.event, row.canonical, proof_mark(row), event_summary(row))
    _print_if_filled(output)
    _print_lines(install_notes(agent_sheet.points))
    _print_names(agent_sheet)
    print()
    for quirk in agent_sheet.quirks:
        print(f"- {quirk}")
    print("", *POWER_LEGEND, PROOF_LEGEND, *PROOF_NOTES, sep="\n")


def _print_names(agent_sheet: AgentSheet) -> None:
    """What payloads call things: events where the configuration calls them otherwise, tools, arguments."""
    config_names = {row.event: row.canonical for row in agent_sheet.points}
    payload_events = {native: kind for native, kind in agent_sheet.events.items() if config_names.get(native) != kind}
    for title, rows in (("event in payloads", payload_events), ("native tool", agent_sheet.tools)):
        output = new_table(title, "canonical")
        for native, canonical in rows.items():
            output.add_row(native, canonical)
        _print_if_filled(output)
    output = new_table("tool", "native argument", "canonical")
    for tool, names in agent_sheet.arguments.items():
        for native, canonical in names.items():
            output.add_row("every tool" if tool == "*" else tool, native, canonical)
    _print_if_filled(output)


def _print_pairs(title: str, rows: list[tuple[str, str]]) -> None:
    output = new_table(title, "")
    for row in rows:
        output.add_row(*row)
    _print_if_filled(output)


def _print_if_filled(output: Any) -> None:
    if output.row_count:
        print()
        print_table(output)


def _print_lines(lines: list[str]) -> None:
    if lines:
        print("", *lines, sep="\n")
