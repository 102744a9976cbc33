"""Windsurf config codec: no matchers and no timeouts, but an event for each kind of tool.

A hook with several tools is one entry under several events, which reading folds back into one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from hookonce.agents._config.entry import (
    ConfigEntry,
    build_hook,
    command_wording,
    iterate_entries,
    read_entry,
    unwrap_command,
    write_entry,
)
from hookonce.agents._config.events import blocking_gaps, resolve_event
from hookonce.agents._config.gaps import (
    handler_gap,
    lost_gap,
    misplaced_hook_gaps,
    no_tool_gap,
    skipped_gap,
    warning_gap,
)
from hookonce.agents._config.matchers.parts import ANY_MCP_PART, join_parts, matches_every_tool, parts_of, pattern_of
from hookonce.agents._config.points import canonical_event_of
from hookonce.agents._config.provider_data import own_keys, with_provider_data, without_keys
from hookonce.base import invocation
from hookonce.base.jsontext import dump
from hookonce.base.regex import compile_re2
from hookonce.model import Agent, Gap, Handler, Hook, Json, Object, Wording

EntryKey = tuple[str, bytes]  # the moment of an entry and what it says; equal keys cannot be told apart


# what follows pre_ or post_ in an event's name → the canonical matcher that it stands for
EVENT_MATCHERS: dict[str, Json] = {
    "read_code": "file_read",
    "write_code": ["file_write", "file_edit"],
    "run_command": "shell",
    "mcp_tool_use": ANY_MCP_PART,
}
EVENT_PREFIXES = {"before_tool_execute": "pre_", "after_tool_execute": "post_"}


def _is_about_kind(kind: str, matcher: Json) -> bool:
    if type(matcher) is list:
        return any(_is_about_kind(kind, part) for part in matcher)
    if type(matcher) is dict and "mcp" in matcher:
        return kind == "mcp_tool_use"
    tools = parts_of(EVENT_MATCHERS[kind])
    if (pattern := pattern_of(matcher)) is None:
        return matcher is None or matcher in tools
    try:
        search = compile_re2(pattern).search
    except ValueError:  # some other agent's kind of pattern, which nobody can judge here
        return True
    return any(search("mcp:x/y" if tool == ANY_MCP_PART else tool) is not None for tool in tools)


def explain_loss(matcher: Json) -> str | None:
    """What a matcher says beyond the choice of events."""
    parts = parts_of(matcher)
    if any(type(part) is dict and "mcp" in part for part in parts):
        return "every tool of every MCP server is meant there, not this one"
    if any(pattern_of(part) is not None and part != ANY_MCP_PART for part in parts):
        return "a pattern becomes every tool of the kinds that it fits"
    if ("file_write" in parts) != ("file_edit" in parts):
        return "writing and editing are one event there"
    names = [part for part in parts if type(part) is str]
    unknown = [name for name in names if not any(_is_about_kind(kind, name) for kind in EVENT_MATCHERS)]
    return f"there is no event for {', '.join(unknown)}" if unknown else None


_POWERSHELL_KEY = "powershell"  # key of a command that Windows runs instead; our handler type of an entry with no other


class _EntryPlan(NamedTuple):
    """A hook and the events that it shall stand under."""

    number: int
    hook: Hook
    natives: list[str]
    key: EntryKey


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """One entry for each event that a hook's matcher needs; what a hook said beyond that is a gap."""
    gaps: list[Gap] = []
    plans: list[_EntryPlan] = []
    for index, original in hooks:
        folder = own_keys(agent, original).get("working_directory")
        handler = replace(original.handler, cwd=folder) if type(folder) is str else original.handler
        hook = replace(original, handler=handler)
        if natives := _resolve_events(agent, index, hook, gaps):
            config_entry = _parse_entry(agent, _render_entry(agent, hook, natives[0], wording))
            plans.append(_EntryPlan(index, hook, natives, _entry_key(agent, natives[0], config_entry)))
            gaps += _unsupported_gaps(agent, index, hook)
    events = _render_events(agent, plans, wording)
    folds = _fold_events(agent, {name: [_parse_entry(agent, entry) for entry in events[name]] for name in events})
    if _count_plans(plans) != Counter((key, frozenset(natives)) for key, natives in folds):
        plans = _merge_equal_plans(agent, plans, gaps)
        events = _render_events(agent, plans, wording)
    return {"hooks": events}, gaps


