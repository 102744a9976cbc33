"""Lifecycle points of an agent's configuration: event names there, and what an answer can do at each."""

from typing import Any

from hookonce.agents._decode.decoder import find_native_event, normalize
from hookonce.model import Agent, Hook, Point
from hookonce.vocabulary.events import OPT_IN_EVENTS

_OBSERVE_ONLY = Point()


def point(capabilities: str = "", **fields: Any) -> Point:
    """A point, its powers written as words; one that can rewrite takes the whole input unless told otherwise."""
    words = frozenset(capabilities.split())
    return Point(capabilities=words, **({"rewrite": "whole"} if "rewrite" in words else {}) | fields)


def point_of(agent: Agent, native: str) -> Point:
    """What is known of a point; what is not in the table can only be observed."""
    table_point = agent.config.points.get(native, _OBSERVE_ONLY) if agent.config else _OBSERVE_ONLY
    why = OPT_IN_EVENTS.get(canonical_event_of(agent, native))
    if why is None or table_point.why is not None:
        return table_point
    return Point(
        capabilities=table_point.capabilities,
        ask=table_point.ask,
        rewrite=table_point.rewrite,
        install="opt-in",
        why=why,
        hard_timeout_s=table_point.hard_timeout_s,
    )


def config_events(agent: Agent) -> dict[str, str]:
    """Every event that can be configured, by its name there, with its canonical one."""
    return dict((agent.config and agent.config.events) or agent.events)


def canonical_event_of(agent: Agent, native: str) -> str:
    """The canonical event of a configured name."""
    return config_events(agent).get(native) or normalize(agent, native)


def config_event_of(agent: Agent, kind: str) -> str | None:
    """The configured name of a canonical event, the first of several."""
    if agent.config and agent.config.events and not kind.startswith("vendor."):
        return next((native for native, canonical in agent.config.events.items() if canonical == kind), None)
    return find_native_event(agent, kind)


def effect_of(hook: Hook, lifecycle_point: Point) -> str:
    """What becomes of a hook at a point: its refusal prevents, or is heard later, or nobody asks for it."""
    if hook.blocking and lifecycle_point.capabilities & {"prevent", "retry"}:
        return "prevents"
    return "later" if "context" in lifecycle_point.capabilities else "observes"
