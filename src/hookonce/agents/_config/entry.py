"""Config entries: one hook in an agent's configuration, rendered and parsed."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args

from msgspec.structs import replace

from hookonce.agents._config.points import canonical_event_of, config_event_of, point_of
from hookonce.agents._config.provider_data import build_provider_data, own_keys
from hookonce.base import invocation
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.model import Agent, Config, Handler, HandlerType, Hook, Json, Object, Wording

_FIELD_TYPES: dict[str, tuple[type, ...]] = {"timeout": (int, float), "background": (bool,), "allowed_env": (list,)}
_FIELD_TYPES |= dict.fromkeys(("platform", "env", "headers"), (dict,))
_MAX_TIMEOUT_S = 10**9  # seconds, the most that a manifest may say
_MAX_SAFE_INTEGER = 2**53  # where whole numbers end for most readers of JSON


def write_entry(agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    """The native entry of a hook's handler, with what the agent alone knows."""
    config, own = agent.config, own_keys(agent, hook)
    if hook.handler.type not in config.handlers:  # a kind that only this agent knows came along whole
        return own
    handler = _apply_wording(hook, native, wording)
    keys = config.handlers[handler.type]
    entry: Object = {} if handler.type == "command" and "type" not in keys else {keys.get("type", "type"): handler.type}
    for field, key in keys.items():
        value = getattr(handler, field, None)
        if field != "type" and value not in (None, {}, [], False):
            entry[key] = max(_to_units(value, config.units), config.min_unit) if field == "timeout" else value
    if hook.on_failure == "closed" and config.fail_closed_key is not None:
        entry |= [config.fail_closed_key]
    more = [key for key in own if key not in entry and not _restates_field(config, keys, key, own[key])]
    return entry | {key: own[key] for key in more}


def _restates_field(config: Config, keys: Mapping[str, str], key: str, value: Any) -> bool:
    """Whether a key from outside would say what the manifest itself has a field for, and has left empty."""
    field = next((field for field, native in keys.items() if native == key and field != "cwd"), None)
    return field is not None and _fits_field(field, value, config.units)


def _apply_wording(hook: Hook, native: str, wording: Wording) -> Handler:
    handler = hook.handler
    if handler.type != "command":
        return handler
    platform = {name: command_wording(hook, native, wording, text) for name, text in handler.platform.items()}
    return replace(handler, command=wording(hook, native), platform=platform)


def command_wording(hook: Hook, native: str, wording: Wording, command: str) -> str:
    """The wording of a hook whose handler runs another command."""
    return wording(replace(hook, handler=replace(hook.handler, command=command)), native) or command


def _to_units(value: Any, units: int) -> int | float:
    product = min(value * units, _MAX_SAFE_INTEGER)
    return int(product) if float(product).is_integer() else float(product)


class ConfigEntry(NamedTuple):
    """A parsed native entry: the handler, the keys without a canonical field, whether it fails closed, its dialect."""

    handler: Handler
    extra_keys: Object
    fails_closed: bool = False
    dialect: str | None = None


def iterate_entries(events: Json) -> Iterator[tuple[str, str, Json]]:
    """Each item of a table of events: its event, its path in the document, and itself; one alone is a list of one."""
    for native, items in events.items() if type(events) is dict else ():
        for number, item in enumerate(items if type(items) is list else [items]):
            yield native, f"$.hooks.{native}[{number}]", item


def has_required_key(entry: Json, required_keys: Mapping[str, str]) -> bool:
    """Whether an entry is an object with the one key that a handler of its type needs."""
    kind = entry.get("type", "command") if type(entry) is dict else None
    value = entry.get(required_keys.get(kind, "")) if type(kind) is str else None
    return type(value) is str and value != ""


