"""Merge of rendered entries into a configuration file that is already there, and their removal."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hookonce.configure.edit import jsonc, toml
from hookonce.configure.edit.elide import elide_members, restore_members
from hookonce.configure.edit.key_path import DocumentPath
from hookonce.model import Object

_MISSING = object()
COMMAND_KEYS = frozenset({"command", "bash", "powershell", "windows", "linux", "osx", "commandWindows", "url"})


def editor_of(path: Path) -> ModuleType:
    """The editor module for a file of this name; whoever writes no TOML writes JSON, with comments or without."""
    return toml if path.suffix == ".toml" else jsonc


def merge_entries(editor: ModuleType, text: bytes, document: Object) -> bytes:
    """Append every list of the document to the file's own, and set what is missing."""
    return _edit_elided(
        editor, text, lambda name, _: name in document, lambda short_text: _merge_values(editor, short_text, document)
    )


def _merge_values(editor: ModuleType, text: bytes, document: Object, keys: DocumentPath = ()) -> bytes:
    for name, value in document.items():
        path = (*keys, name)
        if type(value) is dict and value:
            text = _merge_values(editor, text, value, path)
        elif type(value) is list:
            for item in value:
                text = editor.insert_item(text, path, item)
        elif editor.value_at(text, path, _MISSING) is _MISSING:
            text = editor.set_value(text, path, value)
    return text


def remove_entries(editor: ModuleType, text: bytes, is_own: Callable[[str], bool]) -> bytes:
    """Remove the entries that are ours; a group goes with them if it holds nobody else's."""

    def without(text: bytes) -> bytes:
        while (path := _find_first_entry(editor.value_at(text, ()), is_own, ())) is not None:
            *keys, last = path
            text = editor.remove_item(text, tuple(keys), last) if type(last) is int else editor.remove_key(text, path)
        return text

    return _edit_elided(editor, text, _holds_command(is_own), without)


def replace_commands(editor: ModuleType, text: bytes, new_command: Callable[[str], str | None]) -> bytes:
    """Replace the commands for which there is a new one."""

    def rewrite(text: bytes) -> bytes:
        for path, command in _find_commands(editor.value_at(text, ()), ()):
            if (replacement := new_command(command)) is not None:
                text = editor.set_value(text, path, replacement)
        return text

    return _edit_elided(editor, text, _holds_command(lambda command: new_command(command) is not None), rewrite)


def _holds_command(is_match: Callable[[str], bool]) -> Callable[[str, Any], bool]:
    return lambda name, value: any(is_match(command) for _, command in _find_commands({name: value}, ()))


def _edit_elided(
    editor: ModuleType, text: bytes, is_touched: Callable[[str, Any], bool], edit: Callable[[bytes], bytes]
) -> bytes:
    """What nobody touches in a large file is not parsed anew at every step."""
    if editor is not jsonc:
        return edit(text)
    short_text, originals = elide_members(text, is_touched)
    return restore_members(edit(short_text), originals)


def _find_commands(value: Any, keys: DocumentPath) -> list[tuple[DocumentPath, str]]:
    """Every command below a value, with its path: texts under the keys that agents have for commands."""
    commands: list[tuple[DocumentPath, str]] = []
    for key, inner in _children(value):
        if type(inner) is str:
            commands += [((*keys, key), inner)] if key in COMMAND_KEYS else []
        else:
            commands += _find_commands(inner, (*keys, key))
    return commands


def _find_first_entry(value: Any, is_own: Callable[[str], bool], keys: DocumentPath) -> DocumentPath | None:
    """The path of the first, and widest, item that holds entries of ours and nobody else's."""
    for key, inner in _children(value):
        own_flags = [_runs_only(entry, is_own) for entry in _entries_below(inner)]
        if any(own_flags) and all(own_flags) and _is_entry(value, inner):
            return (*keys, key)
        if any(own_flags) and (path := _find_first_entry(inner, is_own, (*keys, key))) is not None:
            return path
    return None


def _entries_below(value: Any) -> list[Any]:
    """The entries below a value: the innermost members of lists, else the value itself."""
    if type(value) is list:
        return [entry for item in value for entry in _entries_below(item)]
    below = [entry for _, inner in _children(value) if _holds_list(inner) for entry in _entries_below(inner)]
    return below or [value]


def _holds_list(value: Any) -> bool:
    """Whether there is a list of objects in a value: what has none is a part of an entry, not above one."""
    if type(value) is list:
        return any(type(item) is dict for item in value)
    return any(_holds_list(inner) for _, inner in _children(value))


def _runs_only(entry: Any, is_own: Callable[[str], bool]) -> bool:
    commands = [command for _, command in _find_commands(entry, ())]
    return bool(commands) and all(map(is_own, commands))


def _is_entry(holder: Any, inner: Any) -> bool:
    """Items of lists are entries and groups; a member of an object is one if it has a command itself."""
    return type(holder) is list or (type(inner) is dict and not COMMAND_KEYS.isdisjoint(inner))


def _children(value: Any) -> list[tuple[Any, Any]]:
    if type(value) is dict:
        return list(value.items())
    return list(enumerate(value)) if type(value) is list else []
