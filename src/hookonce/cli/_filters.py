"""Which events are meant: the options of every command that looks at the record."""

from argparse import ArgumentParser, Namespace
from sqlite3 import Connection
from typing import Any

from hookonce.cli._nothing import nothing_at_all
from hookonce.cli._when import moment, number
from hookonce.journeys import sought
from hookonce.store.query import NONE, Wanted, beginning, whole
from hookonce.store.tally import Span

_OPTIONS: dict[str, dict[str, Any]] = {
    "agent": {"metavar": "NAME", "help": "of one agent"},
    "session": {"metavar": "ID", "help": "of one session; the beginning of its name is enough"},
    "type": {"metavar": "EVENT", "help": "of one canonical event, such as before_tool_execute; * stands for anything"},
    "tool": {"metavar": "NAME", "help": "of one canonical tool, such as shell or mcp:github/*"},
    "decision": {"choices": ("allow", "ask", "deny", NONE), "help": "about which that was decided"},
    "project": {"metavar": "GLOB", "help": "in folders like that"},
    "path": {"metavar": "GLOB", "help": "about files like that, such as 'src/*.py'"},
    "text": {"metavar": "TEXT", "help": "with that text in them, exactly as it is written"},
    "since": {"metavar": "TIME", "type": moment, "help": "from 2026-02-23, 2026-02-23T10:15:30Z, or 10m, 2h, 3d ago"},
    "until": {"metavar": "TIME", "type": moment, "help": "before that time"},
    "last": {"metavar": "N", "type": number, "help": "the newest N; default: 50 on a terminal, else all"},
}
NAMES = frozenset(_OPTIONS)
ON_A_TERMINAL = 50


def configure(parser: ArgumentParser, *names: str) -> None:
    """The options of these names, or all of them."""
    for name in names or _OPTIONS:
        parser.add_argument(f"--{name}", **_OPTIONS[name])


def wanted(options: Namespace, connection: Connection, last: int | None, *, live: bool = False) -> Wanted:
    """What the options ask for; `live`: what they name may not be there yet."""
    given: dict[str, Any] = vars(options)
    whose, session = sought.agent(given.get("agent"), connection), given.get("session")
    if session is not None:
        session = f"{beginning(session)}*" if live else whole(connection, session, whose)
    return Wanted(
        agent=whose,
        session=session,
        type=sought.kind(given.get("type")),
        outcome=given.get("decision"),
        tool=sought.tool(given.get("tool"), connection, live=live),
        project=given.get("project"),
        path=given.get("path"),
        text=given.get("text"),
        since=given.get("since"),
        until=given.get("until"),
        last=last if options.last is None else options.last,
    )


def nothing(options: Namespace, noun: str) -> str:
    """What is said where nothing was found: nothing that was asked for, or nothing at all."""
    if any(vars(options).get(name) is not None for name in NAMES):
        return f"there is no such {noun}"
    return nothing_at_all(f"there is no such {noun}")


def span(options: Namespace, connection: Connection) -> Span:
    """The summaries that the options ask for."""
    return Span(since=options.since, until=options.until, agent=sought.agent(options.agent, connection))
