"""hookonce sessions: list recorded sessions."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag, format_duration
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.local_time import DayClock, add_utc_option, format_time, zone_name
from hookonce.cli._ui.messages import print_json, warn
from hookonce.cli._ui.tables import ALARM, StreamingTable, print_words
from hookonce.inspect.sessions import SessionRow, list_sessions
from hookonce.inspect.store_access import open_store


def configure(parser: ArgumentParser) -> None:
    """The options of `sessions`."""
    parser.epilog = "examples:\n  hookonce sessions --since 3d\n  hookonce sessions --agent codex --json"
    filters.add_filter_options(parser, "agent", "project", "since", "until", "last")
    add_utc_option(parser)
    add_flag(parser, "--json", "print one JSON object per session")


def run(options: Namespace) -> None:
    """Show the sessions of every agent, the one that was heard of last at the end."""
    is_terminal_table = not options.json and sys.stdout.isatty()
    with open_store(warn) as connection:
        query = filters.build_query(options, connection, filters.TERMINAL_ROWS if is_terminal_table else None)
        rows = list(list_sessions(connection, query))
    if options.json:
        print_json(*rows)
        return
    _print_sessions(rows, utc=options.utc)
    hint = "Next: hookonce show SESSION shows one; the beginning of its id is enough"
    print_words(hint if rows else filters.empty_message(options, "session"))


def _print_sessions(rows: list[SessionRow], *, utc: bool) -> None:
    zone, is_terminal, clock = zone_name(utc=utc), sys.stdout.isatty(), DayClock(utc=utc)
    table = StreamingTable(
        Column("agent", shape="line", min_chars=11),
        Column("session", shape="name"),
        Column(f"first ({zone})", worth=1),
        Column(f"last ({zone})"),
        Column("took", worth=4, min_chars=10),
        Column("events", worth=2, right=True),
        Column("calls", right=True),
        Column("refused", right=True),
        Column("asked", right=True),
        Column("tokens", worth=3, right=True),
        Column("project", worth=5, shape="path", min_chars=12),
    )
    for row in rows:
        day, last = clock.split_time(row.last)
        if is_terminal and day is not None:
            table.add_line(day)
        times = (format_time(row.first, utc=utc), last if is_terminal else format_time(row.last, utc=utc))
        counts = (f"{count:,}" for count in (row.events, row.calls, row.refusals, row.asks))
        tokens = f"{(row.input_tokens or 0) + (row.output_tokens or 0):,}"
        if row.input_tokens is None and row.output_tokens is None:
            tokens = "?"  # nobody has told them
        cells = (row.agent, row.session, *times, format_duration(row.seconds), *counts, tokens, row.project or "")
        table.add_row(*cells, style=ALARM if row.refusals else "")
    table.flush()
