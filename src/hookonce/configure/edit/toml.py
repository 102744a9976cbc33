"""Byte-preserving editor of TOML files that belong to others, with the promises of the editor of JSON."""

import re
from collections.abc import Callable
from copy import deepcopy
from datetime import date, time
from tomllib import TOMLDecodeError, loads
from typing import Any, NamedTuple

from hookonce.base.files import BOM, FileEditError, FileSyntaxError, check_utf8, raise_syntax_error
from hookonce.configure.edit import brackets
from hookonce.configure.edit.brackets import LINE_MASK, Brackets, JsonStyle, SourceText, Span, TextEdit
from hookonce.configure.edit.key_path import DocumentPath, format_path, require_name, value_at_path

_TOKEN = re.compile(
    rb"""(?s)\"{3}(?:[^\\]|\\.)*?\"{3}(?:"{0,2})|'{3}.*?'{3}(?:'{0,2})|"(?:[^"\\]|\\.)*+"|'[^']*+'|#[^\r\n]*"""
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = str.maketrans(
    {chr(code): f"\\u{code:04x}" for code in (*range(0x20), 0x7F)}
    | {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}
)
_ERROR_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlLine(NamedTuple):
    """One assignment, over as many lines as it takes; `end` lies behind the line break, `value` is a span."""

    start: int
    end: int
    keys: DocumentPath
    value: Span


class TomlSection(NamedTuple):
    """A table header and its lines; `end` lies behind the last of them, before comments that follow."""

    start: int
    end: int
    keys: DocumentPath
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
        return SourceText(self.text, self.plain, JsonStyle(brackets.newline_of(self.text)))

    def find_line(self, keys: DocumentPath) -> tuple[TomlSection, TomlLine] | None:
        """The section and line that give a path its value."""
        pairs = ((section, line) for section in self.sections for line in section.lines)
        return next(((owner, line) for owner, line in pairs if owner.keys + line.keys == keys), None)

    def sections_within(self, keys: DocumentPath) -> list[TomlSection]:
        """The sections of a table or entry, and of all tables inside it."""
        return [section for section in self.sections[1:] if section.keys[: len(keys)] == keys]

    def brackets_at(self, span: Span) -> Brackets | None:
        """An array that is written out in brackets."""
        if self.plain[span[0] : span[0] + 1] != b"[":
            return None
        inner = span[0] + 1, span[1] - 1
        return Brackets(*inner, brackets.item_spans(self.plain, *inner), array=True, stays=True)


def parse_toml(text: bytes) -> TomlDocument:
    """Parse a file; FileSyntaxError has line and column."""
    body = text.removeprefix(BOM)
    check_utf8("TOML", body)
    value = _load_toml(body)
    # Comments are masked, strings become a word without brackets, commas or line breaks.
    plain = _TOKEN.sub(lambda match: (LINE_MASK if match[0].startswith(b"#") else b"s") * len(match[0]), body)
    return TomlDocument(text[: len(text) - len(body)], body, plain, value, _split_sections(body, plain))


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


def _split_sections(text: bytes, plain: bytes) -> list[TomlSection]:
    sections, counts = [TomlSection(0, 0, (), [])], dict[DocumentPath, int]()
    for start, stop in brackets.split_spans(plain, b"\n", 0, len(plain)):
        first, last = brackets.trim_span(plain, start, stop)
        end = min(stop + 1, len(plain))
        if first == last:
            continue
        if plain[first : first + 1] == b"[":
            array = plain.startswith(b"[[", first)
            keys = _index_entries(_parse_keys(text[first:last]), counts, array=array)
            sections.append(TomlSection(start, end, keys, [], array))
        else:
            equals = plain.index(b"=", start)
            keys, value = _parse_keys(text[start:equals] + b"= 0"), brackets.trim_span(plain, equals + 1, end)
            sections[-1].lines.append(TomlLine(start, end, keys, value))
            sections[-1] = sections[-1]._replace(end=end)
    return sections


def _parse_keys(text: bytes) -> DocumentPath:
    node, keys = loads(text.strip().decode()), list[str]()
    while node and isinstance(node, dict):
        key, inner = next(iter(node.items()))
        keys.append(key)
        node = inner[0] if isinstance(inner, list) else inner
    return tuple(keys)


def _index_entries(keys: DocumentPath, counts: dict[DocumentPath, int], *, array: bool) -> DocumentPath:
    """The keys of a header, with the index of every entry that it belongs to."""
    path: DocumentPath = ()
    for depth, key in enumerate(keys, 1):
        path += (key,)
        if array and depth == len(keys):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path += (counts[path],)
    return path


def _render_table(keys: DocumentPath, value: dict[str, Any], *, array: bool = False) -> str:
    """A table under its header, and the tables inside it under theirs; lines end in LF but for the last."""
    lines = [_render_header(keys, array=array)]
    lines += [render_assignment(name, inner) for name, inner in value.items() if not _header_tables(inner)]
    for name, inner in value.items():
        for table in _header_tables(inner):
            lines += ["", _render_table((*keys, name), table, array=isinstance(inner, list))]
    return "\n".join(lines)


def _render_header(keys: DocumentPath, *, array: bool = False) -> str:
    header = f"[{'.'.join(_render_key(key) for key in keys if isinstance(key, str))}]"
    return f"[{header}]" if array else header


def _header_tables(value: Any) -> list[dict[str, Any]]:
    """The tables that deserve a header: a table, or each entry of an array of nothing but tables."""
    if isinstance(value, list):
        return value if all(isinstance(inner, dict) for inner in value) else []
    return [value] if isinstance(value, dict) else []


def render_assignment(name: str, value: Any) -> str:
    """Render `key = value`."""
    return f"{_render_key(name)} = {render_value(value)}"


def _render_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _render_string(name)


def _render_string(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def render_value(value: Any) -> str:
    """Render a value in one line."""
    if isinstance(value, dict):
        inner = ", ".join(render_assignment(name, member) for name, member in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(render_value, value))}]"
    if value is None:
        raise FileEditError("TOML has no null value")
    if isinstance(value, str):
        return _render_string(value)
    if isinstance(value, date | time):
        return value.isoformat().replace("+00:00", "Z")
    return str(value).lower()  # a truth value, or a number


