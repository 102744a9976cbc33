"""hookonce demo."""

import sys
from argparse import ArgumentParser, Namespace
from itertools import cycle

from hookonce import agents
from hookonce.cli import _named
from hookonce.cli._table import clipped, show, table
from hookonce.cli._words import counted
from hookonce.errors import UnknownName
from hookonce.formats.canonical import write
from hookonce.journeys.demo import recorded, side_by_side
from hookonce.journeys.told import told_in_full
from hookonce.model import Record
from hookonce.texts import dump

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "red", "bright_cyan", "bright_green")


def configure(parser: ArgumentParser) -> None:
    """The options of `demo`."""
    parser.epilog = "examples:\n  hookonce demo\n  hookonce demo codex gemini-cli\n  hookonce demo --json | head -1"
    parser.add_argument("names", nargs="*", metavar="AGENT", help=f"default: {', '.join(recorded())}")
    parser.add_argument("--json", action="store_true", help="the records as JSON lines")


def run(options: Namespace) -> int:
    """Show the sessions of the named agents, or of all that are bundled."""
    names = list(dict.fromkeys(_named.agent(name).name for name in options.names)) or recorded()
    if strange := [name for name in names if name not in recorded()]:
        raise UnknownName(f"no session of {', '.join(strange)} is bundled; there are {', '.join(recorded())}")
    records = list(side_by_side(names))
    if options.json:
        for record in records:
            sys.stdout.buffer.write(dump(write(record)[0]) + b"\n")
    else:
        _show(records, names)
    return 0


def _show(records: list[Record], names: list[str]) -> None:
    made = table("agent", "its own word", "one vocabulary", "what happened")
    colours = dict(zip(names, cycle(_COLOURS), strict=False))
    for record in records:
        event = record.event
        what = clipped(told_in_full(record)[:60])
        made.add_row(event.agent, _native(record), event.type, what, style=colours.get(event.agent))
    show(made)
    kinds = {record.event.type for record in records}
    words = {(record.event.agent, _native(record)) for record in records}
    became = f"{counted(len(words), 'native word')} became {len(kinds)}"
    print(f"\n{counted(len(records), 'event')} of {counted(len(set(names)), 'agent')}: {became}.")
    print("Next: hookonce agents · hookonce translate --help · hookonce check --help")


def _native(record: Record) -> str:
    """The event's name as the agent spells it."""
    agent = agents.load(record.event.agent)
    same = [native for native, known in agent.events.items() if known == record.event.type]
    payload = record.event.native
    named = next((payload[key] for key, slot in agent.keys.items() if slot == "event" and key in payload), None)
    return str(named or (same[0] if same else ""))