def _render_events(agent: Agent, plans: list[_EntryPlan], wording: Wording) -> Object:
    events: Object = {}
    for plan in plans:
        for native in plan.natives:
            events.setdefault(native, []).append(_render_entry(agent, plan.hook, native, wording))
    return events


def _count_plans(plans: list[_EntryPlan]) -> Counter[tuple[EntryKey, frozenset[str]]]:
    return Counter((plan.key, frozenset(plan.natives)) for plan in plans)


def _merge_equal_plans(agent: Agent, plans: list[_EntryPlan], gaps: list[Gap]) -> list[_EntryPlan]:
    """The same with hooks that run the same thing put together: in the file nothing tells them apart."""
    merged_plans: list[_EntryPlan] = []
    for key in dict.fromkeys(plan.key for plan in plans):
        equal_plans = [plan for plan in plans if plan.key == key]
        # As folding would find them: first each event once, then the second ones.
        counts = Counter(native for plan in equal_plans for native in plan.natives)
        layers = [[name for name in counts if counts[name] > depth] for depth in range(max(counts.values(), default=0))]
        layer_plans = [plan._replace(natives=natives) for plan, natives in zip(equal_plans, layers, strict=False)]
        if _count_plans(layer_plans) != _count_plans(equal_plans):
            why = "it cannot be told from another hook that runs the same; together they see all their tools"
            gaps += [warning_gap(agent, plan.number, plan.hook, "matcher", why) for plan in equal_plans]
            gaps += [lost_gap(plan.number, plan.hook, "matcher", why) for plan in equal_plans[len(layers) :]]
        merged_plans += layer_plans
    return merged_plans


def _unsupported_gaps(agent: Agent, index: int, hook: Hook) -> list[Gap]:
    handler, losses = hook.handler, []
    if handler.timeout is not None:
        losses.append(("timeout", f"{agent.title} has no timeouts"))
    if set(handler.platform) - {"windows"}:
        losses.append(("platform", "only Windows can have a command of its own"))
    if (handler.cwd or "").startswith("~"):
        losses.append(("cwd", "~ does not stand for the home there"))
    return [warning_gap(agent, index, hook, capability, why) for capability, why in losses]


