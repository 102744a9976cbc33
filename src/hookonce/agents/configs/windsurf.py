"""Windsurf's configuration: no matchers and no timeouts, but an event for each kind of tool."""

from collections import Counter
from typing import NamedTuple

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs.breadth import is_everything
from hookonce.agents.configs.entry import (
    Entry,
    config_of,
    hook_of,
    lost,
    no_tool,
    own_keys,
    placed,
    provider_data,
    read_entry,
    unwrapped,
    warned,
    write_entry,
)
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.point import kind_of
from hookonce.agents.configs.windsurf_fold import Key, folded, layered
from hookonce.agents.configs.windsurf_tools import MOMENTS, loss, matcher_of, needed
from hookonce.model import Agent, Gap, Handler, Hook, Object, Wording
from hookonce.texts import dump

_WINDOWS = "powershell"  # the key of a command that Windows runs instead, and our word for an entry with no other


class _Plan(NamedTuple):
    """A hook and the events that it shall stand under."""

    number: int
    hook: Hook
    natives: list[str]
    key: Key


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """One entry for each event that a hook's matcher needs; what a hook said beyond that is a gap."""
    gaps: list[Gap] = []
    plans: list[_Plan] = []
    for index, given in hooks:
        hook = _homed(agent, given)
        if natives := _natives(agent, index, hook, gaps):
            read = _read(agent, _entry(agent, hook, natives[0], wording))
            plans.append(_Plan(index, hook, natives, _key(agent, natives[0], read)))
            gaps += _unsaid(agent, index, hook)
    events = _written(agent, plans, wording)
    if _standing(plans) != Counter((key, frozenset(natives)) for key, natives in folded(_keys(agent, events))):
        plans = _apart(agent, plans, gaps)
        events = _written(agent, plans, wording)
    return {"hooks": events}, gaps


def _written(agent: Agent, plans: list[_Plan], wording: Wording) -> Object:
    events: Object = {}
    for plan in plans:
        for native in plan.natives:
            events.setdefault(native, []).append(_entry(agent, plan.hook, native, wording))
    return events


def _standing(plans: list[_Plan]) -> Counter[tuple[Key, frozenset[str]]]:
    return Counter((plan.key, frozenset(plan.natives)) for plan in plans)


def _apart(agent: Agent, plans: list[_Plan], gaps: list[Gap]) -> list[_Plan]:
    """The same with hooks that run the same thing put together: in the file nothing tells them apart."""
    made: list[_Plan] = []
    for key in dict.fromkeys(plan.key for plan in plans):
        alike = [plan for plan in plans if plan.key == key]
        layers = layered([plan.natives for plan in alike])
        new = [plan._replace(natives=natives) for plan, natives in zip(alike, layers, strict=False)]
        if _standing(new) != _standing(alike):
            why = "it cannot be told from another hook that runs the same; together they see all their tools"
            gaps += [warned(agent, plan.number, plan.hook, "matcher", why) for plan in alike]
            gaps += [lost(plan.number, plan.hook, "matcher", why) for plan in alike[len(layers) :]]
        made += new
    return made


def _homed(agent: Agent, hook: Hook) -> Hook:
    """The hook with the folder that its author wrote for this agent alone, if there is one."""
    folder = own_keys(agent, hook).get("working_directory")
    return replace(hook, handler=replace(hook.handler, cwd=folder)) if type(folder) is str else hook


def _unsaid(agent: Agent, index: int, hook: Hook) -> list[Gap]:
    handler, told = hook.handler, []
    if handler.timeout is not None:
        told.append(("timeout", f"{agent.title} has no timeouts"))
    if set(handler.platform) - {"windows"}:
        told.append(("platform", "only Windows can have a command of its own"))
    if (handler.cwd or "").startswith("~"):
        told.append(("cwd", "~ does not stand for the home there"))
    return [warned(agent, index, hook, capability, why) for capability, why in told]