_BLANK_LINE = re.compile(rb"(?:\A|(?<=\n))\r?\n\Z")
_LINE_END = re.compile(rb"\r?\n\Z")
_LINE_ENDS = re.compile(rb"\r?\n(?:\r?\n)?\Z")
# Comments right behind a table belong to it when nothing follows them directly.
_TABLE_COMMENTS = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))+(?=[ \t]*\r?(?:\n|\Z))")


def value_at(text: bytes, keys: DocumentPath, default: Any = None) -> Any:
    """The value at a path."""
    return value_at_path(parse_toml(text).value, keys, default)


def insert_item(text: bytes, keys: DocumentPath, value: Any) -> bytes:
    """Append an entry to the array at a path: as `[[table]]`, or in brackets where the array has them."""
    document = parse_toml(text)
    assignment = document.find_line(keys)
    container = document.brackets_at(assignment[1].value) if assignment else None
    if container:
        edits = brackets.edits_to_append(
            document.source, container, lambda _indent, _compact: render_value(value).encode()
        )
    elif isinstance(value, dict):
        edits = [_insert_tables(document, keys, _render_table(keys, value, array=True))]
    else:
        raise FileEditError(f"{format_path(keys)} is missing, and only a table can begin it")
    outer, name = keys[:-1], keys[-1]
    return _apply(document, edits, keys, lambda whole: _ensure_table(whole, outer).setdefault(name, []).append(value))


def set_value(text: bytes, keys: DocumentPath, value: Any) -> bytes:
    """Replace the value at a path, or make it there: a table under a header, other values in their table."""
    document = parse_toml(text)
    outer, name, assignment = keys[:-1], require_name(keys[-1]), document.find_line(keys)
    sections = [section for section in document.sections if section.keys == outer]
    if assignment:
        edit = (*assignment[1].value, render_value(value).encode())
    elif isinstance(value, dict):
        edit = _insert_tables(document, keys, _render_table(keys, value))
    elif sections:
        edit = _insert_line(document, sections[0], render_assignment(name, value))
    else:
        edit = _insert_tables(document, outer, f"{_render_header(outer)}\n{render_assignment(name, value)}")
    return _apply(document, [edit], keys, lambda whole: _ensure_table(whole, outer).update({name: value}))


def remove_path(text: bytes, keys: DocumentPath) -> bytes:
    """Remove an entry of an array, a key with the table that was made for it, or a whole table."""
    document, last = parse_toml(text), keys[-1]
    assignment = document.find_line(keys[:-1] if isinstance(last, int) else keys)
    if assignment is None:
        return _remove_tables(document, keys)
    section, line = assignment
    if isinstance(last, int):
        container = document.brackets_at(line.value)
        if container is None or not 0 <= last < len(container.items):
            return _remove_tables(document, keys)
        edits = brackets.edits_to_remove(document.source, container, last) or []
    elif len(section.lines) == 1 and section.keys and not section.array and not _has_other_content(document, section):
        edits = [_delete_span(document, section.start, section.end)]
    else:
        edits = [_delete_line(document, line)]
    return _apply_removal(document, edits, keys)


