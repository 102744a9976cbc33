"""How long an answer may take: what the agent waits for, less a margin to be heard in."""

from math import isfinite

from hookonce.agents import config_of, point_of
from hookonce.journeys.doors import timeout as installed
from hookonce.model import Agent, Hook

DEFAULT = 30  # seconds for one hook that names none
_LEAST, _SHARE = 0.5, 0.1


def budget(agent: Agent, native: str, told: float | None, *, wraps: bool = False) -> float:
    """Seconds for all hooks of a call: the native timeout, or the agent's cap, less half a second or a tenth.

    A wrapper that does not say its timeout has the agent's own default, a door the one that we have installed.
    """
    if told is None or not (isfinite(told) and told > 0):
        told = (config_of(agent).timeout if wraps else None) or installed(agent, native)
    limits = (told, point_of(agent, native).cap, config_of(agent).longest)
    limit = min(value for value in limits if value is not None)
    return max(limit - max(_LEAST, _SHARE * limit), 0)


def share(hook: Hook, left: float) -> float:
    """Seconds for one hook: its own, at most what is left."""
    return min(hook.handler.timeout or DEFAULT, left)
