"""Hook execution: time budget, runs in order, and the effect of rewritten input on the next hook.

Hooks run one after the other, each seeing the input as those before it have left it. The budget is what the agent
waits for, less a margin in which the answer still reaches it.
"""

from math import isfinite

from hookonce.agents import config_of, point_of
from hookonce.journeys.doors import entry_timeout as installed
from hookonce.model import Agent, Hook

DEFAULT_HOOK_TIMEOUT_S = 30  # seconds for one hook that names none
_MIN_MARGIN_S, _MARGIN_RATIO = 0.5, 0.1


def call_budget_s(agent: Agent, native: str, timeout_s: float | None, *, is_wrapper: bool = False) -> float:
    """Seconds for all hooks of a call: the native timeout, or the agent's cap, less half a second or a tenth.

    A wrapper without a timeout has the agent's own default, an installed entry the one that we have written.
    """
    if timeout_s is None or not (isfinite(timeout_s) and timeout_s > 0):
        timeout_s = (config_of(agent).timeout if is_wrapper else None) or installed(agent, native)
    limits = (timeout_s, point_of(agent, native).hard_timeout_s, config_of(agent).longest)
    limit = min(value for value in limits if value is not None)
    return max(limit - max(_MIN_MARGIN_S, _MARGIN_RATIO * limit), 0)


def hook_timeout_s(hook: Hook, remaining_s: float) -> float:
    """Timeout of one hook: its own, at most what remains."""
    return min(hook.handler.timeout or DEFAULT_HOOK_TIMEOUT_S, remaining_s)
