"""A rendered configuration put into a file that is already there, and taken out again."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hookonce.edit import jsonc, toml
from hookonce.edit.fold import folded, unfolded
from hookonce.edit.keys import Keys
from hookonce.model import Object

_MISSING = object()
COMMAND_KEYS = frozenset({"command", "bash", "powershell", "windows", "linux", "osx", "commandWindows", "url"})


def editor_of(path: Path) -> ModuleType:
    """What splices a file of this name; whoever writes no TOML writes JSON, with comments or without."""
    return toml if path.suffix == ".toml" else jsonc


def joined(editor: ModuleType, text: bytes, document: Object) -> bytes:
    """The file with every list of the document appended to the file's own, and what is missing set."""
    return _folding(editor, text, lambda name, _: name in document, lambda short: _joined(editor, short, document))


def _joined(editor: ModuleType, text: bytes, document: Object, keys: Keys = ()) -> bytes:
    for name, value in document.items():
        place = (*keys, name)
        if type(value) is dict and value:
            text = _joined(editor, text, value, place)
        elif type(value) is list:
            for item in value:
                text = editor.insert_item(text, place, item)
        elif editor.value_at(text, place, _MISSING) is _MISSING:
            text = editor.set_value(text, place, value)
    return text


def parted(editor: ModuleType, text: bytes, ours: Callable[[str], bool]) -> bytes:
    """The file without the entries that are ours; a group goes with them if it holds nobody else's."""

    def without(text: bytes) -> bytes:
        while (place := _first(editor.value_at(text, ()), ours, ())) is not None:
            *keys, last = place
            text = editor.remove_item(text, tuple(keys), last) if type(last) is int else editor.remove_key(text, place)
        return text

    return _folding(editor, text, _holding(ours), without)


def reworded(editor: ModuleType, text: bytes, words: Callable[[str], str | None]) -> bytes:
    """The file with other commands in the place of those for which there are words."""

    def said(text: bytes) -> bytes:
        for place, command in _places(editor.value_at(text, ()), ()):
            if (new := words(command)) is not None:
                text = editor.set_value(text, place, new)
        return text

    return _folding(editor, text, _holding(lambda command: words(command) is not None), said)


def _holding(meant: Callable[[str], bool]) -> Callable[[str, Any], bool]:
    """Whether a member of the file holds commands that are meant."""
    return lambda name, value: any(meant(command) for _, command in _places({name: value}, ()))


def _folding(
    editor: ModuleType, text: bytes, touched: Callable[[str, Any], bool], edit: Callable[[bytes], bytes]
) -> bytes:
    """Edit a file that may be large: what nobody touches is not read anew at every step."""
    if editor is not jsonc:
        return edit(text)
    short, kept = folded(text, touched)
    return unfolded(edit(short), kept)


def _places(value: Any, keys: Keys) -> list[tuple[Keys, str]]:
    """Every command below a value, with its place: texts under the keys that agents have for commands."""
    found: list[tuple[Keys, str]] = []
    for key, inner in _inside(value):
        if type(inner) is str:
            found += [((*keys, key), inner)] if key in COMMAND_KEYS else []
        else:
            found += _places(inner, (*keys, key))
    return found


def _first(value: Any, ours: Callable[[str], bool], keys: Keys) -> Keys | None:
    """The place of the first, and widest, item that holds entries of ours and nobody else's."""
    for key, inner in _inside(value):
        known = [_runs_only(entry, ours) for entry in _entries(inner)]
        if any(known) and all(known) and _is_entry(value, inner):
            return (*keys, key)
        if any(known) and (found := _first(inner, ours, (*keys, key))) is not None:
            return found
    return None


def _entries(value: Any) -> list[Any]:
    """The entries below a value: the innermost members of lists, else the value itself."""
    if type(value) is list:
        return [entry for item in value for entry in _entries(item)]
    below = [entry for _, inner in _inside(value) if _holds_list(inner) for entry in _entries(inner)]
    return below or [value]


def _holds_list(value: Any) -> bool:
    """Whether there is a list of objects in a value: what has none is a part of an entry, not above one."""
    if type(value) is list:
        return any(type(item) is dict for item in value)
    return any(_holds_list(inner) for _, inner in _inside(value))


def _runs_only(entry: Any, ours: Callable[[str], bool]) -> bool:
    """Whether an entry runs something, and all that it runs is ours."""
    commands = [command for _, command in _places(entry, ())]
    return bool(commands) and all(map(ours, commands))


def _is_entry(holder: Any, inner: Any) -> bool:
    """Items of lists are entries and groups; a member of an object is one if it has a command itself."""
    return type(holder) is list or (type(inner) is dict and not COMMAND_KEYS.isdisjoint(inner))


def _inside(value: Any) -> list[tuple[Any, Any]]:
    if type(value) is dict:
        return list(value.items())
    return list(enumerate(value)) if type(value) is list else []
