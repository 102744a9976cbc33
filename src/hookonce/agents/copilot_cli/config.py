"""Config codec of Copilot CLI and Copilot in VS Code: entries under their event, or in groups; keys by `EntryKeys`."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from msgspec.structs import replace

from hookonce.agents._config.entry import ConfigEntry, build_hook, read_entry, write_entry
from hookonce.agents._config.events import IndexedHooks, iterate_hooks
from hookonce.agents._config.gaps import has_loss, lost_gap, misplaced_hook_gaps, no_tool_gap, skipped_gap, warning_gap
from hookonce.agents._config.matchers import full_match
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, fits_known_tools, reachability_gaps
from hookonce.agents._config.matchers.parts import matches_every_tool
from hookonce.agents._config.points import canonical_event_of
from hookonce.agents._config.provider_data import own_matcher, placement_of, without_keys
from hookonce.base.jsontext import as_dict
from hookonce.model import Agent, Gap, HandlerType, Hook, Object, Wording

# The keys of commands; the first of them that an entry has is the command wherever no other key says otherwise.
_COMMAND_KEYS = ("command", "bash", "powershell", "linux", "osx", "windows")
_ARGV_KEYS = frozenset({"exec", "args"})
# Keys that decide what runs, or when: nobody's extra data may bring one in.
RESERVED_KEYS = frozenset({"type", "matcher", "hooks", *_COMMAND_KEYS, *_ARGV_KEYS})


class EntryKeys(NamedTuple):
    """The entry keys that one of the two Copilots reads; of two for the same thing, the first is the stronger."""

    systems: Mapping[str, tuple[str, str]]
    timeouts: tuple[str, str]
    overrides: str  # the column of a system's own command in the table of handlers
    matcher_events: frozenset[str] = frozenset()  # at which a matcher on tools counts
    head: Mapping[str, int] = {}  # what every file begins with
    allows_exec: bool = False  # whether an entry may name a program and its arguments instead of a command


Commands = tuple[str | None, dict[str, str]]  # the command, and those of single systems


def commands_of(entry_keys: EntryKeys, entry: Object) -> Commands:
    """The command of an entry, and the commands of systems that run another one."""
    texts = _command_texts(entry)
    if not texts:
        return (_join_argv(entry) if entry_keys.allows_exec else None), {}
    command = next(iter(texts.values()))
    systems = entry_keys.systems.items()
    overrides = {system: next((texts[key] for key in keys if key in texts), command) for system, keys in systems}
    return command, {system: text for system, text in overrides.items() if text != command}


def _command_texts(entry: Object) -> dict[str, str]:
    return {key: entry[key] for key in _COMMAND_KEYS if type(entry.get(key)) is str and entry[key]}


def _join_argv(entry: Object) -> str | None:
    program, arguments = entry.get("exec"), entry.get("args", [])
    if type(program) is not str or not program or type(arguments) is not list:
        return None
    return shlex.join([program, *arguments]) if all(type(word) is str for word in arguments) else None


def effective_keys(entry_keys: EntryKeys, entry: Object) -> list[str]:
    """The keys of an entry that decide what runs, without keys that a stronger one overrides."""
    texts = _command_texts(entry)
    if not texts:
        return [key for key in ("exec", "args") if key in entry]
    system_keys = (next((key for key in keys if key in texts), None) for keys in entry_keys.systems.values())
    return list(dict.fromkeys(key for key in (next(iter(texts)), *system_keys) if key is not None))


def single_system_key(entry_keys: EntryKeys, entry: Object) -> str | None:
    """The key of the only command, if it is one for a single system."""
    keys = effective_keys(entry_keys, entry)
    return keys[0] if len(keys) == 1 and keys[0] in {"powershell", "windows", "linux", "osx"} else None


def spell_entry(entry_keys: EntryKeys, entry: Object, keys: Any) -> Object:
    """A normalized entry under the agent's own keys, the hinted ones if they mean the same."""
    key_hints = keys if type(keys) is list else None
    command = entry["command"]
    commands = command, {name: text for name, text in entry.get(entry_keys.overrides, {}).items() if text != command}
    command_entry = _spell_with_keys(entry_keys, commands, key_hints or [])
    if commands_of(entry_keys, command_entry) != commands:
        command_entry = _spell_by_default(entry_keys, commands)
    rest = without_keys(entry, "command", entry_keys.overrides, *_ARGV_KEYS)
    for key in rest.keys() & set(_COMMAND_KEYS):  # a key that nobody hears may stay
        if type(rest[key]) is not str or commands_of(entry_keys, command_entry | {key: rest[key]}) != commands:
            del rest[key]
    if key_hints is not None and "type" not in key_hints:
        rest.pop("type", None)
    return restore_timeout_key(entry_keys, rest | command_entry, keys)


def normalize_timeout_key(entry_keys: EntryKeys, entry: Object) -> Object:
    """The entry with its timeout under the stronger key."""
    strong, weak = entry_keys.timeouts
    is_weak_only = strong not in entry and type(entry.get(weak)) in (int, float)
    return {strong if is_weak_only and key == weak else key: value for key, value in entry.items()}


