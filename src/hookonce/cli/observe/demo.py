"""hookonce demo: recorded sessions of several agents in one timeline."""

from argparse import ArgumentParser, Namespace
from itertools import cycle

from hookonce import agents
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.messages import pluralize, print_json
from hookonce.cli._ui.tables import print_table
from hookonce.demo.replay import interleave_sessions, list_recordings, read_session
from hookonce.errors import UnknownName
from hookonce.formats.canonical import write
from hookonce.inspect.query_args import find_agent
from hookonce.inspect.summary import summarize_in_line
from hookonce.model import Record

_COLOURS = ("36", "32", "35", "33", "34", "31", "96", "92")  # cyan, green, magenta, yellow, blue, red, and bright ones


def configure(parser: ArgumentParser) -> None:
    """The options of `demo`."""
    parser.epilog = "examples:\n  hookonce demo\n  hookonce demo codex gemini-cli\n  hookonce demo --json | head -1"
    parser.add_argument("names", nargs="*", metavar="AGENT", help=f"default: {', '.join(list_recordings())}")
    add_flag(parser, "--json", "print the records as JSON lines")


def run(options: Namespace) -> None:
    """Show the sessions of the named agents, or of all that are bundled."""
    names = list(dict.fromkeys(find_agent(name).name for name in options.names)) or list_recordings()
    if missing := ", ".join(name for name in names if name not in list_recordings()):
        raise UnknownName(f"no session of {missing} is bundled; there are {', '.join(list_recordings())}")
    records = interleave_sessions(map(read_session, names))
    if options.json:
        print_json(*(write(record)[0] for record in records))
    else:
        _print_timeline(records, names)


def _print_timeline(records: list[Record], names: list[str]) -> None:
    colours = dict(zip(names, cycle(_COLOURS), strict=False))
    rows = [(one.event.agent, _native_name(one), one.event.type, summarize_in_line(one)[:60]) for one in records]
    columns = ("agent", "native name", "one vocabulary", Column("what happened", shape="line"))
    print_table(columns, rows, styles=[colours[record.event.agent] for record in records])
    types = {record.event.type for record in records}
    native_names = {(record.event.agent, _native_name(record)) for record in records}
    mapping_text = f"{pluralize(len(native_names), 'native name')} became {len(types)} canonical ones"
    print(f"\n{pluralize(len(records), 'event')} of {pluralize(len(set(names)), 'agent')}: {mapping_text}.")
    print("Next: hookonce agents · hookonce translate --help · hookonce check --help")


def _native_name(record: Record) -> str:
    agent, payload = agents.load(record.event.agent), record.event.native
    payload_name = next((payload[key] for key, slot in agent.keys.items() if slot == "event" and key in payload), None)
    table_names = (native for native, canonical in agent.events.items() if canonical == record.event.type)
    return str(payload_name or next(table_names, ""))
