"""A TOML file as its sections and lines, with offsets; read by tomllib, so what is found here is valid."""

import re
from tomllib import TOMLDecodeError, loads
from typing import Any, NamedTuple

from hookonce.edit.box import Box, Sheet
from hookonce.edit.refusal import BOM, BrokenFile, Refusal, broken, check_utf8
from hookonce.edit.span import LINE, Span, bare, items, split
from hookonce.edit.style import Style, newline_of

Place = tuple[str | int, ...]

_TOKEN = re.compile(
    rb'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:[^"\\]|\\.)*+"|\'[^\']*+\'|#[^\r\n]*',
    re.DOTALL,
)
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class Line(NamedTuple):
    """`key = value`, over as many lines as it takes; `end` lies behind the line break, `value` is a span."""

    start: int
    end: int
    keys: Place
    value: Span


class Section(NamedTuple):
    """A header and its lines; `end` lies behind the last of them, before comments that follow."""

    start: int
    end: int
    keys: Place
    lines: list[Line]
    array: bool = False


class Toml(NamedTuple):
    """One file, read; `text` is without byte order mark. The first section is what comes before any header."""

    bom: bytes
    text: bytes
    plain: bytes
    value: dict[str, Any]
    sections: list[Section]

    @property
    def sheet(self) -> Sheet:
        """What the splicing of arrays needs to know."""
        return Sheet(self.text, self.plain, Style(newline_of(self.text)))

    def line(self, keys: Place) -> tuple[Section, Line] | None:
        """The line that gives these keys a value."""
        every = ((section, line) for section in self.sections for line in section.lines)
        return next(((s, line) for s, line in every if s.keys + line.keys == keys), None)

    def within(self, keys: Place) -> list[Section]:
        """The sections of a table or entry, and of all tables inside it."""
        return [section for section in self.sections[1:] if section.keys[: len(keys)] == keys]

    def box(self, span: Span) -> Box | None:
        """An array that is written out in brackets."""
        if self.plain[span[0] : span[0] + 1] != b"[":
            return None
        inner = span[0] + 1, span[1] - 1
        return Box(*inner, items(self.plain, *inner), array=True, stays=True)


def read(text: bytes) -> Toml:
    """The file, or a refusal with line and column."""
    bom = BOM if text.startswith(BOM) else b""
    body = text.removeprefix(BOM)
    check_utf8("TOML", body)
    value = _load(body)
    plain = _TOKEN.sub(_hidden, body)
    return Toml(bom, body, plain, value, _sections(body, plain))


def _load(body: bytes) -> dict[str, Any]:
    try:
        return loads(body.decode())
    except RecursionError:
        raise Refusal("too deeply nested to be read") from None
    except TOMLDecodeError as error:
        reason, where = _WHERE.sub("", str(error)), _WHERE.search(str(error))
        if where is None or where[1] is None:
            broken("TOML", reason[0].lower() + reason[1:], body, len(body))
        raise BrokenFile("TOML", reason[0].lower() + reason[1:], int(where[1]), int(where[2])) from None


def _hidden(match: re.Match[bytes]) -> bytes:
    """Comments are masked, strings become a word without brackets, commas or line breaks."""
    return (LINE if match[0].startswith(b"#") else b"s") * len(match[0])


def _sections(text: bytes, plain: bytes) -> list[Section]:
    sections, counts = [Section(0, 0, (), [])], dict[Place, int]()
    for start, stop in split(plain, b"\n", 0, len(plain)):
        first, last = bare(plain, start, stop)
        end = min(stop + 1, len(plain))
        if first == last:
            continue
        if plain[first : first + 1] == b"[":
            keys = _counted(_keys(text[first:last]), counts, array=(array := plain.startswith(b"[[", first)))
            sections.append(Section(start, end, keys, [], array))
        else:
            sections[-1].lines.append(_line(text, plain, start, end))
            sections[-1] = sections[-1]._replace(end=end)
    return sections


def _line(text: bytes, plain: bytes, start: int, end: int) -> Line:
    equals = plain.index(b"=", start)
    return Line(start, end, _keys(text[start:equals] + b"= 0"), bare(plain, equals + 1, end))


def _keys(words: bytes) -> tuple[str, ...]:
    found, keys = loads(words.strip().decode()), list[str]()
    while found and isinstance(found, dict):
        key, inner = next(iter(found.items()))
        keys.append(key)
        found = inner[0] if isinstance(inner, list) else inner
    return tuple(keys)


def _counted(keys: tuple[str, ...], counts: dict[Place, int], *, array: bool) -> Place:
    """The keys of a header, with the index of every entry that it belongs to."""
    place: Place = ()
    for depth, key in enumerate(keys, 1):
        place += (key,)
        if array and depth == len(keys):
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place += (counts[place],)
    return place
