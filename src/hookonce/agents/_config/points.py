"""Lifecycle points of an agent's configuration: event names there, and what an answer can do at each."""

from collections.abc import Mapping

from msgspec.structs import replace

from hookonce.agents._decode.decoder import find_native_event, normalize
from hookonce.model import Agent, AskMode, Hook, InstallMode, Point, RewriteMode
from hookonce.vocabulary.events import OPT_IN_EVENTS

_OBSERVE_ONLY = Point()
_DECISION_TIMEOUT_S = 60  # for an answer that may decide something
_OBSERVE_TIMEOUT_S = 5


def point(
    capabilities: str = "",
    *,
    ask: AskMode = "none",
    rewrite: RewriteMode | None = None,
    install: InstallMode = "default",
    why: str | None = None,
    hard_timeout_s: float | None = None,
) -> Point:
    """A point, its powers written as words; one that can rewrite takes the whole input unless told otherwise."""
    words = frozenset(capabilities.split())
    return Point(
        capabilities=words,
        ask=ask,
        rewrite=rewrite or ("whole" if "rewrite" in words else None),
        install=install,
        why=why,
        hard_timeout_s=hard_timeout_s,
    )


def point_of(agent: Agent, native: str) -> Point:
    """What is known of a point; what is not in the table can only be observed."""
    table_point = agent.config.points.get(native, _OBSERVE_ONLY)
    why = OPT_IN_EVENTS.get(canonical_event_of(agent, native))
    return table_point if why is None or table_point.why else replace(table_point, install="opt-in", why=why)


def entry_timeout(agent: Agent, native: str) -> int | float:
    """The timeout that is written into an entry: constants, because a changed one costs the user's trust again."""
    lifecycle_point, config = point_of(agent, native), agent.config
    can_decide = lifecycle_point.capabilities & {"prevent", "retry"}
    limits = (_DECISION_TIMEOUT_S if can_decide else _OBSERVE_TIMEOUT_S, lifecycle_point.hard_timeout_s, config.longest)
    return min(limit for limit in limits if limit is not None)


def config_events(agent: Agent) -> Mapping[str, str]:
    """Every event that can be configured, by its name there, with its canonical one."""
    return agent.config.events or agent.events


def canonical_event_of(agent: Agent, native: str) -> str:
    """The canonical event of a configured name."""
    return config_events(agent).get(native) or normalize(agent, native)


def config_event_of(agent: Agent, kind: str) -> str | None:
    """The configured name of a canonical event, the first of several."""
    if agent.config.events and not kind.startswith("vendor."):
        return next((native for native, canonical in agent.config.events.items() if canonical == kind), None)
    return find_native_event(agent, kind)


def effect_of(hook: Hook, lifecycle_point: Point) -> str:
    """What becomes of a hook at a point: its refusal prevents, or is heard later, or nobody asks for it."""
    if hook.blocking and lifecycle_point.capabilities & {"prevent", "retry"}:
        return "prevents"
    return "later" if "context" in lifecycle_point.capabilities else "observes"