def _entry(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    entry = write_entry(agent, hook, native, wording)
    if hook.handler.type != "command":
        return entry
    entry.pop(_WINDOWS, None)  # what runs is said by the handler, never by data for one agent
    if (text := hook.handler.platform.get("windows")) is not None:
        entry[_WINDOWS] = wording(replace(hook, handler=replace(hook.handler, command=text)), native) or text
    return entry


def _natives(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> list[str]:
    native, told = placed(agent, index, hook)
    if native is None or not _runs(agent, hook):
        none = lost(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")
        gaps += told if native is None else [none]
        return []
    moment = MOMENTS.get(hook.event)
    if moment is None:
        gaps += told if hook.matcher is None else [*told, warned(agent, index, hook, "matcher", no_tool(hook))]
        return [native]
    if _is_door(hook) and native.startswith(moment):
        return [native]
    if is_everything(hook.matcher):
        hook = replace(hook, matcher=None)
    natives = needed(moment, hook.matcher)
    if not natives:
        gaps.append(lost(index, hook, "matcher", f"{agent.title} has no event for these tools"))
        return []
    if (why := loss(hook.matcher)) is not None:
        gaps.append(warned(agent, index, hook, "matcher", why))
    gaps += told
    return natives


def _runs(agent: Agent, hook: Hook) -> bool:
    """Whether the handler is one of the agent's, or came along as an entry of the agent's own."""
    if hook.handler.type in config_of(agent).handlers:
        return True
    read = _read(agent, own_keys(agent, hook))
    return read is not None and read.handler == hook.handler


def _is_door(hook: Hook) -> bool:
    """Whether a hook is an entry of our own, which is made for one event."""
    call = invocation.read(hook.handler.command or "") if hook.matcher is None else None
    return call is not None and call.run is None


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; the same entry under several events is one hook with several tools."""
    events = document.get("hooks")
    read: dict[str, list[Entry]] = {}
    gaps = misplaced(agent, document)
    for name, entries in events.items() if type(events) is dict else ():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            found = _read(agent, entry) if type(entry) is dict else None
            if found is None:
                where = f"$.hooks.{name}[{number}]"
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=f"{where} is no hook"))
            else:
                read.setdefault(_event(agent, name), []).append(found)
    entry_of = {_key(agent, native, entry): entry for native, entries in read.items() for entry in entries}
    keys = {native: [_key(agent, native, entry) for entry in entries] for native, entries in read.items()}
    return [_hook(agent, entry_of[key], natives) for key, natives in folded(_sorted(agent, keys))], gaps


def _event(agent: Agent, name: str) -> str:
    """The event as the agent spells it; other tools write it without lines between the words."""
    bare = name.replace("_", "").replace("-", "").lower()
    return name if name in agent.events else next((one for one in agent.events if one.replace("_", "") == bare), name)


def _sorted(agent: Agent, keys: dict[str, list[Key]]) -> dict[str, list[Key]]:
    """Events in the order of our table, so that a file reads the same in whichever order it has them."""
    known = [native for native in agent.events if native in keys]
    return {native: keys[native] for native in [*known, *(native for native in keys if native not in agent.events)]}


def _keys(agent: Agent, events: Object) -> dict[str, list[Key]]:
    read = {native: [_key(agent, native, _read(agent, entry)) for entry in found] for native, found in events.items()}
    return _sorted(agent, read)


def _key(agent: Agent, native: str, entry: Entry | None) -> Key:
    return MOMENTS.get(kind_of(agent, native)) or native, dump(entry)


def _read(agent: Agent, entry: Object) -> Entry | None:
    """An entry taken apart; one for Windows alone is of a kind that nobody else has."""
    windows = entry.get(_WINDOWS) if type(entry.get(_WINDOWS)) is str else None
    if type(entry.get("command")) is not str or not entry["command"]:
        return Entry(Handler(type=_WINDOWS), dict(entry)) if windows else None
    read = read_entry(agent, {key: value for key, value in entry.items() if key not in {"type", _WINDOWS}})
    rest = read.rest | {key: entry[key] for key in ("type",) if key in entry}
    if windows is None:
        return read._replace(rest=rest)
    plain, _ = unwrapped(Handler(type="command", command=windows))
    return read._replace(handler=replace(read.handler, platform={"windows": plain.command or windows}), rest=rest)


def _hook(agent: Agent, entry: Entry, natives: list[str]) -> Hook:
    made = hook_of(agent, natives[0], entry, None, {})
    if made.event not in MOMENTS:
        return made
    return replace(made, matcher=matcher_of(natives), provider_data=provider_data(agent, entry.rest, {}))
