"""Droid's configuration: groups under their event, in a settings file or bare in a hooks file of their own."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents.configs import grouped as _grouped
from hookonce.agents.configs.entry import config_of, lost, own_keys, own_place, provider_data, read_entry, warned
from hookonce.agents.configs.matcher import from_native, to_native, vague
from hookonce.agents.configs.misplaced import misplaced
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_OFF, _SHOWN = "hooksDisabled", "showHookOutput"  # settings that stand among the events
_BARE = "bare"  # our key for a file that is nothing but events
_FLAT = "flat"  # and for an entry without a group around it, as plugins may have them


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of either file; what stands among the events goes with the first hook."""
    wrapped = type(document.get("hooks")) is dict
    events = document["hooks"] if wrapped else _events(agent, document)
    groups = {native: _groups(found) for native, found in events.items() if native not in {_OFF, _SHOWN}}
    hooks, gaps = _grouped.parse(agent, {"hooks": groups})
    gaps += misplaced(agent, document if wrapped else {"hooks": document.get("hooks")})  # else the events stand bare
    if events.get(_OFF) is True:
        note = f"{_OFF} turns these hooks off, and is not carried over"
        gaps.append(Gap(where=f"$.{_OFF}", capability="switch", strategy="kept out", effect="prevents", note=note))
    marks: Object = {} if wrapped else {_BARE: True}
    said = _settings(events)
    first = marks | ({"settings": said} if said else {})
    return [_marked(agent, hook, marks if number else first) for number, hook in enumerate(hooks)], gaps


def _events(agent: Agent, document: Object) -> Object:
    """The events of a bare file: known ones, and others that hold groups; a settings file may hold other lists."""
    return {
        key: value
        for key, value in document.items()
        if key in agent.events or key in {_OFF, _SHOWN} or (type(value) is list and any(map(_is_group, value)))
    }


def _is_group(value: Any) -> bool:
    return type(value) is dict and type(value.get("hooks")) is list


def _groups(found: Any) -> Any:
    if type(found) is not list:
        return found
    return [{"hooks": [one], _FLAT: True} if _is_flat(one) else one for one in found]


def _is_flat(value: Any) -> bool:
    return type(value) is dict and "hooks" not in value and type(value.get("command")) is str


def _settings(found: Any) -> Object:
    """The settings among events, but for the one that turns hooks off: no manifest shall carry that."""
    given = found if type(found) is dict else {}
    return {
        key: given[key] for key in (_OFF, _SHOWN) if type(given.get(key)) is bool and not (key == _OFF and given[key])
    }


def _marked(agent: Agent, hook: Hook, marks: Object) -> Hook:
    place = own_place(agent, hook) | marks
    return replace(hook, provider_data=provider_data(agent, own_keys(agent, hook), place))


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """Groups for a settings file; bare ones only if every hook came from such a file."""
    gaps = [gap for index, hook in hooks for gap in _misfit(agent, index, hook)]
    gone = {gap.where for gap in gaps if gap.effect == "lost"}
    kept = [(index, hook) for index, hook in hooks if f"$.hooks[{index}]" not in gone]
    made, unsaid = _grouped.render(agent, kept, wording)
    events = {native: [_ungrouped(group) for group in groups] for native, groups in made["hooks"].items()}
    places = [own_place(agent, hook) for _, hook in hooks]
    events |= _settings(places[0].get("settings")) if places else {}
    bare = bool(places) and all(place.get(_BARE) is True for place in places)
    return (events if bare else {"hooks": events}), gaps + unsaid


def _misfit(agent: Agent, index: int, hook: Hook) -> list[Gap]:
    """What of a hook droid would run or match otherwise than it says."""
    kind, keys = hook.handler.type, own_keys(agent, hook)
    if kind not in config_of(agent).handlers and keys and read_entry(agent, keys).handler != hook.handler:
        return [lost(index, hook, "handler", f"{agent.title} has no handlers of type {kind}")]
    told = own_place(agent, hook).get("matcher")
    stands = type(told) is str and from_native(agent, told) == hook.matcher
    if hook.event not in _grouped.TOOL_EVENTS or hook.matcher is None or stands:
        return []
    parts = hook.matcher if type(hook.matcher) is list else [hook.matcher]
    if not parts:
        return [lost(index, hook, "matcher", "the matcher names no tool at all")]
    taken = [name for name in parts if type(name) is str and name not in _again(agent, name)]
    if not taken or vague(agent, hook.matcher) is not None:
        return []
    return [warned(agent, index, hook, "matcher", f"{agent.title} takes {' and '.join(taken)} for other tools")]


def _again(agent: Agent, name: str) -> list[Json]:
    read = from_native(agent, to_native(agent, name) or "")
    return read if type(read) is list else [read]


def _ungrouped(group: Object) -> Object:
    flat = group.pop(_FLAT, None) is True
    lone: Object | None = group["hooks"][0] if flat and group.keys() == {"hooks"} and len(group["hooks"]) == 1 else None
    return lone or group
