"""Config codec of Copilot CLI and Copilot in VS Code: entries under their event, or in groups.

An entry has a command for every system, for one shell or for one system; which keys count is in `EntryKeys`.
"""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookonce.model import Object

# The keys of commands; the first of them that an entry has is the command wherever no other key says otherwise.
_COMMAND_KEYS = ("command", "bash", "powershell", "linux", "osx", "windows")
_ARGV_KEYS = frozenset({"exec", "args"})
# Keys that decide what runs, or when: nobody's extra data may bring one in.
RESERVED_KEYS = frozenset({"type", "matcher", "hooks", *_COMMAND_KEYS, *_ARGV_KEYS})


class EntryKeys(NamedTuple):
    """The entry keys that one of the two Copilots reads.

    `systems` has the keys of a system's own command, the stronger first, and `timeouts` the two keys of the timeout
    likewise; `overrides` is the column under which the table of handlers shows the former. `matcher_events` are the
    events at which a matcher on tools counts, `head` is what every file begins with, and `allows_exec` tells whether
    an entry may name a program and its arguments instead of a command for a shell.
    """

    systems: Mapping[str, tuple[str, str]]
    timeouts: tuple[str, str]
    overrides: str
    matcher_events: frozenset[str] = frozenset()
    head: Mapping[str, int] = {}
    allows_exec: bool = False


Commands = tuple[str | None, dict[str, str]]  # the command, and those of single systems


def commands_of(entry_keys: EntryKeys, entry: Object) -> Commands:
    """The command of an entry, and the commands of systems that run another one."""
    texts = _command_texts(entry)
    if not texts:
        return (_join_argv(entry) if entry_keys.allows_exec else None), {}
    command = next(iter(texts.values()))
    system_commands = {
        system: next((texts[key] for key in keys if key in texts), None) for system, keys in entry_keys.systems.items()
    }
    return command, {system: text for system, text in system_commands.items() if text not in (None, command)}


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


def normalize_entry(entry_keys: EntryKeys, entry: Object) -> Object:
    """The entry under the keys of the table of handlers: one command, its overrides, one timeout."""
    command, overrides = commands_of(entry_keys, entry)
    command_keys = {*effective_keys(entry_keys, entry), entry_keys.overrides}
    rest = normalize_timeout_key(entry_keys, {key: value for key, value in entry.items() if key not in command_keys})
    return rest | {"command": command} | ({entry_keys.overrides: overrides} if overrides else {})


def spell_entry(entry_keys: EntryKeys, entry: Object, keys: Any) -> Object:
    """A normalized entry under the agent's own keys, the hinted ones if they mean the same."""
    key_hints = keys if type(keys) is list else None
    command = entry["command"]
    commands = command, {name: text for name, text in entry.get(entry_keys.overrides, {}).items() if text != command}
    command_entry = _spell_commands(entry_keys, commands, key_hints)
    rest = {key: value for key, value in entry.items() if key not in {"command", entry_keys.overrides, *_ARGV_KEYS}}
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


def _spell_commands(entry_keys: EntryKeys, commands: Commands, key_hints: list[Any] | None) -> Object:
    """Commands under the wanted keys, or under the agent's first choice if those would say something else."""
    entry = {} if key_hints is None else _spell_with_keys(entry_keys, commands, key_hints)
    return entry if entry and commands_of(entry_keys, entry) == commands else _spell_by_default(entry_keys, commands)


def _spell_with_keys(entry_keys: EntryKeys, commands: Commands, key_hints: list[Any]) -> Object:
    command, overrides = commands
    first = next((key for key in _COMMAND_KEYS if key in key_hints), None)
    if first is None:
        return _split_argv(command or "") if "exec" in key_hints else {}
    entry: Object = {first: command}
    for system, keys in entry_keys.systems.items():
        key = next((key for key in keys if key in key_hints), first)
        entry.setdefault(key, overrides.get(system, command))
    return entry


def _split_argv(command: str) -> Object:
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        return {}
    return {"exec": program} | ({"args": arguments} if arguments else {})


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
