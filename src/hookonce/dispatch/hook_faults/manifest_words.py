"""Words of a manifest that do nothing: keys that nobody reads, events that no agent calls, levels without effect."""

from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from hookonce import agents
from hookonce.agents import AGENTS, canonical_event_of, config_events, point_of
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.terminal_text import pluralize
from hookonce.formats import FORMATS
from hookonce.manifest.schema import HANDLER_FIELDS, HOOK_FIELDS, PLATFORMS
from hookonce.model import Hook, Problem
from hookonce.vocabulary.events import DERIVED_EVENTS, EVENTS
from hookonce.vocabulary.names import AGENT_ALIASES, suggest_name

_MANIFEST_KEYS = frozenset({"spec", "hooks"})
_HOOK_KEYS = frozenset(HOOK_FIELDS) | {"event", "matcher", "handler"}
_HANDLER_KEYS = frozenset(HANDLER_FIELDS) | {"type"}
_EXTENSION_PREFIXES = ("$", "x-", "x_")  # keys that say of themselves that they are somebody's own
DIALECTS = frozenset(AGENTS) | frozenset(AGENT_ALIASES) | frozenset(FORMATS) | {CANONICAL_DIALECT}


def unknown_words(document: Any) -> Iterator[Problem]:
    """Every word of a manifest that does nothing, with its path."""
    yield from _unknown_keys(document, _MANIFEST_KEYS, "$", "a manifest")
    for index, hook in enumerate(hooks_of(document)):
        path = f"$.hooks[{index}]"
        yield from _unknown_keys(hook, _HOOK_KEYS, path, "a hook")
        handler = hook.get("handler") if type(hook) is dict else None
        yield from _unknown_keys(handler, _HANDLER_KEYS, f"{path}.handler", "a handler")
        platform = handler.get("platform") if type(handler) is dict else None
        for name in platform if type(platform) is dict else ():
            if name not in PLATFORMS:
                yield f"{path}.handler.platform.{name}", f"is ignored: expected one of {', '.join(PLATFORMS)}"


def misspelled_keys(hook: Hook) -> Iterator[tuple[str, str]]:
    """Keys of a hook and of its handler that were meant for another one or another place, with what to write."""
    for prefix, node, keys in (("", hook.extra, _HOOK_KEYS), ("handler.", hook.handler.extra, _HANDLER_KEYS)):
        for key in _select_unknown(node, keys):
            if hint := _suggest_key(key, keys):  # else it may be a description, which everybody may write
                yield f"{prefix}{key}", hint


def _unknown_keys(node: Any, known_keys: Collection[str], path: str, owner: str) -> Iterator[Problem]:
    for key in _select_unknown(node, known_keys):
        hint = _suggest_key(key, known_keys)
        yield f"{path}.{key}", f"{owner} has no such key; it is ignored{hint and f'; {hint}'}"


def _select_unknown(node: Any, known_keys: Collection[str]) -> list[str]:
    keys = node if type(node) is dict else ()
    return [key for key in keys if key not in known_keys and not key.startswith(_EXTENSION_PREFIXES)]


def _suggest_key(key: str, known_keys: Collection[str]) -> str:
    """Where a key belongs, or which it nearly is; else nothing."""
    if known_keys is _HOOK_KEYS and key in _HANDLER_KEYS:
        return f"write it in the handler (handler.{key})"
    if known_keys is _HANDLER_KEYS and key in _HOOK_KEYS:
        return "write it in the hook, beside handler"
    return suggest_name(key, known_keys).removeprefix("; ")


def event_problem(event: str) -> str | None:
    """Why a hook for this event never runs, and what was probably meant; None if some agent may call it, or we do."""
    if event.startswith("vendor.") or event in _canonical_by_native().values() or event in DERIVED_EVENTS:
        return None
    if (canonical := _canonical_by_native().get(event)) is not None:
        effect = f"so the hook never runs; here it is called {canonical}"
        return f"{event} is the name of the event on {_describe_agents(event, canonical)}, {effect}"
    suggestion = "" if event in EVENTS else suggest_event(event).removeprefix("; ")
    return f"no agent has this event, so the hook never runs{suggestion and f' ({suggestion})'}"


