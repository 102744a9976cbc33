"""Query arguments by name: agents, events and tools; unknown names are refused with a suggestion."""

from collections.abc import Iterable

from hookonce import agents
from hookonce.canon.events import EVENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.spelling import suggest_name
from hookonce.errors import UnknownName
from hookonce.model import Agent


def unknown_name_error(kind: str, name: str, names: Iterable[str], hint: str) -> UnknownName:
    """The error for a name that nothing has, with what was probably meant, or where to look."""
    return UnknownName(f"no {kind} is called {name!r}" + (suggest_name(name, names) or f"; {hint}"))


def find_agent(name: str, *, others: Iterable[str] = ()) -> Agent:
    """The agent of that name; `others` are names that would have done as well."""
    if name in agents.AGENTS or name in AGENT_ALIASES:
        return agents.load(name)
    kind = "format or agent" if others else "agent"
    hint = f"formats are {', '.join(others)}; of agents, " if others else ""
    raise unknown_name_error(kind, name, [*agents.AGENTS, *AGENT_ALIASES, *others], f"{hint}`hookonce agents` lists them")


def find_event_type(name: str) -> str:
    """The canonical event of that name."""
    if name in EVENTS:
        return name
    raise unknown_name_error("event", name, EVENTS, "hookonce agents NAME lists those of an agent")
