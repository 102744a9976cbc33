"""Events that no agent calls: a hook for one of them waits for ever."""

from functools import cache
from typing import Any

from hookonce import agents
from hookonce.agents import kind_of, natives
from hookonce.canon.events import EVENTS
from hookonce.canon.spelling import near
from hookonce.model import Problem


def unheard(event: str) -> str | None:
    """Why a hook for this event never runs, and what was probably meant; None if some agent may call it."""
    known = _canonical()
    if event.startswith("vendor.") or event in known.values():
        return None
    meant = _meant(event, known).removeprefix("; ")
    return f"no agent calls this event; the hook never runs{meant and f' ({meant})'}"


def _meant(event: str, known: dict[str, str]) -> str:
    """An agent's own word stands for something, and a canonical one that we only derive is no slip."""
    if event in EVENTS:
        return ""
    return f"did you mean {known[event]}?" if event in known else near(event, known.values())


def events_unheard(document: Any) -> list[Problem]:
    """Those of a manifest, with their places."""
    hooks = document.get("hooks") if type(document) is dict else None
    named = [hook.get("event") if type(hook) is dict else None for hook in (hooks if type(hooks) is list else [])]
    told = [(f"$.hooks[{index}].event", unheard(event)) for index, event in enumerate(named) if type(event) is str]
    return [(path, why) for path, why in told if why is not None]


@cache
def _canonical() -> dict[str, str]:
    """The canonical event of every agent's own word."""
    known = [agents.load(name) for name in agents.AGENTS]
    return {native: kind_of(agent, native) for agent in reversed(known) for native in natives(agent)}
