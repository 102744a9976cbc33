"""Query arguments by name: agents, events and tools; unknown names are refused with a suggestion."""

from collections.abc import Iterable
from sqlite3 import Connection

from hookonce import agents
from hookonce.errors import UnknownName
from hookonce.model import Agent
from hookonce.store.query import NO_VALUE
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import AGENT_ALIASES, suggest_name
from hookonce.vocabulary.tools import AGENT_HOOKS_ACTIONS


def unknown_name_error(kind: str, name: str, names: Iterable[str], hint: str) -> UnknownName:
    """The error for a name that nothing has, with what was probably meant, or where to look."""
    return UnknownName(f"no {kind} is called {name!r}" + (suggest_name(name, names) or f"; {hint}"))


def find_agent(name: str, *, others: Iterable[str] = ()) -> Agent:
    """The agent of that name; `others` are names that would have done as well."""
    if name in agents.AGENTS or name in AGENT_ALIASES:
        return agents.load(name)
    kind = "format or agent" if others else "agent"
    hint = f"formats are {', '.join(others)}; of agents, " if others else ""
    raise unknown_name_error(
        kind, name, [*agents.AGENTS, *AGENT_ALIASES, *others], f"{hint}`hookonce agents` lists them"
    )


def find_event_type(name: str) -> str:
    """The canonical event of that name."""
    if name in EVENTS:
        return name
    raise unknown_name_error("event", name, EVENTS, "hookonce agents NAME lists those of an agent")


_TOOL_LIST = f"; there are {', '.join(AGENT_HOOKS_ACTIONS)}"


def agent_filter(name: str | None, connection: Connection) -> str | None:
    """The name of an agent as a filter; one that we have no table of may have been read from a format."""
    if name is None or name in agents.AGENTS or name in AGENT_ALIASES:
        return name if name is None else agents.load(name).name
    if connection.execute("SELECT 1 FROM daily_counts WHERE agent = ? LIMIT 1", (name,)).fetchone() is None:
        find_agent(name)
    return name


def event_filter(name: str | None) -> str | None:
    """The canonical event of that name as a filter; `*` stands for anything."""
    if name is None or name in EVENTS or "*" in name or name.startswith("vendor."):
        return name
    canonical = _canonical_name("events", name)
    if canonical:
        raise UnknownName(f"no event is called {name!r}; did you mean {canonical}?")
    return find_event_type(name)


def tool_filter(name: str | None, connection: Connection, *, live: bool = False) -> str | None:
    """The canonical tool of that name as a filter; one that only its agent knows has been used, or (`live`) may be."""
    if name is None or name in {*AGENT_HOOKS_ACTIONS, NO_VALUE} or "*" in name or name.startswith("mcp:"):
        return name
    if connection.execute("SELECT 1 FROM events WHERE tool = ? LIMIT 1", (name,)).fetchone() is not None:
        return name
    canonical = _canonical_name("tools", name)
    hint = f"; did you mean {canonical}?" if canonical else suggest_name(name, AGENT_HOOKS_ACTIONS)
    if live and not hint:
        return name
    raise UnknownName(f"no tool is called {name!r}{hint or _TOOL_LIST}")


def _canonical_name(table: str, native: str) -> str | None:
    names = (getattr(agents.load(agent_name), table).get(native) for agent_name in agents.AGENTS)
    return next((name for name in names if name), None)
