"""Grouped config format: groups with a matcher under their event, as Claude Code and half of the others have."""

from collections.abc import Callable

from hookonce.agents._config.entry import build_hook, iterate_entries, read_entry, write_entry
from hookonce.agents._config.events import iterate_hooks
from hookonce.agents._config.gaps import has_loss, misplaced_hook_gaps, skipped_gap
from hookonce.agents._config.matchers.alternation import ALTERNATION
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, is_exact, reusable_matcher, write_matcher
from hookonce.agents._config.points import canonical_event_of
from hookonce.agents._config.provider_data import placement_of, without_keys
from hookonce.base.jsontext import as_dict
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

EntryChange = Callable[[Object], Object | None]


def map_entries(events: Json, change: EntryChange) -> Object:
    """The events table with every entry mapped by `change`, None drops an entry; {} where it is no table."""
    return {
        native: [_map_group(group, change) for group in groups] if type(groups) is list else groups
        for native, groups in as_dict(events).items()
    }


def _map_group(group: Json, change: EntryChange) -> Json:
    entries = group.get("hooks") if type(group) is dict else None
    if type(entries) is not list:
        return group
    pairs = [(entry, change(entry) if type(entry) is dict else entry) for entry in entries]
    return group | {"hooks": [new for old, new in pairs if new is not None or old is None]}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration document of these hooks, and the gaps of what it cannot say."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, hook, native in iterate_hooks(agent, hooks, gaps):
        head, hook_gaps = _render_group_head(agent, index, hook)
        gaps += hook_gaps
        if has_loss(hook_gaps):
            continue
        groups = events.setdefault(native, [])
        joins = bool(groups) and placement_of(agent, hook).get("joined") is True
        if not joins or head != without_keys(groups[-1], "hooks"):
            groups.append(head | {"hooks": []})
        groups[-1]["hooks"].append(write_entry(agent, hook, native, wording))
    return {"hooks": events}, gaps


def _render_group_head(agent: Agent, index: int, hook: Hook) -> tuple[Object, list[Gap]]:
    """A group without its entries. How a hook stood in this agent's file counts only if it still means the same."""
    text = reusable_matcher(ALTERNATION, agent, hook)
    is_new = text is None and hook.matcher is not None
    text, gaps = write_matcher(ALTERNATION, agent, index, hook) if is_new else (text, [])
    extra = without_keys(as_dict(placement_of(agent, hook).get("group")), "matcher", "hooks")
    return ({} if text is None else {"matcher": text}) | extra, gaps


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; an entry that cannot be understood is a gap, never dropped in silence."""
    hooks: list[Hook] = []
    gaps = misplaced_hook_gaps(agent, document)
    for native, where, group in iterate_entries(document.get("hooks")):
        entries: Json = group.get("hooks") if type(group) is dict else None
        if (fault := _group_fault(group, entries)) is not None:
            gaps.append(skipped_gap(where, fault))
        else:
            hooks += [_parse_hook(agent, native, group, entry, first=not place) for place, entry in enumerate(entries)]
    return hooks, gaps


def _group_fault(group: Json, entries: Json) -> str | None:
    """Why something is no group; without a matcher that it has, a hook would run for every tool."""
    if type(entries) is not list or not all(type(entry) is dict for entry in entries):
        return "is no group of hooks"
    return None if type(group.get("matcher", "")) in (str, type(None)) else "has a matcher that is no text"


def _parse_hook(agent: Agent, native: str, group: Object, entry: Object, *, first: bool) -> Hook:
    kind, text = canonical_event_of(agent, native), group.get("matcher")
    matcher = ALTERNATION.read(agent, text) if type(text) is str and kind in TOOL_EVENTS else None
    is_kept = type(text) is str and not is_exact(ALTERNATION, agent, matcher, text)
    extra = without_keys(group, "matcher", "hooks")
    placement: Object = {"matcher": text} if is_kept else {}
    placement |= ({"group": extra} if extra else {}) | ({} if first else {"joined": True})
    return build_hook(agent, native, read_entry(agent, entry), matcher, placement)
