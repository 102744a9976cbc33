"""What is looked for in the record, by names: those that nothing has are refused, with what was probably meant."""

from sqlite3 import Connection

from hookonce import agents
from hookonce.canon.events import EVENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.spelling import near
from hookonce.canon.tools import ACTIONS
from hookonce.errors import UnknownName
from hookonce.journeys import naming
from hookonce.store.query import NONE

_LISTED = f"; there are {', '.join(ACTIONS)}"


def agent(name: str | None, connection: Connection) -> str | None:
    """The name of an agent; one that we have no table of may have been read from a format."""
    if name is None or name in agents.AGENTS or name in AGENT_ALIASES:
        return name if name is None else agents.load(name).name
    if connection.execute("SELECT 1 FROM counts WHERE agent = ? LIMIT 1", (name,)).fetchone() is None:
        naming.agent(name)
    return name


def kind(name: str | None) -> str | None:
    """The canonical event of that name; `*` stands for anything."""
    if name is None or name in EVENTS or "*" in name or name.startswith("vendor."):
        return name
    meant = _meant("events", name)
    if meant:
        raise UnknownName(f"no event is called {name!r}; did you mean {meant}?")
    return naming.event(name)


def tool(name: str | None, connection: Connection, *, live: bool = False) -> str | None:
    """The canonical tool of that name; tools that only their agents know have been used, or (`live`) may be."""
    if name is None or name in {*ACTIONS, NONE} or "*" in name or name.startswith("mcp:"):
        return name
    if connection.execute("SELECT 1 FROM events WHERE tool = ? LIMIT 1", (name,)).fetchone() is not None:
        return name
    meant = _meant("tools", name)
    hint = f"; did you mean {meant}?" if meant else near(name, ACTIONS)
    if live and not hint:
        return name
    raise UnknownName(f"no tool is called {name!r}{hint or _LISTED}")


def _meant(table: str, native: str) -> str | None:
    """What an agent's own name stands for."""
    found = (getattr(agents.load(one), table).get(native) for one in agents.AGENTS)
    return next((name for name in found if name), None)
