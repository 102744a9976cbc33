"""Grouped config format: groups with a matcher under their event, as Claude Code and half of the others have."""

from collections.abc import Callable

from hookonce.agents._config.entry import (
    build_hook,
    misplaced_hook_gaps,
    no_tool_note,
    placement_of,
    read_entry,
    resolve_event,
    warning_gap,
    write_entry,
)
from hookonce.agents._config.matchers.canonical import explain_mismatch, from_native, to_native
from hookonce.agents._config.matchers.reachability import fits_known_tools, reachability_gaps
from hookonce.agents._config.points import canonical_event_of
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

EntryChange = Callable[[Object], Object | None]


def map_entries(events: Json, change: EntryChange) -> Object:
    """The events table with every entry mapped by `change`, None drops an entry; {} where it is no table."""
    if type(events) is not dict:
        return {}
    return {native: _map_groups(groups, change) for native, groups in events.items()}


def _map_groups(groups: Json, change: EntryChange) -> Json:
    return [_map_group(group, change) for group in groups] if type(groups) is list else groups


def _map_group(group: Json, change: EntryChange) -> Json:
    entries = group.get("hooks") if type(group) is dict else None
    if type(entries) is not list:
        return group
    pairs = [(entry, change(entry) if type(entry) is dict else entry) for entry in entries]
    return group | {"hooks": [new for old, new in pairs if new is not None or old is None]}


TOOL_EVENTS = frozenset({"before_tool_execute", "after_tool_execute", "tool_use_failure"}) | {
    "permission_request",
    "permission_denied",
}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration document of these hooks, and the gaps of what it cannot say."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, hook_gaps = resolve_event(agent, index, hook)
        gaps += hook_gaps
        if native is None:
            continue
        head, hook_gaps = _render_group_head(agent, index, hook)
        gaps += hook_gaps
        if any(gap.effect == "lost" for gap in hook_gaps):
            continue
        groups = events.setdefault(native, [])
        joins = bool(groups) and placement_of(agent, hook).get("joined") is True
        if not joins or head != {key: value for key, value in groups[-1].items() if key != "hooks"}:
            groups.append(head | {"hooks": []})
        groups[-1]["hooks"].append(write_entry(agent, hook, native, wording))
    return {"hooks": events}, gaps


def _render_group_head(agent: Agent, index: int, hook: Hook) -> tuple[Object, list[Gap]]:
    """A group without its entries. How a hook stood in this agent's file counts only if it still means the same."""
    placement = placement_of(agent, hook)
    head: Object = {}
    gaps: list[Gap] = []
    is_tool_event = hook.event in TOOL_EVENTS
    matcher = placement.get("matcher") if type(placement.get("matcher")) is str else None
    if matcher is not None and hook.matcher != (from_native(agent, matcher) if is_tool_event else None):
        matcher = None
    if matcher is None and hook.matcher is not None:
        matcher = to_native(agent, hook.matcher) if is_tool_event else None
        why = explain_mismatch(agent, hook.matcher)
        no_tool_gaps = [warning_gap(agent, index, hook, "matcher", no_tool_note(hook))]
        gaps = reachability_gaps(agent, index, hook, [] if why is None else [why]) if is_tool_event else no_tool_gaps
    if matcher is not None:
        head["matcher"] = matcher
    extra = placement.get("group")
    more = {key: extra[key] for key in extra if key not in {"matcher", "hooks"}} if type(extra) is dict else {}
    return head | more, gaps


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; an entry that cannot be understood is a gap, never dropped in silence."""
    events = document.get("hooks")
    hooks: list[Hook] = []
    gaps = misplaced_hook_gaps(agent, document)
    for native, groups in events.items() if type(events) is dict else ():
        for number, group in enumerate(groups if type(groups) is list else [groups]):
            where = f"$.hooks.{native}[{number}]"
            entries: Json = group.get("hooks") if type(group) is dict else None
            if (fault := _group_fault(group, entries)) is not None:
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=f"{where} {fault}"))
                continue
            hooks += [_parse_hook(agent, native, group, entry, first=not place) for place, entry in enumerate(entries)]
    return hooks, gaps


def _group_fault(group: Json, entries: Json) -> str | None:
    """Why something is no group; without a matcher that it has, a hook would run for every tool."""
    if type(entries) is not list or not all(type(entry) is dict for entry in entries):
        return "is no group of hooks"
    return None if type(group.get("matcher", "")) in (str, type(None)) else "has a matcher that is no text"


def _is_exact(agent: Agent, matcher: Json) -> bool:
    return explain_mismatch(agent, matcher) is None and fits_known_tools(agent, matcher)


def _parse_hook(agent: Agent, native: str, group: Object, entry: Object, *, first: bool) -> Hook:
    kind = canonical_event_of(agent, native)
    text = group.get("matcher")
    matcher = from_native(agent, text) if type(text) is str and kind in TOOL_EVENTS else None
    placement: Object = {}
    if type(text) is str and not (to_native(agent, matcher) == text and _is_exact(agent, matcher)):
        placement["matcher"] = text
    extra = {key: value for key, value in group.items() if key not in {"matcher", "hooks"}}
    if extra:
        placement["group"] = extra
    if not first:
        placement["joined"] = True
    return build_hook(agent, native, read_entry(agent, entry), matcher, placement)
