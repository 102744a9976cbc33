"""Hooks in a shape or at a place where the agent itself would find none: each is named, for somebody meant them."""

from hookonce.agents.configs.point import config_events
from hookonce.model import Agent, Gap, Object


def misplaced_hook_gaps(agent: Agent, document: Object) -> list[Gap]:
    """A gap for `hooks` that is no table of events, and one for each event that stands outside of it."""
    hooks_value = document.get("hooks")
    gaps = [] if hooks_value is None or type(hooks_value) is dict else [_misplaced_gap("$.hooks", f"is no object of events{_expectation(agent)}")]
    outside = [key for key, value in document.items() if key in config_events(agent) and value]
    return gaps + [_misplaced_gap(f"$.{key}", f"does not stand under hooks{_expectation(agent)}") for key in outside]


def _expectation(agent: Agent) -> str:
    return f", as {agent.title} wants it"


def _misplaced_gap(where: str, why: str) -> Gap:
    return Gap(where=where, capability="event", strategy="kept out", effect="lost", note=f"{where} {why}")
