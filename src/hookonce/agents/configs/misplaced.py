"""Hooks in a shape or at a place where the agent itself would find none: each is named, for somebody meant them."""

from hookonce.agents.configs.point import natives
from hookonce.model import Agent, Gap, Object


def misplaced(agent: Agent, document: Object) -> list[Gap]:
    """A gap for `hooks` that is no table of events, and one for each event that stands outside of it."""
    found = document.get("hooks")
    gaps = [] if found is None or type(found) is dict else [_gap("$.hooks", f"is no object of events{_wants(agent)}")]
    outside = [key for key, value in document.items() if key in natives(agent) and value]
    return gaps + [_gap(f"$.{key}", f"does not stand under hooks{_wants(agent)}") for key in outside]


def _wants(agent: Agent) -> str:
    return f", as {agent.title} wants it"


def _gap(where: str, why: str) -> Gap:
    return Gap(where=where, capability="event", strategy="kept out", effect="lost", note=f"{where} {why}")