def restore_timeout_key(entry_keys: EntryKeys, entry: Object, keys: Any) -> Object:
    """The entry with its timeout under the weaker key, if it stood there alone."""
    strong, weak = entry_keys.timeouts
    if type(keys) is not list or strong in keys or weak not in keys or weak in entry or strong not in entry:
        return entry
    return {weak if key == strong else key: value for key, value in entry.items()}


def _spell_with_keys(entry_keys: EntryKeys, commands: Commands, key_hints: list[Any]) -> Object:
    command, overrides = commands
    first = next((key for key in _COMMAND_KEYS if key in key_hints), None)
    if first is None and "exec" not in key_hints:
        return {}
    if first is None:
        try:
            program, *arguments = shlex.split(command or "")
        except ValueError:
            return {}
        return {"exec": program} | ({"args": arguments} if arguments else {})
    entry: Object = {first: command}
    for system, keys in entry_keys.systems.items():
        key = next((key for key in keys if key in key_hints), first)
        entry.setdefault(key, overrides.get(system, command))
    return entry


def _spell_by_default(entry_keys: EntryKeys, commands: Commands) -> Object:
    """A shell that serves two systems gets a command of its own only if both want the same."""
    command, overrides = commands
    entry: Object = {"command": command}
    for system, (strong, weak) in entry_keys.systems.items():
        systems = [name for name, keys in entry_keys.systems.items() if keys[0] == strong]
        if system in overrides:
            alike = all(overrides.get(name) == overrides[system] for name in systems)
            entry[strong if alike else weak] = overrides[system]
    return entry