def _render_entry(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    entry = write_entry(agent, hook, native, wording)
    if hook.handler.type != "command":
        return entry
    entry.pop(_POWERSHELL_KEY, None)  # what runs is said by the handler, never by data for one agent
    if (text := hook.handler.platform.get("windows")) is not None:
        entry[_POWERSHELL_KEY] = command_wording(hook, native, wording, text)
    return entry


def _resolve_events(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> list[str]:
    native, event_gaps = resolve_event(agent, index, hook)
    if native is None or not _can_run(agent, hook):
        gaps += event_gaps if native is None else [handler_gap(agent, index, hook)]
        return []
    prefix = EVENT_PREFIXES.get(hook.event)
    if prefix is None:
        gaps += event_gaps if hook.matcher is None else [*event_gaps, no_tool_gap(agent, index, hook)]
        return [native]
    call = invocation.parse_command(hook.handler.command or "") if hook.matcher is None else None
    if call is not None and call.run is None and native.startswith(prefix):  # an entry of our own, for one event
        return [native]
    if matches_every_tool(hook.matcher):
        hook = replace(hook, matcher=None)
    natives = [prefix + kind for kind in EVENT_MATCHERS if _is_about_kind(kind, hook.matcher)]
    if not natives:
        gaps.append(lost_gap(index, hook, "matcher", f"{agent.title} has no event for these tools"))
        return []
    if (why := explain_loss(hook.matcher)) is not None:
        gaps.append(warning_gap(agent, index, hook, "matcher", why))
    gaps += blocking_gaps(agent, index, hook, *natives)
    return natives


def _can_run(agent: Agent, hook: Hook) -> bool:
    if hook.handler.type in agent.config.handlers:
        return True
    config_entry = _parse_entry(agent, own_keys(agent, hook))
    return config_entry is not None and config_entry.handler == hook.handler


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; the same entry under several events is one hook with several tools."""
    events: dict[str, list[ConfigEntry]] = {}
    gaps = misplaced_hook_gaps(agent, document)
    for name, where, entry in iterate_entries(document.get("hooks")):
        config_entry = _parse_entry(agent, entry) if type(entry) is dict else None
        if config_entry is None:
            gaps.append(skipped_gap(where, "is no hook"))
        else:
            # Other tools write the events without lines between the words.
            bare = name.replace("_", "").replace("-", "").lower()
            similar = (event for event in agent.events if event.replace("_", "") == bare)
            native = name if name in agent.events else next(similar, name)
            events.setdefault(native, []).append(config_entry)
    entry_by_key = {_entry_key(agent, native, entry): entry for native in events for entry in events[native]}
    return [_build_hook(agent, entry_by_key[key], natives) for key, natives in _fold_events(agent, events)], gaps


def _fold_events(agent: Agent, events: Mapping[str, Sequence[ConfigEntry | None]]) -> list[tuple[EntryKey, list[str]]]:
    """The keys of all entries with their events, in the order of our table; equal keys at the heads of lists fold."""
    lists = {native: [_entry_key(agent, native, entry) for entry in entries] for native, entries in events.items()}
    rest = {native: lists[native] for native in agent.events if native in lists} | lists
    folds: list[tuple[EntryKey, list[str]]] = []
    while heads := {name: keys[0] for name, keys in rest.items() if keys}:
        # A head that is not still to come elsewhere is taken from all of its lists at once.
        ready = (key for key in heads.values() if all(key not in keys or keys[0] == key for keys in rest.values()))
        key = next(ready, next(iter(heads.values())))
        names = [name for name, head in heads.items() if head == key]
        for name in names:
            del rest[name][0]
        folds.append((key, names))
    return folds


def _entry_key(agent: Agent, native: str, entry: ConfigEntry | None) -> EntryKey:
    return EVENT_PREFIXES.get(canonical_event_of(agent, native)) or native, dump(entry)


def _parse_entry(agent: Agent, entry: Object) -> ConfigEntry | None:
    """An entry taken apart; one for Windows alone is of a kind that nobody else has."""
    windows = entry.get(_POWERSHELL_KEY) if type(entry.get(_POWERSHELL_KEY)) is str else None
    if type(entry.get("command")) is not str or not entry["command"]:
        return ConfigEntry(Handler(type=_POWERSHELL_KEY), dict(entry)) if windows else None
    config_entry = read_entry(agent, without_keys(entry, "type", _POWERSHELL_KEY))
    extra_keys = config_entry.extra_keys | {key: entry[key] for key in ("type",) if key in entry}
    handler = config_entry.handler
    if windows is not None:
        plain, _ = unwrap_command(Handler(type="command", command=windows))
        handler = replace(handler, platform={"windows": plain.command or windows})
    return config_entry._replace(handler=handler, extra_keys=extra_keys)


def _build_hook(agent: Agent, entry: ConfigEntry, natives: list[str]) -> Hook:
    hook = build_hook(agent, natives[0], entry, None, {})
    if hook.event not in EVENT_PREFIXES:
        return hook
    parts = [part for native in natives for part in parts_of(EVENT_MATCHERS[native.partition("_")[2]])]
    matcher = None if len(natives) == len(EVENT_MATCHERS) else join_parts(parts)
    return with_provider_data(agent, replace(hook, matcher=matcher), entry.extra_keys, {})
