"""Gaps of a configuration: what it cannot say of a hook, and entries of a file that are no hooks."""

from hookonce.agents._config.points import config_events, effect_of, point_of
from hookonce.agents._config.provider_data import native_event_of
from hookonce.model import Agent, Gap, Hook, Object
from hookonce.vocabulary.names import hook_label


def warning_gap(agent: Agent, index: int, hook: Hook, capability: str, why: str, effect: str | None = None) -> Gap:
    """A gap for something about a hook that the agent's configuration cannot say."""
    return Gap(
        where=f"$.hooks[{index}].{capability}",
        capability=capability,
        strategy="warn",
        effect=effect or effect_of(hook, point_of(agent, native_event_of(agent, hook) or "")),
        note=f"{hook_label(hook)}: {why}",
    )


def no_tool_gap(agent: Agent, index: int, hook: Hook) -> Gap:
    """A gap for a matcher at an event that is about no tool."""
    return warning_gap(agent, index, hook, "matcher", f"{hook.event} is about no tool; the matcher says nothing there")


def lost_gap(index: int, hook: Hook, capability: str, why: str) -> Gap:
    """A gap for a hook that has no place at all."""
    note = f"{hook_label(hook)}: {why}"
    return Gap(where=f"$.hooks[{index}]", capability=capability, strategy="exclude", effect="lost", note=note)


def handler_gap(agent: Agent, index: int, hook: Hook) -> Gap:
    """A gap for a hook with a handler of a type that the agent does not have."""
    return lost_gap(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")


def has_loss(gaps: list[Gap]) -> bool:
    """Whether one of these gaps says that its hook is lost."""
    return any(gap.effect == "lost" for gap in gaps)


def skipped_gap(where: str, why: str, subject: str | None = None, capability: str | None = None) -> Gap:
    """A gap for something in a file that is no hook; the note calls it by its path unless it has a better name."""
    note = f"{subject or where} {why}"
    return Gap(where=where, capability=capability, strategy="kept out", effect="lost", note=note)


def misplaced_hook_gaps(agent: Agent, document: Object) -> list[Gap]:
    """A gap for `hooks` that is no table of events, and one for each event that stands outside of it."""
    is_table = type(document.get("hooks")) in (dict, type(None))
    faults = [] if is_table else [("$.hooks", "is no object of events")]
    outside = [key for key, value in document.items() if key in config_events(agent) and value]
    faults += [(f"$.{key}", "does not stand under hooks") for key in outside]
    return [skipped_gap(where, f"{why}, as {agent.title} wants it", capability="event") for where, why in faults]