def _describe_agents(native: str, canonical: str) -> str:
    """The agents that call an event so, that of most people first."""
    callers = [agent for agent in agents.load_all() if native in config_events(agent)]
    titles = [agent.title for agent in callers if canonical_event_of(agent, native) == canonical]
    titles.sort(key=lambda title: title != agents.load("claude-code").title)
    return titles[0] if len(titles) == 1 else f"{titles[0]} and {pluralize(len(titles) - 1, 'other agent')}"


def suggest_event(event: str) -> str:
    """`; did you mean …?` for an agent's own name of an event, or for nearly that of one; else nothing."""
    canonical_names = _canonical_by_native()
    by_lower = {native.lower(): canonical for native, canonical in canonical_names.items()}
    canonical = canonical_names.get(event) or by_lower.get(event.lower())
    return f"; did you mean {canonical}?" if canonical else suggest_name(event, {*by_lower.values()} | DERIVED_EVENTS)


def event_problems(document: Any) -> list[Problem]:
    """The events of a manifest that no agent calls, with their paths."""
    events = [hook.get("event") if type(hook) is dict else None for hook in hooks_of(document)]
    reasons = [event_problem(event) if type(event) is str else None for event in events]
    return [(f"$.hooks[{index}].event", reason) for index, reason in enumerate(reasons) if reason is not None]


def closed_problems(document: Any) -> Iterator[Problem]:
    """Fail-closed hooks that can never refuse, with their paths: no agent lets anybody, or no tool is theirs."""
    for index, hook in enumerate(hooks_of(document)):
        if type(hook) is not dict or hook.get("on_failure") != "closed":
            continue
        if hook.get("event") in ({*_canonical_by_native().values()} | DERIVED_EVENTS) - _refusable_events():
            yield (
                f"$.hooks[{index}].event",
                "no agent lets a hook refuse at this event, so on_failure: closed has no effect",
            )
        if hook.get("matcher") == []:
            yield f"$.hooks[{index}].matcher", "matches no tool, so on_failure: closed has no effect"


def privacy_problems(document: Any, *, is_project: bool) -> Iterator[Problem]:
    """Privacy levels that do nothing, with their paths: of hooks that are told everything, and `full` in a project."""
    for index, hook in enumerate(hooks_of(document)):
        level = hook.get("privacy") if type(hook) is dict else None
        if level is None:
            continue
        if hook.get("dialect") not in FORMATS or hook["dialect"] == CANONICAL_DIALECT:
            reason = "has no effect: a hook in the canonical dialect, or in an agent's own, gets the whole event"
            yield f"$.hooks[{index}].privacy", reason
        elif level == "full" and is_project:
            reason = "full works only in your own manifest; hooks of a project get events at level minimal"
            yield f"$.hooks[{index}].privacy", reason


def order_problems(document: Any) -> Iterator[Problem]:
    """An allow that does not count, because the hook runs in any order, with its path."""
    for index, hook in enumerate(hooks_of(document)):
        if type(hook) is dict and hook.get("order") == "any" and hook.get("may_allow") is True:
            reason = "has no effect: a hook with order: any can only refuse; remove order, or may_allow"
            yield f"$.hooks[{index}].may_allow", reason


def isolation_problems(document: Any) -> Iterator[Problem]:
    """An isolation that does nothing, because the handler is no function, with its path."""
    for index, hook in enumerate(hooks_of(document)):
        handler = hook.get("handler") if type(hook) is dict else None
        if type(handler) is dict and hook.get("isolation") is not None and handler.get("type") != "function":
            reason = "has no effect: only handlers of type function have workers; remove it"
            yield f"$.hooks[{index}].isolation", reason


def hooks_of(document: Any) -> list[Any]:
    """The hooks of a document, whatever they are; none where it has no list of them."""
    hooks = document.get("hooks") if type(document) is dict else None
    return hooks if type(hooks) is list else []


@cache
def _refusable_events() -> set[str]:
    points = [(agent, native) for agent in agents.load_all() for native in config_events(agent)]
    return {
        canonical_event_of(agent, native)
        for agent, native in points
        if {"prevent", "retry", "stop"} & point_of(agent, native).capabilities
    }


@cache
def _canonical_by_native() -> dict[str, str]:
    agents_backwards = [agents.load(name) for name in reversed(AGENTS)]  # of one native name the first agent counts
    return {native: canonical_event_of(agent, native) for agent in agents_backwards for native in config_events(agent)}
