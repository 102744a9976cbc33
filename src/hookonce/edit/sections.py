"""Byte-preserving editor of TOML files that belong to others.

The same promises as for JSON: what an edit does not touch keeps its bytes, comments included, and removing what
was added gives back the file as it was. tomllib reads the file; tomlkit writes the new values, but does not
touch the rest: it would put an entry below the comment that heads the next table. Each result is parsed again,
and refused where it does not say what it should, as under a table that is written in braces.
"""

import re
from tomllib import TOMLDecodeError, loads
from typing import Any, NamedTuple

from hookonce.edit.box import Brackets, SourceText
from hookonce.edit.refusal import BOM, FileSyntaxError, FileEditError, raise_syntax_error, check_utf8
from hookonce.edit.span import LINE_MASK, Span, trim_span, item_spans, split_spans
from hookonce.edit.style import JsonStyle, newline_of

TomlPath = tuple[str | int, ...]

_TOKEN = re.compile(
    rb'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:[^"\\]|\\.)*+"|\'[^\']*+\'|#[^\r\n]*',
    re.DOTALL,
)
_ERROR_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlLine(NamedTuple):
    """One assignment, over as many lines as it takes; `end` lies behind the line break, `value` is a span."""

    start: int
    end: int
    keys: TomlPath
    value: Span


class TomlSection(NamedTuple):
    """A table header and its lines; `end` lies behind the last of them, before comments that follow."""

    start: int
    end: int
    keys: TomlPath
    lines: list[TomlLine]
    array: bool = False


class TomlDocument(NamedTuple):
    """A parsed file; `text` is without byte order mark. The first section is what comes before any header."""

    bom: bytes
    text: bytes
    plain: bytes
    value: dict[str, Any]
    sections: list[TomlSection]

    @property
    def source(self) -> SourceText:
        """The text with masks and style, as the edits of arrays need it."""
        return SourceText(self.text, self.plain, JsonStyle(newline_of(self.text)))

    def find_line(self, keys: TomlPath) -> tuple[TomlSection, TomlLine] | None:
        """The section and line that give a path its value."""
        pairs = ((section, line) for section in self.sections for line in section.lines)
        return next(((owner, line) for owner, line in pairs if owner.keys + line.keys == keys), None)

    def sections_within(self, keys: TomlPath) -> list[TomlSection]:
        """The sections of a table or entry, and of all tables inside it."""
        return [section for section in self.sections[1:] if section.keys[: len(keys)] == keys]

    def brackets_at(self, span: Span) -> Brackets | None:
        """An array that is written out in brackets."""
        if self.plain[span[0] : span[0] + 1] != b"[":
            return None
        inner = span[0] + 1, span[1] - 1
        return Brackets(*inner, item_spans(self.plain, *inner), array=True, stays=True)


def parse_toml(text: bytes) -> TomlDocument:
    """Parse a file; FileSyntaxError has line and column."""
    bom = BOM if text.startswith(BOM) else b""
    body = text.removeprefix(BOM)
    check_utf8("TOML", body)
    value = _load_toml(body)
    plain = _TOKEN.sub(_mask_token, body)
    return TomlDocument(bom, body, plain, value, _split_sections(body, plain))


def _load_toml(body: bytes) -> dict[str, Any]:
    try:
        return loads(body.decode())
    except RecursionError:
        raise FileEditError("too deeply nested to be read") from None
    except TOMLDecodeError as error:
        reason, position = _ERROR_POSITION.sub("", str(error)), _ERROR_POSITION.search(str(error))
        if position is None or position[1] is None:
            raise_syntax_error("TOML", reason[0].lower() + reason[1:], body, len(body))
        raise FileSyntaxError("TOML", reason[0].lower() + reason[1:], int(position[1]), int(position[2])) from None


def _mask_token(match: re.Match[bytes]) -> bytes:
    """Comments are masked, strings become a word without brackets, commas or line breaks."""
    return (LINE_MASK if match[0].startswith(b"#") else b"s") * len(match[0])


def _split_sections(text: bytes, plain: bytes) -> list[TomlSection]:
    sections, counts = [TomlSection(0, 0, (), [])], dict[TomlPath, int]()
    for start, stop in split_spans(plain, b"\n", 0, len(plain)):
        first, last = trim_span(plain, start, stop)
        end = min(stop + 1, len(plain))
        if first == last:
            continue
        if plain[first : first + 1] == b"[":
            keys = _index_entries(_parse_keys(text[first:last]), counts, array=(array := plain.startswith(b"[[", first)))
            sections.append(TomlSection(start, end, keys, [], array))
        else:
            sections[-1].lines.append(_parse_line(text, plain, start, end))
            sections[-1] = sections[-1]._replace(end=end)
    return sections


def _parse_line(text: bytes, plain: bytes, start: int, end: int) -> TomlLine:
    equals = plain.index(b"=", start)
    return TomlLine(start, end, _parse_keys(text[start:equals] + b"= 0"), trim_span(plain, equals + 1, end))


def _parse_keys(text: bytes) -> tuple[str, ...]:
    node, keys = loads(text.strip().decode()), list[str]()
    while node and isinstance(node, dict):
        key, inner = next(iter(node.items()))
        keys.append(key)
        node = inner[0] if isinstance(inner, list) else inner
    return tuple(keys)


def _index_entries(keys: tuple[str, ...], counts: dict[TomlPath, int], *, array: bool) -> TomlPath:
    """The keys of a header, with the index of every entry that it belongs to."""
    path: TomlPath = ()
    for depth, key in enumerate(keys, 1):
        path += (key,)
        if array and depth == len(keys):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path += (counts[path],)
    return path
