"""Merge of rendered entries into a configuration file that is already there, and their removal, in one batch.

A file may be large, and its entries many. It is parsed once: what no edit of the batch looks at is elided, which
means that placeholders stand for runs of items and for the insides of values; all edits work on the short text, and
at the end the original bytes are put back. An edit looks at line ends and indentation around it and at the style of
the file: where a placeholder would change these, nothing is elided. The search for entries looks at lists of objects
and at commands: a placeholder has them where its original has.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any, NamedTuple

from hookonce.base.invocation import join_arguments, parse_command
from hookonce.configure.edit import jsonc, toml
from hookonce.configure.edit.brackets import Span, TextEdit, apply_edits, trim_span
from hookonce.configure.edit.jsonc import JsoncDocument
from hookonce.configure.edit.key_path import DocumentPath
from hookonce.model import Object

_MISSING = object()
COMMAND_KEYS = frozenset({"command", "bash", "powershell", "windows", "linux", "osx", "commandWindows", "url"})
ARGUMENTS_KEY = "args"  # beside a command that no shell reads
_MIN_ELIDED_BYTES = 500  # less is sooner parsed than elided
_HEAD_ITEMS, _TAIL_ITEMS = 1, 2  # where an edit looks for indentation, and for the space between items
_LINE_BREAK = re.compile(rb"[\r\n]")


def editor_of(path: Path) -> ModuleType:
    """The editor module for a file of this name; whoever writes no TOML writes JSON, with comments or without."""
    return toml if path.suffix == ".toml" else jsonc


def merge_entries(editor: ModuleType, text: bytes, document: Object) -> bytes:
    """Append every list of the document to the file's own, and set what is missing."""
    elision = elide(editor, text, document)
    return elision.restore(_merge_values(editor, elision.text, document))


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
    elision = elide(editor, text, {}, is_own)
    text = elision.text
    while (path := _find_first_entry(editor.value_at(text, ()), is_own, ())) is not None:
        text = editor.remove_path(text, path)
    return elision.restore(text)


def replace_commands(editor: ModuleType, text: bytes, new_command: Callable[[str], str | None]) -> bytes:
    """Replace the commands for which there is a new one."""
    elision = elide(editor, text, {}, lambda command: new_command(command) is not None)
    text = elision.text
    for path, command in list(find_commands(editor.value_at(text, ()))):
        if (replacement := new_command(command)) is not None:
            text = editor.set_value(text, path, replacement)
            if command != editor.value_at(elision.text, path):  # its arguments are in it
                text = editor.remove_path(text, (*path[:-1], ARGUMENTS_KEY))
    return elision.restore(text)


def client_part(value: Any) -> Any:
    """A document with nothing in its lists but the entries that call hookonce: those of others need not be parsed."""
    if type(value) is list:
        return [item for item in value if type(item) in (dict, list) and _has_command(item, parse_command)]
    if type(value) is dict and COMMAND_KEYS.isdisjoint(value):
        return {key: client_part(inner) if type(inner) in (dict, list) else inner for key, inner in value.items()}
    return value


def _has_command(value: Any, is_match: Callable[[str], object]) -> bool:
    for key, inner in _children(value):  # no generators here: large files have very many values
        is_command = key in COMMAND_KEYS and type(inner) is str
        if is_match(_command_line(value, inner)) if is_command else _has_command(inner, is_match):
            return True
    return False


def _command_line(entry: Any, command: str) -> str:
    return join_arguments(command, entry.get(ARGUMENTS_KEY)) if type(entry) is dict else command


def find_commands(value: Any, keys: DocumentPath = ()) -> Iterator[tuple[DocumentPath, str]]:
    """Every command below a value, with its path: texts under the keys that agents have for commands."""
    for key, inner in _children(value):
        if type(inner) is str:
            if key in COMMAND_KEYS:
                yield (*keys, key), _command_line(value, inner)
        elif type(inner) in (dict, list):
            yield from find_commands(inner, (*keys, key))


def _find_first_entry(value: Any, is_own: Callable[[str], bool], keys: DocumentPath) -> DocumentPath | None:
    """The path of the first, and widest, item that holds entries of ours and nobody else's."""
    for key, inner in _children(value):
        below = [[command for _, command in find_commands(entry)] for entry in _entries_below(inner)]
        own_flags = [bool(commands) and all(map(is_own, commands)) for commands in below]
        # Items of lists are entries and groups; a member of an object is one if it has a command itself.
        is_entry = type(value) is list or (type(inner) is dict and not COMMAND_KEYS.isdisjoint(inner))
        if any(own_flags) and all(own_flags) and is_entry:
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
    return any(map(_holds_list, value.values())) if type(value) is dict else False


def _children(value: Any) -> Iterable[tuple[Any, Any]]:
    if type(value) is dict:
        return value.items()
    return enumerate(value) if type(value) is list else ()


