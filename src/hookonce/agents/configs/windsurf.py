"""Windsurf's configuration: no matchers and no timeouts, but an event for each kind of tool."""

from collections import Counter
from typing import NamedTuple

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs.breadth import matches_every_tool
from hookonce.agents.configs.entry import (
    ConfigEntry,
    config_of,
    build_hook,
    lost_gap,
    no_tool_note,
    own_keys,
    resolve_event,
    build_provider_data,
    read_entry,
    unwrap_command,
    warning_gap,
    write_entry,
)
from hookonce.agents.configs.misplaced import misplaced_hook_gaps
from hookonce.agents.configs.point import canonical_event_of
from hookonce.agents.configs.windsurf_fold import EntryKey, fold_lists, layer_names
from hookonce.agents.configs.windsurf_tools import EVENT_PREFIXES, explain_loss, matcher_for_events, events_for_matcher
from hookonce.model import Agent, Gap, Handler, Hook, Object, Wording
from hookonce.texts import dump

_POWERSHELL_KEY = "powershell"  # the key of a command that Windows runs instead, and our word for an entry with no other


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
        hook = _with_own_cwd(agent, original)
        if natives := _resolve_events(agent, index, hook, gaps):
            config_entry = _parse_entry(agent, _render_entry(agent, hook, natives[0], wording))
            plans.append(_EntryPlan(index, hook, natives, _entry_key(agent, natives[0], config_entry)))
            gaps += _unsupported_gaps(agent, index, hook)
    events = _render_events(agent, plans, wording)
    if _count_plans(plans) != Counter((key, frozenset(natives)) for key, natives in fold_lists(_entry_keys(agent, events))):
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
        layers = layer_names([plan.natives for plan in equal_plans])
        layer_plans = [plan._replace(natives=natives) for plan, natives in zip(equal_plans, layers, strict=False)]
        if _count_plans(layer_plans) != _count_plans(equal_plans):
            why = "it cannot be told from another hook that runs the same; together they see all their tools"
            gaps += [warning_gap(agent, plan.number, plan.hook, "matcher", why) for plan in equal_plans]
            gaps += [lost_gap(plan.number, plan.hook, "matcher", why) for plan in equal_plans[len(layers) :]]
        merged_plans += layer_plans
    return merged_plans


def _with_own_cwd(agent: Agent, hook: Hook) -> Hook:
    folder = own_keys(agent, hook).get("working_directory")
    return replace(hook, handler=replace(hook.handler, cwd=folder)) if type(folder) is str else hook


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
        entry[_POWERSHELL_KEY] = wording(replace(hook, handler=replace(hook.handler, command=text)), native) or text
    return entry


def _resolve_events(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> list[str]:
    native, event_gaps = resolve_event(agent, index, hook)
    if native is None or not _can_run(agent, hook):
        handler_gap = lost_gap(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")
        gaps += event_gaps if native is None else [handler_gap]
        return []
    prefix = EVENT_PREFIXES.get(hook.event)
    if prefix is None:
        gaps += event_gaps if hook.matcher is None else [*event_gaps, warning_gap(agent, index, hook, "matcher", no_tool_note(hook))]
        return [native]
    if _is_own_entry(hook) and native.startswith(prefix):
        return [native]
    if matches_every_tool(hook.matcher):
        hook = replace(hook, matcher=None)
    natives = events_for_matcher(prefix, hook.matcher)
    if not natives:
        gaps.append(lost_gap(index, hook, "matcher", f"{agent.title} has no event for these tools"))
        return []
    if (why := explain_loss(hook.matcher)) is not None:
        gaps.append(warning_gap(agent, index, hook, "matcher", why))
    gaps += event_gaps
    return natives


def _can_run(agent: Agent, hook: Hook) -> bool:
    if hook.handler.type in config_of(agent).handlers:
        return True
    config_entry = _parse_entry(agent, own_keys(agent, hook))
    return config_entry is not None and config_entry.handler == hook.handler


def _is_own_entry(hook: Hook) -> bool:
    call = invocation.parse_command(hook.handler.command or "") if hook.matcher is None else None
    return call is not None and call.run is None


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; the same entry under several events is one hook with several tools."""
    events = document.get("hooks")
    entries_by_event: dict[str, list[ConfigEntry]] = {}
    gaps = misplaced_hook_gaps(agent, document)
    for name, entries in events.items() if type(events) is dict else ():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            config_entry = _parse_entry(agent, entry) if type(entry) is dict else None
            if config_entry is None:
                where = f"$.hooks.{name}[{number}]"
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=f"{where} is no hook"))
            else:
                entries_by_event.setdefault(_event_name(agent, name), []).append(config_entry)
    entry_by_key = {_entry_key(agent, native, entry): entry for native, entries in entries_by_event.items() for entry in entries}
    keys = {native: [_entry_key(agent, native, entry) for entry in entries] for native, entries in entries_by_event.items()}
    return [_build_hook(agent, entry_by_key[key], natives) for key, natives in fold_lists(_sort_events(agent, keys))], gaps


def _event_name(agent: Agent, name: str) -> str:
    """The event as the agent spells it; other tools write it without lines between the words."""
    bare = name.replace("_", "").replace("-", "").lower()
    return name if name in agent.events else next((event for event in agent.events if event.replace("_", "") == bare), name)


def _sort_events(agent: Agent, keys: dict[str, list[EntryKey]]) -> dict[str, list[EntryKey]]:
    """Events in the order of our table, so that a file reads the same in whichever order it has them."""
    table_events = [native for native in agent.events if native in keys]
    return {native: keys[native] for native in [*table_events, *(native for native in keys if native not in agent.events)]}


def _entry_keys(agent: Agent, events: Object) -> dict[str, list[EntryKey]]:
    keys_by_event = {native: [_entry_key(agent, native, _parse_entry(agent, entry)) for entry in entries] for native, entries in events.items()}
    return _sort_events(agent, keys_by_event)


def _entry_key(agent: Agent, native: str, entry: ConfigEntry | None) -> EntryKey:
    return EVENT_PREFIXES.get(canonical_event_of(agent, native)) or native, dump(entry)


def _parse_entry(agent: Agent, entry: Object) -> ConfigEntry | None:
    """An entry taken apart; one for Windows alone is of a kind that nobody else has."""
    windows = entry.get(_POWERSHELL_KEY) if type(entry.get(_POWERSHELL_KEY)) is str else None
    if type(entry.get("command")) is not str or not entry["command"]:
        return ConfigEntry(Handler(type=_POWERSHELL_KEY), dict(entry)) if windows else None
    config_entry = read_entry(agent, {key: value for key, value in entry.items() if key not in {"type", _POWERSHELL_KEY}})
    rest = config_entry.rest | {key: entry[key] for key in ("type",) if key in entry}
    if windows is None:
        return config_entry._replace(rest=rest)
    plain, _ = unwrap_command(Handler(type="command", command=windows))
    return config_entry._replace(handler=replace(config_entry.handler, platform={"windows": plain.command or windows}), rest=rest)


def _build_hook(agent: Agent, entry: ConfigEntry, natives: list[str]) -> Hook:
    hook = build_hook(agent, natives[0], entry, None, {})
    if hook.event not in EVENT_PREFIXES:
        return hook
    return replace(hook, matcher=matcher_for_events(natives), provider_data=build_provider_data(agent, entry.rest, {}))
