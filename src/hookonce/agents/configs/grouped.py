"""Hooks in groups under their event, as Claude Code writes them and half of the other agents do."""

from hookonce.agents.configs.entry import hook_of, no_tool, own_place, placed, read_entry, warned, write_entry
from hookonce.agents.configs.matcher import from_native, to_native, vague
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.point import kind_of
from hookonce.agents.configs.reach import is_certain, reached
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

TOOL_EVENTS = frozenset({"before_tool_execute", "after_tool_execute", "tool_use_failure"}) | {
    "permission_request",
    "permission_denied",
}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, and what it cannot say."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, told = placed(agent, index, hook)
        gaps += told
        if native is None:
            continue
        head, told = _head(agent, index, hook)
        gaps += told
        if any(gap.effect == "lost" for gap in told):
            continue
        groups = events.setdefault(native, [])
        joins = bool(groups) and own_place(agent, hook).get("joined") is True
        if not joins or head != {key: value for key, value in groups[-1].items() if key != "hooks"}:
            groups.append(head | {"hooks": []})
        groups[-1]["hooks"].append(write_entry(agent, hook, native, wording))
    return {"hooks": events}, gaps


def _head(agent: Agent, index: int, hook: Hook) -> tuple[Object, list[Gap]]:
    """A group without its entries. How a hook stood in this agent's file counts only if it still means the same."""
    own = own_place(agent, hook)
    head: Object = {}
    gaps: list[Gap] = []
    tools = hook.event in TOOL_EVENTS
    matcher = own.get("matcher") if type(own.get("matcher")) is str else None
    if matcher is not None and hook.matcher != (from_native(agent, matcher) if tools else None):
        matcher = None
    if matcher is None and hook.matcher is not None:
        matcher = to_native(agent, hook.matcher) if tools else None
        why = vague(agent, hook.matcher)
        unsaid = [warned(agent, index, hook, "matcher", no_tool(hook))]
        gaps = reached(agent, index, hook, [] if why is None else [why]) if tools else unsaid
    if matcher is not None:
        head["matcher"] = matcher
    extra = own.get("group")
    more = {key: extra[key] for key in extra if key not in {"matcher", "hooks"}} if type(extra) is dict else {}
    return head | more, gaps


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; an entry that cannot be understood is a gap, never dropped in silence."""
    events = document.get("hooks")
    hooks: list[Hook] = []
    gaps = misplaced(agent, document)
    for native, groups in events.items() if type(events) is dict else ():
        for number, group in enumerate(groups if type(groups) is list else [groups]):
            where = f"$.hooks.{native}[{number}]"
            entries: Json = group.get("hooks") if type(group) is dict else None
            if (fault := _fault(group, entries)) is not None:
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=f"{where} {fault}"))
                continue
            hooks += [_hook(agent, native, group, entry, first=not place) for place, entry in enumerate(entries)]
    return hooks, gaps


def _fault(group: Json, entries: Json) -> str | None:
    """Why something is no group; without a matcher that it has, a hook would run for every tool."""
    if type(entries) is not list or not all(type(entry) is dict for entry in entries):
        return "is no group of hooks"
    return None if type(group.get("matcher", "")) in (str, type(None)) else "has a matcher that is no text"


def _is_exact(agent: Agent, matcher: Json) -> bool:
    return vague(agent, matcher) is None and is_certain(agent, matcher)


def _hook(agent: Agent, native: str, group: Object, entry: Object, *, first: bool) -> Hook:
    kind = kind_of(agent, native)
    text = group.get("matcher")
    matcher = from_native(agent, text) if type(text) is str and kind in TOOL_EVENTS else None
    own: Object = {}
    if type(text) is str and not (to_native(agent, matcher) == text and _is_exact(agent, matcher)):
        own["matcher"] = text
    extra = {key: value for key, value in group.items() if key not in {"matcher", "hooks"}}
    if extra:
        own["group"] = extra
    if not first:
        own["joined"] = True
    return hook_of(agent, native, read_entry(agent, entry), matcher, own)