def read_entry(agent: Agent, entry: Object) -> ConfigEntry:
    """An entry taken apart; a wrapper of ours is taken off the command that it runs."""
    config = agent.config
    kind = entry.get("type", "command")
    keys = config.handlers.get(kind) if type(kind) is str else None
    if keys is None:
        # A kind that manifests know too would lose what it says there: it keeps the agent's name before it.
        handler_type = f"{agent.name}:{kind}" if kind in get_args(HandlerType) else str(kind)
        return ConfigEntry(Handler(type=handler_type), dict(entry))
    field_by_key = {key: field for field, key in keys.items()}
    fields: dict[str, Any] = {}
    extra: Object = {}
    for key, value in entry.items():
        field = field_by_key.get(key)
        if field is None or not _fits_field(field, value, config.units):
            extra[key] = value
        elif field != "type":
            fields[field] = value
    extra.pop("type", None)
    if "timeout" in fields:
        seconds = fields["timeout"] / (config.units if fields["timeout"] >= config.min_unit else 1)
        fields["timeout"] = int(seconds) if seconds.is_integer() else seconds
    switch, on = config.fail_closed_key or ("", None)
    fails_closed = switch in extra and extra[switch] == on
    if fails_closed:
        del extra[switch]
    handler, dialect = unwrap_command(Handler(type=str(kind), **fields))
    fails_closed |= dialect is not None and invocation.is_closed_wrapper(fields["command"])
    return ConfigEntry(handler, extra, fails_closed, dialect)


def unwrap_command(handler: Handler) -> tuple[Handler, str | None]:
    """The handler without the `hookonce-on --run` wrapper, and the dialect that its script speaks."""
    call = invocation.parse_command(handler.command or "")
    if call is None or call.run is None:
        return handler, None
    if (own_handler := invocation.parse_handler(call.run)) is not None:
        timeout = call.timeout if handler.timeout is None else handler.timeout
        common_fields = {name: getattr(handler, name) for name in ("background", "status_message", "extra")}
        seconds = None if timeout is None else _to_units(timeout, 1)
        return replace(own_handler, timeout=seconds, **common_fields), call.dialect or CANONICAL_DIALECT
    calls = {name: invocation.parse_command(text) for name, text in handler.platform.items()}
    platform = {name: (calls[name] and calls[name].run) or text for name, text in handler.platform.items()}  # type: ignore[union-attr]
    timeout = call.timeout if handler.timeout is None else handler.timeout
    seconds = None if timeout is None else _to_units(timeout, 1)
    return replace(handler, command=call.run, platform=platform, timeout=seconds), call.dialect or CANONICAL_DIALECT


def build_hook(agent: Agent, native: str, entry: ConfigEntry, matcher: Json, placement: Object) -> Hook:
    """The hook of a parsed entry at a native event; `placement` is how it stood there."""
    kind, point = canonical_event_of(agent, native), point_of(agent, native)
    # An event at which nothing is installed is named, so that only a hook that stood there goes back to it.
    is_default_event = native == config_event_of(agent, kind) and point.install != "never"
    blocking = bool(point.capabilities & {"prevent", "retry"}) and not entry.handler.background
    # A hook that blocks nothing cannot fail closed in a manifest: the switch stays among the agent's own keys.
    switch = agent.config.fail_closed_key if entry.fails_closed and not blocking else None
    keys = entry.extra_keys | dict([switch] if switch else [])
    placement = ({} if is_default_event else {"event": native}) | placement
    return Hook(
        event=kind,
        matcher=matcher,
        handler=entry.handler,
        blocking=blocking,
        on_failure="closed" if entry.fails_closed and blocking else None,
        dialect=entry.dialect,
        provider_data=build_provider_data(agent, keys, placement),
    )


def _fits_field(field: str, value: Any, units: int) -> bool:
    """Whether a value can be held by a canonical field; empty ones say nothing there and stay where they were."""
    if type(value) not in _FIELD_TYPES.get(field, (str,)) or value in (0, {}, [], "", False):
        return False
    if field == "timeout":
        return bool(0 < value <= _MAX_TIMEOUT_S * units)
    members = value.values() if type(value) is dict else value if type(value) is list else ()
    return all(type(member) is str for member in members)
