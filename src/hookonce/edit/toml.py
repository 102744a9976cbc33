"""Entries in TOML files that belong to others.

The same promises as for JSON: what an edit does not touch keeps its bytes, comments included, and removing what was
added gives back the file as it was. tomlkit writes the new values, but does not touch the rest: it would put an entry
below the comment that heads the next table. Each result is read again, and refused where it does not say what it
should, as under a table that is written in braces.
"""

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hookonce.edit.box import Splice, append, cut, splice
from hookonce.edit.keys import Keys, held, matching, named, shown
from hookonce.edit.refusal import Refusal
from hookonce.edit.sections import Line, Place, Section, Toml, read
from hookonce.edit.span import LINE
from hookonce.edit.table import assignment, block, header, inline

_BLANK_LINE = re.compile(rb"(?:\A|(?<=\n))\r?\n\Z")
_LINE_END = re.compile(rb"\r?\n\Z")
_LINE_ENDS = re.compile(rb"\r?\n(?:\r?\n)?\Z")
# Comments right behind a table belong to it when nothing follows them directly.
_NOTES = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))+(?=[ \t]*\r?(?:\n|\Z))")


def value_at(text: bytes, keys: Keys, default: Any = None) -> Any:
    """What stands at a place."""
    return held(read(text).value, keys, default)


def find(text: bytes, keys: Keys, predicate: Callable[[Any], bool]) -> list[Any]:
    """The indices, or keys, under which the array or table at a place holds what is looked for."""
    return matching(value_at(text, keys), predicate)


def insert_item(text: bytes, keys: Keys, value: Any) -> bytes:
    """Append an entry to the array at a place: as `[[table]]`, or in brackets where the array has them."""
    toml, place = read(text), tuple(keys)
    found = toml.line(place)
    box = toml.box(found[1].value) if found else None
    if box:
        changes = append(toml.sheet, box, lambda _indent, _compact: inline(value).encode())
    elif isinstance(value, dict):
        changes = [_placed(toml, place, block(_names(place), value, array=True))]
    else:
        raise Refusal(f"{shown(keys)} is missing, and only a table can begin it")
    return _checked(toml, changes, keys, lambda whole: _array(whole, keys).append(value))


def remove_item(text: bytes, keys: Keys, index: int) -> bytes:
    """Take an entry out of the array at a place."""
    toml, place = read(text), (*keys, index)
    found = toml.line(tuple(keys))
    box = toml.box(found[1].value) if found else None
    if box and 0 <= index < len(box.items):
        return _checked(toml, cut(toml.sheet, box, index) or [], place, _forget(place))
    return _without(toml, place)


def set_value(text: bytes, keys: Keys, value: Any) -> bytes:
    """Replace the value at a place, or make it there: a table under a header, other values in their table."""
    toml, place = read(text), tuple(keys)
    outer, name, found = place[:-1], named(place[-1]), toml.line(place)
    homes = [section for section in toml.sections if section.keys == outer]
    if found:
        change = (*found[1].value, inline(value).encode())
    elif isinstance(value, dict):
        change = _placed(toml, place, block(_names(place), value))
    elif homes:
        change = _new_line(toml, homes[0], assignment(name, value))
    else:
        change = _placed(toml, outer, f"{header(_names(outer))}\n{assignment(name, value)}")
    return _checked(toml, [change], keys, lambda whole: _table(whole, outer).update({name: value}))


def remove_key(text: bytes, keys: Keys) -> bytes:
    """Take a key out of its table, with the table that was made for it; or a whole table."""
    toml, place = read(text), tuple(keys)
    found = toml.line(place)
    if not found:
        return _without(toml, place)
    section, line = found
    made = len(section.lines) == 1 and section.keys and not section.array and not _kept(toml, section, line)
    change = _gone(toml, section.start, section.end) if made else _line_gone(toml, line)
    return _checked(toml, [change], keys, _forget(place))


def _names(place: Place) -> list[str]:
    return [key for key in place if isinstance(key, str)]


