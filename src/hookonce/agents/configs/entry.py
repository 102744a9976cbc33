"""One hook as an entry of an agent's configuration: type, command, timeout, and what else the agent knows."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs.point import effect, kind_of, native_of, natives, point_of
from hookonce.errors import UnknownName
from hookonce.invocation import CANONICAL
from hookonce.model import Agent, Config, Gap, Handler, HandlerType, Hook, Json, Object, Wording

PLACE = "hookonce"  # our own key in provider_data: where and how an entry stood
# canonical field of a command handler → native key of the agents that follow Claude Code
COMMAND = {"command": "command", "timeout": "timeout", "background": "async", "status_message": "statusMessage"}

_TYPES: dict[str, tuple[type, ...]] = {
    "timeout": (int, float),
    "background": (bool,),
    "platform": (dict,),
    "env": (dict,),
    "headers": (dict,),
    "allowed_env": (list,),
}
_LONGEST = 10**9  # seconds, the most that a manifest may say
_COUNTABLE = 2**53  # where whole numbers end for most readers of JSON


def config_of(agent: Agent) -> Config:
    """The agent's configuration, or a clear sentence."""
    if agent.config is None:
        raise UnknownName(f"hooks of {agent.title} cannot be converted yet")
    return agent.config


def write_entry(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    """The native entry of a hook's handler, with what the agent alone knows."""
    config = config_of(agent)
    if hook.handler.type not in config.handlers:  # a kind that only this agent knows came along whole
        return own_keys(agent, hook)
    handler = _worded(hook, native, wording)
    keys = config.handlers[handler.type]
    entry: Object = {} if handler.type == "command" and "type" not in keys else {keys.get("type", "type"): handler.type}
    for field, key in keys.items():
        value = getattr(handler, field, None)
        if field != "type" and value not in (None, {}, [], False):
            entry[key] = max(_scaled(value, config.units), config.least) if field == "timeout" else value
    if hook.on_failure == "closed" and config.closed is not None:
        entry[config.closed[0]] = config.closed[1]
    return entry | {
        key: value
        for key, value in own_keys(agent, hook).items()
        if key not in entry and not _says(config, keys, key, value)
    }


def _says(config: Config, keys: Mapping[str, str], key: str, value: Any) -> bool:
    """Whether a key from outside would say what the manifest itself has a field for, and has left empty."""
    field = next((field for field, native in keys.items() if native == key and field != "cwd"), None)
    return field is not None and _fits(field, value, config.units)


def _worded(hook: Hook, native: str, wording: Wording) -> Handler:
    """The handler with every command as it shall stand in the configuration."""
    handler = hook.handler
    if handler.type != "command":
        return handler
    platform = {
        name: wording(replace(hook, handler=replace(handler, command=text)), native) or text
        for name, text in handler.platform.items()
    }
    return replace(handler, command=wording(hook, native), platform=platform)


def own_keys(agent: Agent, hook: Hook) -> Object:
    """The keys of an entry that only this agent knows."""
    return {key: value for key, value in hook.provider_data.get(agent.name, {}).items() if key != PLACE}


def own_place(agent: Agent, hook: Hook) -> Object:
    """How a hook stood in this agent's configuration; anything but an object there is not ours to believe."""
    found = hook.provider_data.get(agent.name, {}).get(PLACE)
    return found if type(found) is dict else {}


def provider_data(agent: Agent, keys: Object, place: Object) -> dict[str, Object]:
    """Both of them, as a hook carries them through manifests and other agents."""
    data = keys | ({PLACE: place} if place else {})
    return {agent.name: data} if data else {}


def _scaled(value: Any, units: int) -> int | float:
    scaled = min(value * units, _COUNTABLE)
    return int(scaled) if float(scaled).is_integer() else float(scaled)


class Entry(NamedTuple):
    """A native entry, read: the handler, the keys without a canonical place, whether it fails closed, its dialect."""

    handler: Handler
    rest: Object
    closed: bool = False
    dialect: str | None = None


def read_entry(agent: Agent, entry: Object) -> Entry:
    """An entry taken apart; a wrapper of ours is taken off the command that it runs."""
    config = config_of(agent)
    kind = entry.get("type", "command")
    keys = config.handlers.get(kind) if type(kind) is str else None
    if keys is None:
        # A kind that manifests know too would lose what it says there: it keeps the agent's name before it.
        known = f"{agent.name}:{kind}" if kind in get_args(HandlerType) else str(kind)
        return Entry(Handler(type=known), dict(entry))
    back = {key: field for field, key in keys.items()}
    fields: dict[str, Any] = {}
    rest: Object = {}
    for key, value in entry.items():
        field = back.get(key)
        if field is None or not _fits(field, value, config.units):
            rest[key] = value
        elif field != "type":
            fields[field] = _seconds(value, config) if field == "timeout" else value
    rest.pop("type", None)
    switch, on = config.closed or ("", None)
    closed = switch in rest and rest[switch] == on
    if closed:
        del rest[switch]
    handler, dialect = unwrapped(Handler(type=str(kind), **fields))
    return Entry(handler, rest, closed, dialect)


def unwrapped(handler: Handler) -> tuple[Handler, str | None]:
    """The handler without our wrapper, and the dialect that its script speaks."""
    call = invocation.read(handler.command or "")
    if call is None or call.run is None:
        return handler, None
    calls = {name: invocation.read(text) for name, text in handler.platform.items()}
    platform = {name: (calls[name] and calls[name].run) or text for name, text in handler.platform.items()}  # type: ignore[union-attr]
    timeout = call.timeout if handler.timeout is None else handler.timeout
    whole = None if timeout is None else _scaled(timeout, 1)
    plain = replace(handler, command=call.run, platform=platform, timeout=whole)
    return plain, call.dialect or CANONICAL


def hook_of(agent: Agent, native: str, entry: Entry, matcher: Json, own: Object) -> Hook:
    """The hook of an entry at an event; `own` is how it stood there."""
    kind = kind_of(agent, native)
    known = point_of(agent, native)
    # Where nobody is put, only who was there before may stay.
    named = {} if native == native_of(agent, kind) and known.install != "never" else {"event": native}
    blocking = bool(known.can & {"prevent", "retry"}) and not entry.handler.background
    closed = config_of(agent).closed if entry.closed and not blocking else None  # nothing there that could be closed
    rest = entry.rest if closed is None else entry.rest | dict([closed])
    return Hook(
        event=kind,
        matcher=matcher,
        handler=entry.handler,
        blocking=blocking,
        on_failure="closed" if entry.closed and blocking else None,
        dialect=entry.dialect,
        provider_data=provider_data(agent, rest, named | own),
    )


def _fits(field: str, value: Any, units: int) -> bool:
    """Whether a value can be held by a canonical field; empty ones say nothing there and stay where they were."""
    if type(value) not in _TYPES.get(field, (str,)) or value in (0, {}, [], "", False):
        return False
    if field == "timeout":
        return bool(0 < value <= _LONGEST * units)
    held = value.values() if type(value) is dict else value if type(value) is list else ()
    return all(type(one) is str for one in held)


def _seconds(value: float, config: Config) -> int | float:
    seconds = value / (config.units if value >= config.least else 1)
    return int(seconds) if seconds.is_integer() else seconds


def _own_event(agent: Agent, hook: Hook) -> str | None:
    """The agent's event that a hook came from, if it still is one of that kind."""
    told = own_place(agent, hook).get("event")
    return told if type(told) is str and kind_of(agent, told) == hook.event else None


def called(index: int, hook: Hook) -> str:
    """What a hook is called: its name, else its place in the manifest."""
    return hook.name or f"Hook {index + 1}"


def warned(agent: Agent, index: int, hook: Hook, capability: str, why: str) -> Gap:
    """A gap for something about a hook that the agent's configuration cannot say."""
    native = _own_event(agent, hook) or native_of(agent, hook.event) or ""
    return Gap(
        where=f"$.hooks[{index}].{capability}",
        capability=capability,
        strategy="warn",
        effect=effect(hook, point_of(agent, native)),
        note=f"{called(index, hook)}: {why}",
    )


def lost(index: int, hook: Hook, capability: str, why: str) -> Gap:
    """A gap for a hook that has no place at all."""
    note = f"{called(index, hook)}: {why}"
    return Gap(where=f"$.hooks[{index}]", capability=capability, strategy="exclude", effect="lost", note=note)


def no_tool(hook: Hook) -> str:
    """Why the matcher of a hook says nothing."""
    return f"{hook.event} is about no tool; the matcher says nothing there"


def _is_own_kind(agent: Agent, hook: Hook) -> bool:
    """Whether a hook is of a kind that the agent alone knows; a manifest cannot name such a kind."""
    return hook.handler.type not in get_args(HandlerType) and bool(own_keys(agent, hook))


def placed(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    """The native event of a hook, and what becomes of its power there."""
    where, who = f"$.hooks[{index}]", called(index, hook)
    native = _own_event(agent, hook) or native_of(agent, hook.event)
    if native is None:
        return None, [lost(index, hook, "event", f"{agent.title} has no event for {hook.event}")]
    if hook.handler.type not in config_of(agent).handlers and not _is_own_kind(agent, hook):
        return None, [lost(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    known = point_of(agent, native)
    if known.install == "never" and _own_event(agent, hook) is None and not _is_part(agent, native):
        return None, [lost(index, hook, "event", f"{native} of {agent.title} {known.why}")]
    could = bool(known.can & {"prevent", "retry"})
    if hook.blocking == (could and not hook.handler.background):
        return native, []
    fate = "observes"
    if hook.blocking and could:
        told = "it runs in the background, where nobody waits for its refusal"
    elif hook.blocking:
        told = f"{native} of {agent.title} can only be observed; nothing is prevented there"
        fate = effect(hook, known)
    else:
        told = f"{agent.title} lets any hook on {native} refuse; the manifest says that this one only looks on"
        fate = "prevents"
    return native, [Gap(where=where, capability="blocking", strategy="warn", effect=fate, note=f"{who}: {told}")]


def _is_part(agent: Agent, native: str) -> bool:
    """Whether an event is told by one of its own that is only a case of another; it is called like any."""
    whole = native.partition(" with ")[0]
    return whole != native and whole in natives(agent)
