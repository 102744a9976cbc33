"""Factory Droid config codec: groups under their event, in a settings file or bare in a hooks file of their own."""

from typing import Any

from hookonce.agents._config import groups
from hookonce.agents._config.entry import read_entry
from hookonce.agents._config.gaps import handler_gap, lost_gap, misplaced_hook_gaps, warning_gap
from hookonce.agents._config.matchers.alternation import ALTERNATION, explain_mismatch, from_native, to_native
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, reusable_matcher
from hookonce.agents._config.matchers.parts import parts_of
from hookonce.agents._config.provider_data import add_placement, own_keys, placement_of, without_keys
from hookonce.base.jsontext import as_dict
from hookonce.model import Agent, Gap, Hook, Object, Wording

_DISABLED_KEY, _SHOW_OUTPUT_KEY = "hooksDisabled", "showHookOutput"  # settings that stand among the events
_BARE_KEY = "bare"  # our key for a file that is nothing but events
_FLAT_KEY = "flat"  # and for an entry without a group around it, as plugins may have them


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of either file; what stands among the events goes with the first hook."""
    has_hooks_key = type(document.get("hooks")) is dict
    events = document["hooks"] if has_hooks_key else _events(agent, document)
    table = without_keys(events, _DISABLED_KEY, _SHOW_OUTPUT_KEY)
    hooks, gaps = groups.parse(agent, {"hooks": {native: _wrap_flat_entries(table[native]) for native in table}})
    # In a file of nothing but events these stand bare.
    gaps += misplaced_hook_gaps(agent, document if has_hooks_key else {"hooks": document.get("hooks")})
    if events.get(_DISABLED_KEY) is True:
        where, note = f"$.{_DISABLED_KEY}", f"{_DISABLED_KEY} turns these hooks off, and is not carried over"
        gaps.append(Gap(where=where, capability="switch", strategy="kept out", effect="prevents", note=note))
    placement: Object = {} if has_hooks_key else {_BARE_KEY: True}
    settings = _read_settings(events)
    placements = [placement | ({"settings": settings} if settings else {}), *[placement] * len(hooks)]
    return [add_placement(agent, *pair) for pair in zip(hooks, placements, strict=False)], gaps


def _events(agent: Agent, document: Object) -> Object:
    """The events of a bare file: known ones, and others that hold groups; a settings file may hold other lists."""
    names = {*agent.events, _DISABLED_KEY, _SHOW_OUTPUT_KEY}
    lists = {key: items for key, items in document.items() if type(items) is list}
    group_keys = {
        key for key, items in lists.items() if any(type(as_dict(item).get("hooks")) is list for item in items)
    }
    return {key: value for key, value in document.items() if key in names | group_keys}


def _wrap_flat_entries(items: Any) -> Any:
    """A list of groups in which an entry without a group has one, with our mark on it."""
    if type(items) is not list:
        return items
    flat = [item for item in items if type(as_dict(item).get("command")) is str and "hooks" not in item]
    return [{"hooks": [item], _FLAT_KEY: True} if item in flat else item for item in items]


def _read_settings(value: Any) -> Object:
    """The settings among events, but for the one that turns hooks off: no manifest shall carry that."""
    table = as_dict(value)
    settings = {key: table[key] for key in (_DISABLED_KEY, _SHOW_OUTPUT_KEY) if type(table.get(key)) is bool}
    return without_keys(settings, _DISABLED_KEY) if settings.get(_DISABLED_KEY) else settings


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """Groups for a settings file; bare ones only if every hook came from such a file."""
    gaps = [gap for index, hook in hooks for gap in _misfit_gaps(agent, index, hook)]
    lost_paths = {gap.where for gap in gaps if gap.effect == "lost"}
    remaining_hooks = [(index, hook) for index, hook in hooks if f"$.hooks[{index}]" not in lost_paths]
    document, group_gaps = groups.render(agent, remaining_hooks, wording)
    events = {native: [_unwrap_flat_group(group) for group in items] for native, items in document["hooks"].items()}
    placements = [placement_of(agent, hook) for _, hook in hooks]
    events |= _read_settings(placements[0].get("settings")) if placements else {}
    bare = bool(placements) and all(placement.get(_BARE_KEY) is True for placement in placements)
    return (events if bare else {"hooks": events}), gaps + group_gaps


def _misfit_gaps(agent: Agent, index: int, hook: Hook) -> list[Gap]:
    """What of a hook droid would run or match otherwise than it says."""
    kind, keys = hook.handler.type, own_keys(agent, hook)
    if kind not in agent.config.handlers and keys and read_entry(agent, keys).handler != hook.handler:
        return [handler_gap(agent, index, hook)]
    is_kept = reusable_matcher(ALTERNATION, agent, hook) is not None
    if hook.event not in TOOL_EVENTS or hook.matcher is None or is_kept:
        return []
    if hook.matcher == []:
        return [lost_gap(index, hook, "matcher", "the matcher names no tool at all")]
    names = [name for name in parts_of(hook.matcher) if type(name) is str]
    ambiguous = [name for name in names if name not in parts_of(from_native(agent, to_native(agent, name) or ""))]
    if not ambiguous or explain_mismatch(agent, hook.matcher) is not None:
        return []
    why = f"{agent.title} takes {' and '.join(ambiguous)} for other tools"
    return [warning_gap(agent, index, hook, "matcher", why)]


def _unwrap_flat_group(group: Object) -> Object:
    is_flat = group.pop(_FLAT_KEY, None) is True and group.keys() == {"hooks"} and len(group["hooks"]) == 1
    entry: Object = group["hooks"][0] if is_flat else group
    return entry or group