def _placed(toml: Toml, place: Place, new: str) -> Splice:
    """New tables: behind their siblings, behind what they belong to, or at the end; after an empty line."""
    entry = max((depth for depth, key in enumerate(place, 1) if isinstance(key, int)), default=0)
    siblings = toml.within(place) or (toml.within(place[:entry]) if entry else [])
    at = _behind(toml.text, max(section.end for section in siblings)) if siblings else len(toml.text)
    newline = toml.sheet.style.newline
    words = new.encode().replace(b"\n", newline)
    if not toml.text:
        return at, at, words + newline
    if toml.text[:at].endswith(b"\n"):
        return at, at, newline + words + newline
    return at, at, newline * 2 + words


def _behind(text: bytes, end: int) -> int:
    notes = _NOTES.match(text, end)
    return notes.end() if notes else end


def _new_line(toml: Toml, section: Section, words: str) -> Splice:
    """One more line; a space behind the first one under a header says that the header was there before."""
    at, newline = section.end, toml.sheet.style.newline
    last = toml.text[section.lines[-1].start if section.lines else section.start :]
    new = last[: len(last) - len(last.lstrip(b" \t"))] + words.encode()
    new += b" " if section.keys and not section.lines else b""
    if at and not toml.text[:at].endswith(b"\n"):
        return at, at, newline + new
    return at, at, new + newline


def _kept(toml: Toml, section: Section, line: Line) -> bool:
    """Whether a section with one line has more to it."""
    marked = toml.text[line.start : line.end].rstrip(b"\r\n").endswith(b" ")
    return marked or LINE in toml.plain[section.start : line.start]


def _line_gone(toml: Toml, line: Line) -> Splice:
    """A line goes with its line break; the last one of a file that ends without, with the break before it."""
    last = line.end == len(toml.text) and not toml.text.endswith(b"\n")
    break_before = _LINE_END.search(toml.text[: line.start]) if last else None
    return break_before.start() if break_before else line.start, line.end, b""


def _without(toml: Toml, place: Place) -> bytes:
    """The file without a table or entry, and all tables inside it."""
    gone = list[tuple[int, int]]()
    for section in toml.within(place):
        if gone and not toml.text[gone[-1][1] : section.start].strip():
            gone[-1] = gone[-1][0], section.end
        else:
            gone.append((section.start, section.end))
    if not gone:
        raise Refusal(f"there is nothing at {shown(place)} to remove")
    return _checked(toml, [_gone(toml, *span) for span in gone], place, _forget(place))


def _gone(toml: Toml, start: int, end: int) -> Splice:
    """A span of whole tables goes with the empty line before it, and with the line end that only it needed."""
    last = end == len(toml.text) and not toml.text.endswith(b"\n")
    before = (_LINE_ENDS if last else _BLANK_LINE).search(toml.text[:start])
    return before.start() if before else start, end, b""


def _checked(toml: Toml, changes: list[Splice], keys: Keys, meant: Callable[[Any], Any]) -> bytes:
    """The result, once it is known to say what was meant."""
    new = splice(toml.text, changes)
    whole = deepcopy(toml.value)
    try:
        meant(whole)
        fits = _solid(read(new).value) == _solid(whole)
    except (Refusal, KeyError, IndexError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise Refusal(f"{shown(keys)} cannot be changed without rewriting what it stands in")
    return toml.bom + new


def _table(whole: Any, keys: Keys) -> Any:
    for key in keys:
        whole = whole.setdefault(key, {}) if isinstance(whole, dict) else whole[key]
    return whole


def _array(whole: Any, keys: Keys) -> Any:
    return _table(whole, keys[:-1]).setdefault(keys[-1], [])


def _forget(place: Place) -> Callable[[Any], Any]:
    return lambda whole: held(whole, place[:-1]).pop(place[-1])


def _solid(value: Any) -> Any:
    """Without empty tables and arrays, which come and go with their headers; NaN equals itself."""
    if isinstance(value, dict):
        inner = {key: _solid(held) for key, held in value.items()}
        return {key: held for key, held in inner.items() if held not in ({}, [])}
    if isinstance(value, list):
        return [_solid(held) for held in value]
    return "nan" if value != value else value  # noqa: PLR0124
