"""An entry as the two Copilots spell it: a command for every system, for one shell or for one system."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookonce.model import Object

# The keys of commands; the first of them that an entry has is the command wherever no other key says otherwise.
_COMMANDS = ("command", "bash", "powershell", "linux", "osx", "windows")
_ARGV = frozenset({"exec", "args"})
# Keys that decide what runs, or when: nobody's extra data may bring one in.
RESERVED = frozenset({"type", "matcher", "hooks", *_COMMANDS, *_ARGV})


class Spelling(NamedTuple):
    """What one of the two listens to.

    `systems` has the keys of a system's own command, the stronger first, and `timeouts` the two keys of the
    timeout likewise; `overrides` is the column under which the table of handlers shows the former. `heeds` are
    the events at which a matcher on tools counts, `head` is what every file begins with, and `direct` tells
    whether an entry may name a program and its arguments instead of a command for a shell.
    """

    systems: Mapping[str, tuple[str, str]]
    timeouts: tuple[str, str]
    overrides: str
    heeds: frozenset[str] = frozenset()
    head: Mapping[str, int] = {}
    direct: bool = False


Told = tuple[str | None, dict[str, str]]  # the command, and those of single systems


def told(spelling: Spelling, entry: Object) -> Told:
    """What an entry runs, and where it runs something else."""
    texts = _texts(entry)
    if not texts:
        return (_joined(entry) if spelling.direct else None), {}
    command = next(iter(texts.values()))
    own = {
        system: next((texts[key] for key in keys if key in texts), None) for system, keys in spelling.systems.items()
    }
    return command, {system: text for system, text in own.items() if text not in (None, command)}


def _texts(entry: Object) -> dict[str, str]:
    return {key: entry[key] for key in _COMMANDS if type(entry.get(key)) is str and entry[key]}


def _joined(entry: Object) -> str | None:
    """A program and its arguments as the command that a shell would make of them."""
    program, arguments = entry.get("exec"), entry.get("args", [])
    if type(program) is not str or not program or type(arguments) is not list:
        return None
    return shlex.join([program, *arguments]) if all(type(word) is str for word in arguments) else None


def heard(spelling: Spelling, entry: Object) -> list[str]:
    """The keys of an entry that tell what runs; a key that a stronger one drowns out is not among them."""
    texts = _texts(entry)
    if not texts:
        return [key for key in ("exec", "args") if key in entry]
    own = (next((key for key in keys if key in texts), None) for keys in spelling.systems.values())
    return list(dict.fromkeys(key for key in (next(iter(texts)), *own) if key is not None))


def alone(spelling: Spelling, entry: Object) -> str | None:
    """The key of the only command, if it is one for a single system."""
    keys = heard(spelling, entry)
    return keys[0] if len(keys) == 1 and keys[0] in {"powershell", "windows", "linux", "osx"} else None


def gathered(spelling: Spelling, entry: Object) -> Object:
    """The entry with everything under the keys of the table of handlers: one command, its overrides, one timeout."""
    command, overrides = told(spelling, entry)
    taken = {*heard(spelling, entry), spelling.overrides}
    rest = retimed(spelling, {key: value for key, value in entry.items() if key not in taken})
    return rest | {"command": command} | ({spelling.overrides: overrides} if overrides else {})


def spread(spelling: Spelling, entry: Object, keys: Any) -> Object:
    """An entry of the table's keys as the agent has it, under these keys of its own if they say the same."""
    wanted = keys if type(keys) is list else None
    command = entry["command"]
    meant = command, {name: text for name, text in entry.get(spelling.overrides, {}).items() if text != command}
    made = _spelt(spelling, meant, wanted)
    rest = {key: value for key, value in entry.items() if key not in {"command", spelling.overrides, *_ARGV}}
    for key in rest.keys() & set(_COMMANDS):  # a key that nobody hears may stay
        if type(rest[key]) is not str or told(spelling, made | {key: rest[key]}) != meant:
            del rest[key]
    if wanted is not None and "type" not in wanted:
        rest.pop("type", None)
    return timed(spelling, rest | made, keys)


def retimed(spelling: Spelling, entry: Object) -> Object:
    """The entry with its timeout under the stronger key."""
    strong, weak = spelling.timeouts
    alone = strong not in entry and type(entry.get(weak)) in (int, float)
    return {strong if alone and key == weak else key: value for key, value in entry.items()}


def timed(spelling: Spelling, entry: Object, keys: Any) -> Object:
    """The entry with its timeout under the weaker key, if it stood there alone."""
    strong, weak = spelling.timeouts
    if type(keys) is not list or strong in keys or weak not in keys or weak in entry or strong not in entry:
        return entry
    return {weak if key == strong else key: value for key, value in entry.items()}


def _spelt(spelling: Spelling, meant: Told, wanted: list[Any] | None) -> Object:
    """Commands under the wanted keys, or under the agent's first choice if those would say something else."""
    made = {} if wanted is None else _under(spelling, meant, wanted)
    return made if made and told(spelling, made) == meant else _chosen(spelling, meant)


def _under(spelling: Spelling, meant: Told, wanted: list[Any]) -> Object:
    command, overrides = meant
    first = next((key for key in _COMMANDS if key in wanted), None)
    if first is None:
        return _split(command or "") if "exec" in wanted else {}
    made: Object = {first: command}
    for system, keys in spelling.systems.items():
        key = next((key for key in keys if key in wanted), first)
        made.setdefault(key, overrides.get(system, command))
    return made


def _split(command: str) -> Object:
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        return {}
    return {"exec": program} | ({"args": arguments} if arguments else {})


def _chosen(spelling: Spelling, meant: Told) -> Object:
    """A shell that serves two systems gets a command of its own only if both want the same."""
    command, overrides = meant
    made: Object = {"command": command}
    for system, (strong, weak) in spelling.systems.items():
        served = [name for name, keys in spelling.systems.items() if keys[0] == strong]
        if system in overrides:
            alike = all(overrides.get(name) == overrides[system] for name in served)
            made[strong if alike else weak] = overrides[system]
    return made
