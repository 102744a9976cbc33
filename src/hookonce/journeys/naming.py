"""Names that somebody types: what they stand for, and what was probably meant where nothing has that name."""

from collections.abc import Iterable

from hookonce import agents
from hookonce.canon.events import EVENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.spelling import near
from hookonce.errors import UnknownName
from hookonce.model import Agent


def unknown(kind: str, name: str, known: Iterable[str], where: str) -> UnknownName:
    """The error for a name that nothing has, with what was probably meant, or where to look."""
    return UnknownName(f"no {kind} is called {name!r}" + (near(name, known) or f"; {where}"))


def agent(name: str, *, others: Iterable[str] = ()) -> Agent:
    """The agent of that name; `others` are names that would have done as well."""
    if name in agents.AGENTS or name in AGENT_ALIASES:
        return agents.load(name)
    kind = "format or agent" if others else "agent"
    where = f"formats are {', '.join(others)}; of agents, " if others else ""
    raise unknown(kind, name, [*agents.AGENTS, *AGENT_ALIASES, *others], f"{where}`hookonce agents` lists them")


def event(name: str) -> str:
    """The canonical event of that name."""
    if name in EVENTS:
        return name
    raise unknown("event", name, EVENTS, "hookonce agents NAME lists those of an agent")
