"""Events that no agent calls: a hook for one of them waits for ever."""

from functools import cache
from typing import Any

from hookonce import agents
from hookonce.agents import canonical_event_of, config_events
from hookonce.canon.events import EVENTS
from hookonce.canon.spelling import suggest_name
from hookonce.model import Problem


def event_problem(event: str) -> str | None:
    """Why a hook for this event never runs, and what was probably meant; None if some agent may call it."""
    canonical_names = _canonical_by_native()
    if event.startswith("vendor.") or event in canonical_names.values():
        return None
    hint = _event_hint(event, canonical_names).removeprefix("; ")
    return f"no agent calls this event; the hook never runs{hint and f' ({hint})'}"


def _event_hint(event: str, canonical_names: dict[str, str]) -> str:
    """A canonical event that we only derive is no slip."""
    if event in EVENTS:
        return ""
    return f"did you mean {canonical_names[event]}?" if event in canonical_names else suggest_name(event, canonical_names.values())


def event_problems(document: Any) -> list[Problem]:
    """The events of a manifest that no agent calls, with their paths."""
    hooks = document.get("hooks") if type(document) is dict else None
    event_names = [hook.get("event") if type(hook) is dict else None for hook in (hooks if type(hooks) is list else [])]
    problems = [(f"$.hooks[{index}].event", event_problem(event)) for index, event in enumerate(event_names) if type(event) is str]
    return [(path, reason) for path, reason in problems if reason is not None]


@cache
def _canonical_by_native() -> dict[str, str]:
    all_agents = [agents.load(name) for name in agents.AGENTS]
    return {native: canonical_event_of(agent, native) for agent in reversed(all_agents) for native in config_events(agent)}
