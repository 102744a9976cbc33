"""Tools that take several commands, files or questions in one call."""

from collections.abc import Callable
from contextlib import suppress
from shlex import join as quoted
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode as parse

from hookonce.agents import _tool
from hookonce.model import Object


def many(given: Object, *names: str) -> list[Any]:
    """The entries of the first argument that is there: a list, the JSON text of one, or one entry alone."""
    value: Any = []
    for name in names:
        if (found := given.get(name)) is not None:
            value = found
            break
    if type(value) is str and value[:1] in ("[", "{"):
        with suppress(DecodeError, RecursionError):
            value = parse(value)
    return value if type(value) is list else [value]


def commands(name: str, given: Object) -> tuple[str, Object]:
    """A list of commands: each by itself, and all of them one per line."""
    entries = many(given, "commands", "cmd", "input") or [given]
    if not (lines := [line for entry in entries if (line := _line(entry))]):
        return name, given
    return name, _rest(given, "cmd", "input", "args") | {"commands": lines, "command": "\n".join(lines)}


def _line(entry: Any) -> str | None:
    """A line for the shell, or a program with arguments that no shell will see."""
    if type(entry) is not dict:
        return _tool.as_text(entry)
    program, arguments = entry.get("command"), entry.get("args")
    if type(program) is not str:
        return None
    return quoted([program, *map(str, arguments)]) if type(arguments) is list and arguments else program


def files(name: str, given: Object) -> tuple[str, Object]:
    """A list of files to read; the path beside it if there is only one."""
    entries = many(given, "files", "file_paths", "paths", "input") or [given]
    if not (found := [file for entry in entries if (file := _span(entry))]):
        return name, given
    rest = _rest(given, "file_paths", "paths", "input", "start_line", "end_line")
    return name, rest | {"files": found} | (found[0] if len(found) == 1 else {})


def _span(entry: Any) -> Object:
    """One file, with the first line and the number of lines where only some are read."""
    path = entry.get("path") if type(entry) is dict else entry
    if type(path) is not str:
        return {}
    file: Object = {"path": path}
    if type(entry) is dict:
        first, last = entry.get("start_line"), entry.get("end_line")
        if type(first) is int:
            file["offset"] = first
        if type(last) is int:
            file["limit"] = last - file.get("offset", 1) + 1
    return file


def questions(source: str, *leaves: str) -> Callable[[str, Object], tuple[str, Object]]:
    """A list of objects, or of plain texts for the first leaf; each leaf becomes all of theirs, one per line."""

    def shape(name: str, given: Object) -> tuple[str, Object]:
        entries = [entry if type(entry) is dict else {leaves[0]: entry} for entry in many(given, source, "input")]
        for leaf in leaves:
            if texts := [text for entry in entries if type(text := entry.get(leaf)) is str]:
                given = given | {leaf: "\n".join(texts)}
        return name, given

    return shape


def _rest(given: Object, *used: str) -> Object:
    return {key: value for key, value in given.items() if key not in used}
