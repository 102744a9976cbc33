"""hookonce sessions: list recorded sessions."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag, format_duration, format_time
from hookonce.cli._ui.messages import print_json, warn
from hookonce.cli._ui.tables import StreamingTable
from hookonce.inspect.sessions import SessionRow, list_sessions
from hookonce.inspect.store_access import open_store

_TIME_COLUMNS = ("first (UTC)", "last (UTC)", "duration")


def configure(parser: ArgumentParser) -> None:
    """The options of `sessions`."""
    parser.epilog = "examples:\n  hookonce sessions --since 3d\n  hookonce sessions --agent codex --json"
    filters.add_filter_options(parser, "agent", "project", "since", "until", "last")
    add_flag(parser, "--json", "one JSON object for each session")


def run(options: Namespace) -> None:
    """Show the sessions of every agent, the one that was heard of last at the end."""
    is_terminal_table = not options.json and sys.stdout.isatty()
    with open_store(warn) as connection:
        query = filters.build_query(options, connection, filters.TERMINAL_ROWS if is_terminal_table else None)
        rows = list(list_sessions(connection, query))
    if options.json:
        print_json(*rows)
        return
    _print_sessions(rows)
    print("Next: hookonce show SESSION tells one of them" if rows else filters.empty_message(options, "session"))


def _print_sessions(rows: list[SessionRow]) -> None:
    lines = StreamingTable(
        "agent", "session", *_TIME_COLUMNS, "events", "calls", "refusals", "tokens", "project", keep_all=True
    )
    for row in rows:
        counts = map(str, (row.events, row.calls, row.refusals))
        times = (format_time(row.first), format_time(row.last), format_duration(row.seconds))
        tokens = f"{(row.input_tokens or 0) + (row.output_tokens or 0):,}"
        if row.input_tokens is None and row.output_tokens is None:
            tokens = "?"  # nobody has told them
        lines.add_row(row.agent, row.session, *times, *counts, tokens, row.project or "")
    lines.flush()
