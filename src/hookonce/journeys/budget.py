"""How long an answer may take: what the agent waits for, less a margin to be heard in."""

from hookonce.agents import config_of, point_of
from hookonce.journeys.doors import timeout as installed
from hookonce.model import Agent, Hook

DEFAULT = 30  # seconds for one hook that names none
_LEAST, _SHARE = 0.5, 0.1


def budget(agent: Agent, native: str, told: float | None) -> float:
    """Seconds for all hooks of a call: the native timeout, or the agent's cap, less half a second or a tenth."""
    waits = told if told is not None else installed(agent, native)
    cap = point_of(agent, native).cap
    longest = config_of(agent).longest
    limit = min(value for value in (waits, cap, longest) if value is not None)
    return max(limit - max(_LEAST, _SHARE * limit), 0.1)


def share(hook: Hook, left: float) -> float:
    """Seconds for one hook: its own, at most what is left."""
    return min(hook.handler.timeout or DEFAULT, left)