def render(entry_keys: EntryKeys, agent: Agent, hooks: IndexedHooks, wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, and what it cannot say."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, hook, native in iterate_hooks(agent, hooks, gaps):
        if hook.handler.type == "command" and not hook.handler.command:
            gaps.append(lost_gap(index, hook, "handler", "there is a command for some systems only"))
            continue
        matcher, hook_gaps = _render_matcher(entry_keys, agent, native, index, hook)
        gaps += hook_gaps
        if has_loss(hook_gaps):
            continue
        entry = _render_entry(entry_keys, agent, hook, native, wording)
        gaps += _doubt_gaps(entry_keys, agent, index, hook, entry)
        _insert_entry(events.setdefault(native, []), placement_of(agent, hook), matcher, entry)
    return {**entry_keys.head, "hooks": events}, gaps


def _render_entry(entry_keys: EntryKeys, agent: Agent, hook: Hook, native: str, wording: Wording) -> Object:
    keys = agent.config.handlers.get(hook.handler.type)
    entry = write_entry(agent, hook, native, wording)
    key_hints = placement_of(agent, hook).get("keys")
    if keys is None:
        return without_keys(entry, "matcher", "hooks")
    if hook.handler.type != "command":
        plain = {key: value for key, value in entry.items() if key in keys.values() or key not in RESERVED_KEYS}
        return restore_timeout_key(entry_keys, plain, key_hints)
    if not hook.handler.platform:
        entry.pop(entry_keys.overrides, None)
    return spell_entry(entry_keys, without_keys(entry, "matcher", "hooks"), key_hints)


def _insert_entry(items: list[Object], placement: Object, matcher: Object, entry: Object) -> None:
    """Beside the others, or into a group; a group is joined only by who has its matcher."""
    if placement.get("nested") is not True:
        items.append(entry | matcher)
        return
    last = items[-1] if items else {}
    if placement.get("joined") is True and "hooks" in last and last.get("matcher") == matcher.get("matcher"):
        last["hooks"].append(entry)
        return
    items.append(without_keys(as_dict(placement.get("group")), "matcher", "hooks") | matcher | {"hooks": [entry]})


def _render_matcher(
    entry_keys: EntryKeys, agent: Agent, native: str, index: int, hook: Hook
) -> tuple[Object, list[Gap]]:
    text, is_heeded = own_matcher(agent, hook), hook.event in entry_keys.matcher_events
    if text is not None and hook.matcher == (full_match.from_native(agent, text) if is_heeded else None):
        return {"matcher": text}, []
    if matches_every_tool(hook.matcher):
        return {}, []
    if is_heeded:
        text = full_match.to_native(agent, hook.matcher, camel=native[0].islower())
        why = full_match.explain_mismatch(agent, hook.matcher, text)
        return {"matcher": text}, reachability_gaps(agent, index, hook, [] if why is None else [why])
    if hook.event not in TOOL_EVENTS:
        return {}, [no_tool_gap(agent, index, hook)]
    why = (
        f"{agent.title} ignores matchers on {native}: the hook runs for every tool, "
        "and its script, or a wrapper around it, must look at the tool itself"
    )
    return {}, [warning_gap(agent, index, hook, "matcher", why)]


def _doubt_gaps(entry_keys: EntryKeys, agent: Agent, index: int, hook: Hook, entry: Object) -> list[Gap]:
    handler = hook.handler
    doubts: list[tuple[str, str]] = []
    if handler.type == "command":
        keys, system_key = _doubtful_keys(entry_keys, entry), single_system_key(entry_keys, entry)
        if keys and "keys" not in placement_of(agent, hook):
            why = f"whether it heeds {' and '.join(keys)} is not known"
            doubts.append(("platform_commands", f"{agent.title} has one command for Linux and macOS; {why}"))
        if system_key is not None:
            doubts.append(("platform_commands", f"{system_key} alone is heard on one system only"))
    if handler.type == "http" and handler.method not in (None, "POST"):
        doubts.append(("method", f"{agent.title} always sends POST, not {handler.method}"))
    if handler.type == "http" and not (handler.url or "").startswith("https://"):
        doubts.append(("url", f"{agent.title} calls nothing but https addresses by default"))
    return [warning_gap(agent, index, hook, capability, why) for capability, why in doubts]


def _doubtful_keys(entry_keys: EntryKeys, entry: Object) -> list[str]:
    return sorted({keys[1] for keys in entry_keys.systems.values()} & {*effective_keys(entry_keys, entry)})


def parse(entry_keys: EntryKeys, agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; what the agent itself would not understand is a gap."""
    hooks: list[Hook] = []
    gaps = misplaced_hook_gaps(agent, document)
    events = document.get("hooks")
    for native, items in events.items() if type(events) is dict else ():
        for where, entry, placement in _iterate_entries(native, items):
            fault = _entry_fault(entry_keys, entry, placement)
            if fault is None:
                hooks.append(_parse_hook(entry_keys, agent, native, entry, placement))
            else:
                gaps.append(skipped_gap(where, fault))
    return hooks, gaps


def _iterate_entries(native: str, items: Any) -> list[tuple[str, Any, Object]]:
    """Every entry of an event with its place: where it is, and how it stood there."""
    if type(items) is not list:  # not even a single entry is taken for a list of one
        return [(f"$.hooks.{native}", None, {})]
    rows: list[tuple[str, Any, Object]] = []
    for number, item in enumerate(items):
        where = f"$.hooks.{native}[{number}]"
        if type(item) is not dict:
            rows.append((where, item, {}))
            continue
        placement = {"matcher": item["matcher"]} if "matcher" in item else {}
        if type(item.get("hooks")) is not list:
            rows.append((where, without_keys(item, "matcher"), placement))
            continue
        placement["nested"], group = True, without_keys(item, "matcher", "hooks")
        for place, entry in enumerate(item["hooks"]):
            more = ({"group": group} if group else {}) | ({"joined": True} if place else {})
            rows.append((f"{where}.hooks[{place}]", entry, placement | more))
    return rows


def _entry_fault(entry_keys: EntryKeys, entry: Any, placement: Object) -> str | None:
    if type(entry) is not dict:
        return "is no hook"
    if type(placement.get("matcher", "")) is not str:
        return "has a matcher that is no text"
    if entry.get("type", "command") == "command" and commands_of(entry_keys, entry)[0] is None:
        return "has no command"
    return None


def _parse_hook(entry_keys: EntryKeys, agent: Agent, native: str, entry: Object, placement: Object) -> Hook:
    text, matcher, camel = placement.get("matcher"), None, native[:1].islower()
    if text is not None and canonical_event_of(agent, native) in entry_keys.matcher_events:
        matcher = full_match.from_native(agent, text)
        same = matcher is not None and full_match.to_native(agent, matcher, camel=camel) == text
        if same and fits_known_tools(agent, matcher):
            placement = without_keys(placement, "matcher")
    config_entry, keys = _parse_entry(entry_keys, agent, entry)
    system_key = single_system_key(entry_keys, entry) if entry.get("type", "command") == "command" else None
    more = ({"keys": keys} if keys else {}) | ({"system": system_key} if system_key else {})
    return build_hook(agent, native, config_entry, matcher, placement | more)


def _parse_entry(entry_keys: EntryKeys, agent: Agent, entry: Object) -> tuple[ConfigEntry, list[str]]:
    kind = entry.get("type", "command")
    if kind == "command":
        command, overrides = commands_of(entry_keys, entry)
        command_keys = effective_keys(entry_keys, entry)
        rest = normalize_timeout_key(entry_keys, without_keys(entry, *command_keys, entry_keys.overrides))
        normal_entry = rest | {"command": command} | ({entry_keys.overrides: overrides} if overrides else {})
        default = spell_entry(entry_keys, normal_entry | {"type": "command"}, None)
        if default == entry and not _doubtful_keys(entry_keys, entry):
            return read_entry(agent, normal_entry), []
        keys = [*command_keys, *(key for key in ("type", *entry_keys.timeouts) if key in entry)]
        return read_entry(agent, normal_entry), keys
    if kind == "http" and "http" in agent.config.handlers:
        keys = [key for key in entry_keys.timeouts[1:] if key in entry]
        return read_entry(agent, normalize_timeout_key(entry_keys, entry)), keys
    config_entry = read_entry(agent, entry)
    if config_entry.handler.type in get_args(HandlerType):
        # Copilot's prompt is typed in for the user, and judges nothing: not what a manifest means by the word.
        config_entry = config_entry._replace(handler=replace(config_entry.handler, type=f"{agent.name}:{kind}"))
    return config_entry, []
