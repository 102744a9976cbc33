"""Which events are meant: the options of every command that looks at the record."""

from argparse import ArgumentParser, Namespace
from sqlite3 import Connection
from typing import Any

from hookonce import agents
from hookonce.canon.events import EVENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.cli import _named
from hookonce.cli._when import moment, number
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
    whose, session = agent(given.get("agent"), connection), given.get("session")
    if session is not None:
        session = f"{beginning(session)}*" if live else whole(connection, session, whose)
    return Wanted(
        agent=whose,
        session=session,
        type=_type(given.get("type")),
        outcome=given.get("decision"),
        tool=given.get("tool"),
        project=given.get("project"),
        path=given.get("path"),
        text=given.get("text"),
        since=given.get("since"),
        until=given.get("until"),
        last=last if options.last is None else options.last,
    )


def span(options: Namespace, connection: Connection) -> Span:
    """The summaries that the options ask for."""
    return Span(since=options.since, until=options.until, agent=agent(options.agent, connection))


def agent(name: str | None, connection: Connection) -> str | None:
    """The name of an agent; one that we have no table of may have been read from a format."""
    if name is None or name in agents.AGENTS or name in AGENT_ALIASES:
        return name if name is None else agents.load(name).name
    if connection.execute("SELECT 1 FROM counts WHERE agent = ? LIMIT 1", (name,)).fetchone() is None:
        _named.agent(name)
    return name


def _type(name: str | None) -> str | None:
    if name is None or "*" in name or name.startswith("vendor."):
        return name
    return _named.event(name) if name not in EVENTS else name