class ElidedText(NamedTuple):
    """The text to edit, and the original bytes of each placeholder."""

    text: bytes
    originals: dict[bytes, bytes] = {}  # noqa: RUF012  never changed

    def restore(self, text: bytes) -> bytes:
        """Put the original bytes of all placeholders into the edited text."""
        if not self.originals:
            return text
        return re.sub(b"|".join(map(re.escape, self.originals)), lambda match: self.originals[match[0]], text)


def elide(
    editor: ModuleType, text: bytes, new_document: Object, is_edited: Callable[[str], bool] = lambda _: False
) -> ElidedText:
    """Elide all but the places where a new document is merged in, and the entries whose commands are edited."""
    if editor is not jsonc or len(text) < _MIN_ELIDED_BYTES:
        return ElidedText(text)
    document = jsonc.parse_jsonc(text)
    if type(document.value) is not dict or document.fresh:
        return ElidedText(text)
    token, originals, edits = token_hex(8), dict[bytes, bytes](), list[TextEdit]()
    for span, values, in_array in _find_elidable(document, document.root, document.value, new_document, is_edited):
        placeholder = _placeholder(f'"elided {token} {len(edits)}"', values, in_array=in_array)
        originals[placeholder] = text[slice(*span)]
        edits.append((*span, placeholder))
    short_text = apply_edits(text, edits)
    is_same_style = jsonc.parse_jsonc(short_text).source.style == document.source.style
    return ElidedText(short_text, originals) if is_same_style else ElidedText(text)


def _placeholder(name: str, values: list[Any], *, in_array: bool) -> bytes:
    if in_array and not any(type(value) is dict for value in values):
        return name.encode()
    inner = "{}" if next(find_commands(values), None) is None else '{"command":""}'
    member = f"{name}:[{inner}]" if any(map(_holds_list, values)) else f"{name}:{inner}"
    return f"{{{member}}}".encode() if in_array else member.encode()


def _find_elidable(
    document: JsoncDocument, span: Span, value: Any, new_document: Object, is_edited: Callable[[str], bool]
) -> Iterator[tuple[Span, list[Any], bool]]:
    """The spans that can be elided, with their values, and whether they stand in an array."""
    items, children, in_array = document.brackets_at(span).items, list(_children(value)), type(value) is list
    if len(items) != len(children):
        return  # a key stands twice
    is_touched = [(not in_array and name in new_document) or _has_command(inner, is_edited) for name, inner in children]
    stays = [
        is_touched[index]
        or not _HEAD_ITEMS <= index < len(items) - _TAIL_ITEMS
        or (type(inner) is list if in_array else name in COMMAND_KEYS or name == ARGUMENTS_KEY)
        for index, (name, inner) in enumerate(children)
    ]
    for is_kept, run in groupby(range(len(items)), stays.__getitem__):
        indices = list(run)
        for index in indices if is_kept else ():
            name, inner = children[index]
            inner_span = items[index] if in_array else document.member_value(items[index])
            is_whole = type(inner) not in (dict, list) or (not in_array and name == ARGUMENTS_KEY)
            if is_whole or inner_span[1] - inner_span[0] <= _MIN_ELIDED_BYTES:
                continue
            if not is_touched[index]:
                yield from _find_inside(document, inner_span, inner)
            elif not in_array:
                inner_document = new_document.get(name)
                inner_new = inner_document if type(inner_document) is dict else {}
                yield from _find_elidable(document, inner_span, inner, inner_new, is_edited)
        if not is_kept and _is_run(document, items, indices):
            run_span = items[indices[0]][0], items[indices[-1]][1]
            yield run_span, [children[index][1] for index in indices], in_array


def _is_run(document: JsoncDocument, items: list[Span], indices: list[int]) -> bool:
    """Whether items are long enough to be elided, and all in one line, or in lines of their own."""
    first, last = indices[0], indices[-1]
    start, end = items[first][0], items[last][1]
    if end - start <= _MIN_ELIDED_BYTES:
        return False
    around = document.plain[items[first - 1][1] : start], document.plain[end : items[last + 1][0]]
    return all(map(_LINE_BREAK.search, around)) or not _LINE_BREAK.search(document.text, start, end)


def _find_inside(document: JsoncDocument, span: Span, value: Any) -> Iterator[tuple[Span, list[Any], bool]]:
    """All of a value but its brackets, if it is in one line, or both brackets stand in lines of their own."""
    if type(value) is list and any(type(item) is list for item in value):
        return  # a placeholder does not say that there are lists in a list
    start, end = trim_span(document.mask, span[0] + 1, span[1] - 1)
    frame = document.plain[span[0] : start], document.plain[end : span[1]]
    if start < end and (all(b"\n" in part for part in frame) or not _LINE_BREAK.search(document.text, *span)):
        yield (start, end), value if type(value) is list else [value], type(value) is list
