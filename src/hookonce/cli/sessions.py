"""hookonce sessions."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _filters
from hookonce.cli._lines import Lines
from hookonce.cli._warn import warn
from hookonce.cli._when import lasted, short
from hookonce.journeys.looking import looking
from hookonce.journeys.sessions import Session, sessions
from hookonce.texts import dump

_COLUMNS = (
    *("agent", "session", "first (UTC)", "last (UTC)", "duration"),
    *("events", "calls", "refusals", "tokens", "project"),
)


def configure(parser: ArgumentParser) -> None:
    """The options of `sessions`."""
    parser.epilog = "examples:\n  hookonce sessions --since 3d\n  hookonce sessions --agent codex --json"
    _filters.configure(parser, "agent", "project", "since", "until", "last")
    parser.add_argument("--json", action="store_true", help="one JSON object for each session")


def run(options: Namespace) -> int:
    """Show the sessions of every agent, the one that was heard of last at the end."""
    plain = not options.json and sys.stdout.isatty()
    with looking(warn) as connection:
        wanted = _filters.wanted(options, connection, _filters.ON_A_TERMINAL if plain else None)
        found = list(sessions(connection, wanted))
    if options.json:
        for one in found:
            sys.stdout.buffer.write(dump(one) + b"\n")
    else:
        _show(found)
        print("Next: hookonce show SESSION tells one of them" if found else _filters.nothing(options, "session"))
    return 0


def _show(found: list[Session]) -> None:
    lines = Lines(*_COLUMNS, whole=True)
    for one in found:
        counts = (str(count) for count in (one.events, one.calls, one.refusals))
        when = (short(one.first), short(one.last), lasted(one.seconds))
        lines.row(one.agent, one.session, *when, *counts, _tokens(one), one.project or "")
    lines.flush()


def _tokens(one: Session) -> str:
    """In and out; a question mark where nobody has told them."""
    if one.input_tokens is None and one.output_tokens is None:
        return "?"
    return f"{(one.input_tokens or 0) + (one.output_tokens or 0):,}"
