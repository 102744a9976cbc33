"""Encoder of Cline payloads, and the shapes of its tools that take lists of commands, files or queries."""

from collections.abc import Callable
from contextlib import suppress
from shlex import join as quoted
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode as parse

from hookonce.agents import _tool
from hookonce.model import Object


def list_entries(arguments: Object, *names: str) -> list[Any]:
    """Entries of the first argument that is present: a list, the JSON text of a list, or a single entry."""
    value: Any = []
    for name in names:
        if (argument := arguments.get(name)) is not None:
            value = argument
            break
    if type(value) is str and value[:1] in ("[", "{"):
        with suppress(DecodeError, RecursionError):
            value = parse(value)
    return value if type(value) is list else [value]


def shape_commands(name: str, arguments: Object) -> tuple[str, Object]:
    """Shape a list of commands: `commands`, and `command` with one per line."""
    entries = list_entries(arguments, "commands", "cmd", "input") or [arguments]
    if not (lines := [line for entry in entries if (line := _command_line(entry))]):
        return name, arguments
    return name, _without_keys(arguments, "cmd", "input", "args") | {"commands": lines, "command": "\n".join(lines)}


def _command_line(entry: Any) -> str | None:
    if type(entry) is not dict:
        return _tool.as_text(entry)
    program, arguments = entry.get("command"), entry.get("args")
    if type(program) is not str:
        return None
    return quoted([program, *map(str, arguments)]) if type(arguments) is list and arguments else program


def shape_files(name: str, arguments: Object) -> tuple[str, Object]:
    """Shape a list of files to read; with `path` beside it if there is only one."""
    entries = list_entries(arguments, "files", "file_paths", "paths", "input") or [arguments]
    if not (spans := [file for entry in entries if (file := _file_span(entry))]):
        return name, arguments
    other_arguments = _without_keys(arguments, "file_paths", "paths", "input", "start_line", "end_line")
    return name, other_arguments | {"files": spans} | (spans[0] if len(spans) == 1 else {})


def _file_span(entry: Any) -> Object:
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


def shape_queries(source: str, *keys: str) -> Callable[[str, Object], tuple[str, Object]]:
    """Shape function for a list of objects, or of texts for the first key; each key gets all values, one per line."""

    def shape(name: str, arguments: Object) -> tuple[str, Object]:
        entries = [entry if type(entry) is dict else {keys[0]: entry} for entry in list_entries(arguments, source, "input")]
        for key in keys:
            if texts := [text for entry in entries if type(text := entry.get(key)) is str]:
                arguments = arguments | {key: "\n".join(texts)}
        return name, arguments

    return shape


def _without_keys(arguments: Object, *keys: str) -> Object:
    return {key: value for key, value in arguments.items() if key not in keys}
