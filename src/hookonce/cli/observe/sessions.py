"""hookonce sessions: list recorded sessions."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.base.jsontext import dump
from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import format_duration, format_time
from hookonce.cli._ui.messages import warn
from hookonce.cli._ui.tables import StreamingTable
from hookonce.inspect.sessions import SessionRow, list_sessions
from hookonce.inspect.store_access import open_store

_COLUMNS = (
    *("agent", "session", "first (UTC)", "last (UTC)", "duration"),
    *("events", "calls", "refusals", "tokens", "project"),
)


def configure(parser: ArgumentParser) -> None:
    """The options of `sessions`."""
    parser.epilog = "examples:\n  hookonce sessions --since 3d\n  hookonce sessions --agent codex --json"
    filters.add_filter_options(parser, "agent", "project", "since", "until", "last")
    parser.add_argument("--json", action="store_true", help="one JSON object for each session")


def run(options: Namespace) -> int:
    """Show the sessions of every agent, the one that was heard of last at the end."""
    is_terminal_table = not options.json and sys.stdout.isatty()
    with open_store(warn) as connection:
        query = filters.build_query(options, connection, filters.TERMINAL_ROWS if is_terminal_table else None)
        found_sessions = list(list_sessions(connection, query))
    if options.json:
        for agent_session in found_sessions:
            sys.stdout.buffer.write(dump(agent_session) + b"\n")
    else:
        _print_sessions(found_sessions)
        print(
            "Next: hookonce show SESSION tells one of them"
            if found_sessions
            else filters.empty_message(options, "session")
        )
    return 0


def _print_sessions(found_sessions: list[SessionRow]) -> None:
    lines = StreamingTable(*_COLUMNS, keep_all=True)
    for agent_session in found_sessions:
        counts = (str(count) for count in (agent_session.events, agent_session.calls, agent_session.refusals))
        times = (
            format_time(agent_session.first),
            format_time(agent_session.last),
            format_duration(agent_session.seconds),
        )
        lines.add_row(
            agent_session.agent,
            agent_session.session,
            *times,
            *counts,
            _format_tokens(agent_session),
            agent_session.project or "",
        )
    lines.flush()


def _format_tokens(agent_session: SessionRow) -> str:
    """In and out; a question mark where nobody has told them."""
    if agent_session.input_tokens is None and agent_session.output_tokens is None:
        return "?"
    return f"{(agent_session.input_tokens or 0) + (agent_session.output_tokens or 0):,}"
