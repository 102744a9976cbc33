"""Config entries: one hook in an agent's configuration, rendered and parsed, and gaps of what it cannot say."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from msgspec.structs import replace

from hookonce.agents._config.points import canonical_event_of, config_event_of, config_events, effect_of, point_of
from hookonce.base import invocation
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.errors import UnknownName
from hookonce.model import Agent, Config, Gap, Handler, HandlerType, Hook, Json, Object, Wording

PLACEMENT_KEY = "hookonce"  # our own key in provider_data: where and how an entry stood
# canonical field of a command handler → native key of the agents that follow Claude Code
COMMAND_KEYS = {"command": "command", "timeout": "timeout", "background": "async", "status_message": "statusMessage"}

_FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "timeout": (int, float),
    "background": (bool,),
    "platform": (dict,),
    "env": (dict,),
    "headers": (dict,),
    "allowed_env": (list,),
}
_MAX_TIMEOUT_S = 10**9  # seconds, the most that a manifest may say
_MAX_SAFE_INTEGER = 2**53  # where whole numbers end for most readers of JSON


def config_of(agent: Agent) -> Config:
    """The agent's configuration, or a clear sentence."""
    if agent.config is None:
        raise UnknownName(f"hooks of {agent.title} cannot be converted yet")
    return agent.config


_DECISION_TIMEOUT_S = 60  # for an answer that may decide something
_OBSERVE_TIMEOUT_S = 5


def entry_timeout(agent: Agent, native: str) -> int | float:
    """The timeout that is written into an entry: constants, because a changed one costs the user's trust again."""
    point, config = point_of(agent, native), config_of(agent)
    preferred_s = _DECISION_TIMEOUT_S if point.capabilities & {"prevent", "retry"} else _OBSERVE_TIMEOUT_S
    return min(limit for limit in (preferred_s, point.hard_timeout_s, config.longest) if limit is not None)