def _insert_tables(document: TomlDocument, path: DocumentPath, table_text: str) -> TextEdit:
    """New tables: behind their siblings, behind what they belong to, or at the end; after an empty line."""
    entry = max((depth for depth, key in enumerate(path, 1) if isinstance(key, int)), default=0)
    siblings = document.sections_within(path) or (document.sections_within(path[:entry]) if entry else [])
    offset, newline = len(document.text), document.source.style.newline
    if siblings:
        end = max(section.end for section in siblings)
        offset = comments.end() if (comments := _TABLE_COMMENTS.match(document.text, end)) else end
    text = table_text.encode().replace(b"\n", newline)
    if not document.text:
        return offset, offset, text + newline
    if document.text[:offset].endswith(b"\n"):
        return offset, offset, newline + text + newline
    return offset, offset, newline * 2 + text


def _insert_line(document: TomlDocument, section: TomlSection, assignment: str) -> TextEdit:
    """One more line; a space behind the first one under a header says that the header was there before."""
    offset, newline = section.end, document.source.style.newline
    last = document.text[section.lines[-1].start if section.lines else section.start :]
    new = last[: len(last) - len(last.lstrip(b" \t"))] + assignment.encode()
    new += b" " if section.keys and not section.lines else b""
    if offset and not document.text[:offset].endswith(b"\n"):
        return offset, offset, newline + new
    return offset, offset, new + newline


def _has_other_content(document: TomlDocument, section: TomlSection) -> bool:
    """Whether a section with one line has more to it: the mark of a header that was there before, or comments."""
    line = section.lines[0]
    has_mark = document.text[line.start : line.end].rstrip(b"\r\n").endswith(b" ")
    return has_mark or LINE_MASK in document.plain[section.start : line.start]


def _delete_line(document: TomlDocument, line: TomlLine) -> TextEdit:
    """A line goes with its line break; the last one of a file that ends without, with the break before it."""
    last = line.end == len(document.text) and not document.text.endswith(b"\n")
    break_before = _LINE_END.search(document.text[: line.start]) if last else None
    return break_before.start() if break_before else line.start, line.end, b""


def _remove_tables(document: TomlDocument, path: DocumentPath) -> bytes:
    spans = list[tuple[int, int]]()
    for section in document.sections_within(path):
        if spans and not document.text[spans[-1][1] : section.start].strip():
            spans[-1] = spans[-1][0], section.end
        else:
            spans.append((section.start, section.end))
    if not spans:
        raise FileEditError(f"there is nothing at {format_path(path)} to remove")
    return _apply_removal(document, [_delete_span(document, *span) for span in spans], path)


def _delete_span(document: TomlDocument, start: int, end: int) -> TextEdit:
    """A span of whole tables goes with the empty line before it, and with the line end that only it needed."""
    last = end == len(document.text) and not document.text.endswith(b"\n")
    before = (_LINE_ENDS if last else _BLANK_LINE).search(document.text[:start])
    return before.start() if before else start, end, b""


def _apply(document: TomlDocument, edits: list[TextEdit], keys: DocumentPath, change: Callable[[Any], Any]) -> bytes:
    """The new bytes, once they are known to parse as what was meant; under a table in braces they often do not."""
    new = brackets.apply_edits(document.text, edits)
    whole = deepcopy(document.value)
    try:
        change(whole)
        fits = _without_empty(parse_toml(new).value) == _without_empty(whole)
    except (FileEditError, KeyError, IndexError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise FileEditError(f"{format_path(keys)} cannot be changed without rewriting the value around it")
    return document.bom + new


def _ensure_table(whole: Any, keys: DocumentPath) -> Any:
    for key in keys:
        whole = whole.setdefault(key, {}) if isinstance(whole, dict) else whole[key]
    return whole


def _apply_removal(document: TomlDocument, edits: list[TextEdit], keys: DocumentPath) -> bytes:
    return _apply(document, edits, keys, lambda whole: value_at_path(whole, keys[:-1]).pop(keys[-1]))


def _without_empty(value: Any) -> Any:
    """Without empty tables and arrays, which come and go with their headers; NaN equals itself."""
    if isinstance(value, dict):
        inner = {key: _without_empty(member) for key, member in value.items()}
        return {key: member for key, member in inner.items() if member not in ({}, [])}
    if isinstance(value, list):
        return [_without_empty(member) for member in value]
    return "nan" if value != value else value  # noqa: PLR0124
