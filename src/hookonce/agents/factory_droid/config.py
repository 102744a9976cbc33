"""Factory Droid config codec: groups under their event, in a settings file or bare in a hooks file of their own."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._config import groups as _grouped
from hookonce.agents._config.entry import (
    build_provider_data,
    config_of,
    lost_gap,
    misplaced_hook_gaps,
    own_keys,
    placement_of,
    read_entry,
    warning_gap,
)
from hookonce.agents._config.matchers.canonical import explain_mismatch, from_native, to_native
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_DISABLED_KEY, _SHOW_OUTPUT_KEY = "hooksDisabled", "showHookOutput"  # settings that stand among the events
_BARE_KEY = "bare"  # our key for a file that is nothing but events
_FLAT_KEY = "flat"  # and for an entry without a group around it, as plugins may have them


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of either file; what stands among the events goes with the first hook."""
    has_hooks_key = type(document.get("hooks")) is dict
    events = document["hooks"] if has_hooks_key else _events(agent, document)
    groups = {
        native: _wrap_flat_entries(items)
        for native, items in events.items()
        if native not in {_DISABLED_KEY, _SHOW_OUTPUT_KEY}
    }
    hooks, gaps = _grouped.parse(agent, {"hooks": groups})
    gaps += misplaced_hook_gaps(
        agent, document if has_hooks_key else {"hooks": document.get("hooks")}
    )  # else the events stand bare
    if events.get(_DISABLED_KEY) is True:
        note = f"{_DISABLED_KEY} turns these hooks off, and is not carried over"
        gaps.append(
            Gap(where=f"$.{_DISABLED_KEY}", capability="switch", strategy="kept out", effect="prevents", note=note)
        )
    placement: Object = {} if has_hooks_key else {_BARE_KEY: True}
    settings = _read_settings(events)
    first_placement = placement | ({"settings": settings} if settings else {})
    return [
        _add_placement(agent, hook, placement if number else first_placement) for number, hook in enumerate(hooks)
    ], gaps


def _events(agent: Agent, document: Object) -> Object:
    """The events of a bare file: known ones, and others that hold groups; a settings file may hold other lists."""
    return {
        key: value
        for key, value in document.items()
        if key in agent.events
        or key in {_DISABLED_KEY, _SHOW_OUTPUT_KEY}
        or (type(value) is list and any(map(_is_group, value)))
    }


def _is_group(value: Any) -> bool:
    return type(value) is dict and type(value.get("hooks")) is list


def _wrap_flat_entries(items: Any) -> Any:
    if type(items) is not list:
        return items
    return [{"hooks": [item], _FLAT_KEY: True} if _is_flat(item) else item for item in items]


def _is_flat(value: Any) -> bool:
    return type(value) is dict and "hooks" not in value and type(value.get("command")) is str


def _read_settings(value: Any) -> Object:
    """The settings among events, but for the one that turns hooks off: no manifest shall carry that."""
    table = value if type(value) is dict else {}
    return {
        key: table[key]
        for key in (_DISABLED_KEY, _SHOW_OUTPUT_KEY)
        if type(table.get(key)) is bool and not (key == _DISABLED_KEY and table[key])
    }


def _add_placement(agent: Agent, hook: Hook, extra_placement: Object) -> Hook:
    placement = placement_of(agent, hook) | extra_placement
    return replace(hook, provider_data=build_provider_data(agent, own_keys(agent, hook), placement))


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """Groups for a settings file; bare ones only if every hook came from such a file."""
    gaps = [gap for index, hook in hooks for gap in _misfit_gaps(agent, index, hook)]
    lost_paths = {gap.where for gap in gaps if gap.effect == "lost"}
    remaining_hooks = [(index, hook) for index, hook in hooks if f"$.hooks[{index}]" not in lost_paths]
    document, group_gaps = _grouped.render(agent, remaining_hooks, wording)
    events = {native: [_unwrap_flat_group(group) for group in groups] for native, groups in document["hooks"].items()}
    placements = [placement_of(agent, hook) for _, hook in hooks]
    events |= _read_settings(placements[0].get("settings")) if placements else {}
    bare = bool(placements) and all(placement.get(_BARE_KEY) is True for placement in placements)
    return (events if bare else {"hooks": events}), gaps + group_gaps


def _misfit_gaps(agent: Agent, index: int, hook: Hook) -> list[Gap]:
    """What of a hook droid would run or match otherwise than it says."""
    kind, keys = hook.handler.type, own_keys(agent, hook)
    if kind not in config_of(agent).handlers and keys and read_entry(agent, keys).handler != hook.handler:
        return [lost_gap(index, hook, "handler", f"{agent.title} has no handlers of type {kind}")]
    own_matcher = placement_of(agent, hook).get("matcher")
    is_unchanged = type(own_matcher) is str and from_native(agent, own_matcher) == hook.matcher
    if hook.event not in _grouped.TOOL_EVENTS or hook.matcher is None or is_unchanged:
        return []
    parts = hook.matcher if type(hook.matcher) is list else [hook.matcher]
    if not parts:
        return [lost_gap(index, hook, "matcher", "the matcher names no tool at all")]
    ambiguous_names = [name for name in parts if type(name) is str and name not in _round_trip(agent, name)]
    if not ambiguous_names or explain_mismatch(agent, hook.matcher) is not None:
        return []
    return [
        warning_gap(
            agent, index, hook, "matcher", f"{agent.title} takes {' and '.join(ambiguous_names)} for other tools"
        )
    ]


def _round_trip(agent: Agent, name: str) -> list[Json]:
    matcher = from_native(agent, to_native(agent, name) or "")
    return matcher if type(matcher) is list else [matcher]


def _unwrap_flat_group(group: Object) -> Object:
    flat = group.pop(_FLAT_KEY, None) is True
    single_entry: Object | None = (
        group["hooks"][0] if flat and group.keys() == {"hooks"} and len(group["hooks"]) == 1 else None
    )
    return single_entry or group