def write_entry(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    """The native entry of a hook's handler, with what the agent alone knows."""
    config = config_of(agent)
    if hook.handler.type not in config.handlers:  # a kind that only this agent knows came along whole
        return own_keys(agent, hook)
    handler = _apply_wording(hook, native, wording)
    keys = config.handlers[handler.type]
    entry: Object = {} if handler.type == "command" and "type" not in keys else {keys.get("type", "type"): handler.type}
    for field, key in keys.items():
        value = getattr(handler, field, None)
        if field != "type" and value not in (None, {}, [], False):
            entry[key] = max(_to_units(value, config.units), config.min_unit) if field == "timeout" else value
    if hook.on_failure == "closed" and config.fail_closed_key is not None:
        entry[config.fail_closed_key[0]] = config.fail_closed_key[1]
    return entry | {
        key: value
        for key, value in own_keys(agent, hook).items()
        if key not in entry and not _restates_field(config, keys, key, value)
    }


def _restates_field(config: Config, keys: Mapping[str, str], key: str, value: Any) -> bool:
    """Whether a key from outside would say what the manifest itself has a field for, and has left empty."""
    field = next((field for field, native in keys.items() if native == key and field != "cwd"), None)
    return field is not None and _fits_field(field, value, config.units)


def _apply_wording(hook: Hook, native: str, wording: Wording) -> Handler:
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
    return {key: value for key, value in hook.provider_data.get(agent.name, {}).items() if key != PLACEMENT_KEY}


def placement_of(agent: Agent, hook: Hook) -> Object:
    """The placement of a hook in this agent's configuration (event, group, matcher); {} if it is no object."""
    placement = hook.provider_data.get(agent.name, {}).get(PLACEMENT_KEY)
    return placement if type(placement) is dict else {}


def build_provider_data(agent: Agent, keys: Object, placement: Object) -> dict[str, Object]:
    """Agent-only keys and placement, as `Hook.provider_data` carries them through manifests and other agents."""
    data = keys | ({PLACEMENT_KEY: placement} if placement else {})
    return {agent.name: data} if data else {}


def _to_units(value: Any, units: int) -> int | float:
    product = min(value * units, _MAX_SAFE_INTEGER)
    return int(product) if float(product).is_integer() else float(product)


class ConfigEntry(NamedTuple):
    """A parsed native entry: the handler, the keys without a canonical field, whether it fails closed, its dialect."""

    handler: Handler
    rest: Object
    closed: bool = False
    dialect: str | None = None


def read_entry(agent: Agent, entry: Object) -> ConfigEntry:
    """An entry taken apart; a wrapper of ours is taken off the command that it runs."""
    config = config_of(agent)
    kind = entry.get("type", "command")
    keys = config.handlers.get(kind) if type(kind) is str else None
    if keys is None:
        # A kind that manifests know too would lose what it says there: it keeps the agent's name before it.
        handler_type = f"{agent.name}:{kind}" if kind in get_args(HandlerType) else str(kind)
        return ConfigEntry(Handler(type=handler_type), dict(entry))
    field_by_key = {key: field for field, key in keys.items()}
    fields: dict[str, Any] = {}
    rest: Object = {}
    for key, value in entry.items():
        field = field_by_key.get(key)
        if field is None or not _fits_field(field, value, config.units):
            rest[key] = value
        elif field != "type":
            fields[field] = _to_seconds(value, config) if field == "timeout" else value
    rest.pop("type", None)
    switch, on = config.fail_closed_key or ("", None)
    closed = switch in rest and rest[switch] == on
    if closed:
        del rest[switch]
    handler, dialect = unwrap_command(Handler(type=str(kind), **fields))
    return ConfigEntry(handler, rest, closed, dialect)


def unwrap_command(handler: Handler) -> tuple[Handler, str | None]:
    """The handler without the `hookonce-on --run` wrapper, and the dialect that its script speaks."""
    call = invocation.parse_command(handler.command or "")
    if call is None or call.run is None:
        return handler, None
    calls = {name: invocation.parse_command(text) for name, text in handler.platform.items()}
    platform = {name: (calls[name] and calls[name].run) or text for name, text in handler.platform.items()}  # type: ignore[union-attr]
    timeout = call.timeout if handler.timeout is None else handler.timeout
    whole = None if timeout is None else _to_units(timeout, 1)
    inner_handler = replace(handler, command=call.run, platform=platform, timeout=whole)
    return inner_handler, call.dialect or CANONICAL_DIALECT


def build_hook(agent: Agent, native: str, entry: ConfigEntry, matcher: Json, placement: Object) -> Hook:
    """The hook of a parsed entry at a native event; `placement` is how it stood there."""
    kind = canonical_event_of(agent, native)
    point = point_of(agent, native)
    # Where nobody is put, only who was there before may stay.
    event_placement = {} if native == config_event_of(agent, kind) and point.install != "never" else {"event": native}
    blocking = bool(point.capabilities & {"prevent", "retry"}) and not entry.handler.background
    closed = (
        config_of(agent).fail_closed_key if entry.closed and not blocking else None
    )  # nothing there that could be closed
    rest = entry.rest if closed is None else entry.rest | dict([closed])
    return Hook(
        event=kind,
        matcher=matcher,
        handler=entry.handler,
        blocking=blocking,
        on_failure="closed" if entry.closed and blocking else None,
        dialect=entry.dialect,
        provider_data=build_provider_data(agent, rest, event_placement | placement),
    )


def _fits_field(field: str, value: Any, units: int) -> bool:
    """Whether a value can be held by a canonical field; empty ones say nothing there and stay where they were."""
    if type(value) not in _FIELD_TYPES.get(field, (str,)) or value in (0, {}, [], "", False):
        return False
    if field == "timeout":
        return bool(0 < value <= _MAX_TIMEOUT_S * units)
    members = value.values() if type(value) is dict else value if type(value) is list else ()
    return all(type(member) is str for member in members)


def _to_seconds(value: float, config: Config) -> int | float:
    seconds = value / (config.units if value >= config.min_unit else 1)
    return int(seconds) if seconds.is_integer() else seconds


def _own_event(agent: Agent, hook: Hook) -> str | None:
    event = placement_of(agent, hook).get("event")
    return event if type(event) is str and canonical_event_of(agent, event) == hook.event else None


def hook_label(index: int, hook: Hook) -> str:
    """A hook's name for messages: its own, else its index in the manifest."""
    return hook.name or f"Hook {index + 1}"


def warning_gap(agent: Agent, index: int, hook: Hook, capability: str, why: str) -> Gap:
    """A gap for something about a hook that the agent's configuration cannot say."""
    native = _own_event(agent, hook) or config_event_of(agent, hook.event) or ""
    return Gap(
        where=f"$.hooks[{index}].{capability}",
        capability=capability,
        strategy="warn",
        effect=effect_of(hook, point_of(agent, native)),
        note=f"{hook_label(index, hook)}: {why}",
    )


def lost_gap(index: int, hook: Hook, capability: str, why: str) -> Gap:
    """A gap for a hook that has no place at all."""
    note = f"{hook_label(index, hook)}: {why}"
    return Gap(where=f"$.hooks[{index}]", capability=capability, strategy="exclude", effect="lost", note=note)


def no_tool_note(hook: Hook) -> str:
    """Why the matcher of a hook says nothing."""
    return f"{hook.event} is about no tool; the matcher says nothing there"


def _is_own_kind(agent: Agent, hook: Hook) -> bool:
    """Whether a hook is of a kind that the agent alone knows; a manifest cannot name such a kind."""
    return hook.handler.type not in get_args(HandlerType) and bool(own_keys(agent, hook))


def resolve_event(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    """The native event of a hook, None if it has none, and the gaps of its blocking power there."""
    where, label = f"$.hooks[{index}]", hook_label(index, hook)
    native = _own_event(agent, hook) or config_event_of(agent, hook.event)
    if native is None:
        return None, [lost_gap(index, hook, "event", f"{agent.title} has no event for {hook.event}")]
    if hook.handler.type not in config_of(agent).handlers and not _is_own_kind(agent, hook):
        return None, [lost_gap(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    point = point_of(agent, native)
    if point.install == "never" and _own_event(agent, hook) is None and not _is_event_case(agent, native):
        return None, [lost_gap(index, hook, "event", f"{native} of {agent.title} {point.why}")]
    can_block = bool(point.capabilities & {"prevent", "retry"})
    if hook.blocking == (can_block and not hook.handler.background):
        return native, []
    gap_effect = "observes"
    if hook.blocking and can_block:
        note = "it runs in the background, where nobody waits for its refusal"
    elif hook.blocking:
        note = f"{native} of {agent.title} can only be observed; nothing is prevented there"
        gap_effect = effect_of(hook, point)
    else:
        note = f"{agent.title} lets any hook on {native} refuse; the manifest says that this one only looks on"
        gap_effect = "prevents"
    return native, [
        Gap(where=where, capability="blocking", strategy="warn", effect=gap_effect, note=f"{label}: {note}")
    ]


def _is_event_case(agent: Agent, native: str) -> bool:
    """Whether an event is told by one of its own that is only a case of another; it is called like any."""
    whole = native.partition(" with ")[0]
    return whole != native and whole in config_events(agent)


def misplaced_hook_gaps(agent: Agent, document: Object) -> list[Gap]:
    """A gap for `hooks` that is no table of events, and one for each event that stands outside of it."""
    hooks_value = document.get("hooks")
    gaps = (
        []
        if hooks_value is None or type(hooks_value) is dict
        else [_misplaced_gap("$.hooks", f"is no object of events{_expectation(agent)}")]
    )
    outside = [key for key, value in document.items() if key in config_events(agent) and value]
    return gaps + [_misplaced_gap(f"$.{key}", f"does not stand under hooks{_expectation(agent)}") for key in outside]


def _expectation(agent: Agent) -> str:
    return f", as {agent.title} wants it"


def _misplaced_gap(where: str, why: str) -> Gap:
    return Gap(where=where, capability="event", strategy="kept out", effect="lost", note=f"{where} {why}")
