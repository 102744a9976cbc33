"""The lifecycle points of an agent's configuration: their names, and what a hook can do there."""

from typing import Any

from hookonce.agents._base import event_name, normalize
from hookonce.canon.events import ON_REQUEST
from hookonce.model import Agent, Hook, Point

_ORDINARY = Point()


def point(can: str = "", **more: Any) -> Point:
    """A point, its powers written as words; one that can rewrite takes the whole input unless told otherwise."""
    words = frozenset(can.split())
    return Point(can=words, **({"rewrite": "whole"} if "rewrite" in words else {}) | more)


def point_of(agent: Agent, native: str) -> Point:
    """What is known of a point; what is not in the table can only be observed."""
    known = agent.config.points.get(native, _ORDINARY) if agent.config else _ORDINARY
    why = ON_REQUEST.get(kind_of(agent, native))
    if why is None or known.why is not None:
        return known
    return Point(can=known.can, ask=known.ask, rewrite=known.rewrite, install="opt-in", why=why, cap=known.cap)


def natives(agent: Agent) -> dict[str, str]:
    """Every event that can be configured, by its name there, with its canonical one."""
    return dict((agent.config and agent.config.events) or agent.events)


def kind_of(agent: Agent, native: str) -> str:
    """The canonical event of a configured name."""
    return natives(agent).get(native) or normalize(agent, native)


def native_of(agent: Agent, kind: str) -> str | None:
    """The configured name of a canonical event, the first of several."""
    if agent.config and agent.config.events and not kind.startswith("vendor."):
        return next((native for native, known in agent.config.events.items() if known == kind), None)
    return event_name(agent, kind)


def effect(hook: Hook, known: Point) -> str:
    """What becomes of a hook at a point: its refusal prevents, or is heard later, or nobody asks for it."""
    if hook.blocking and known.can & {"prevent", "retry"}:
        return "prevents"
    return "later" if "context" in known.can else "observes"
