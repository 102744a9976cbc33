"""Texts for a terminal and for CSV: escaping of what comes from others, counts with their nouns.

Printable is what Unicode calls so: control characters (C0, C1), direction marks, invisible and unassigned characters
are shown as their escapes.
"""

from typing import Any

_FORMULA_STARTS = tuple("=+-@＝＋－＠|%")  # with which a cell is a formula, or a command, to some spreadsheet


def escape_unprintable(text: str) -> str:
    """Escape a text to one line, with nothing in it that a terminal would obey or hide."""
    return text if text.isprintable() else "".join(map(_escape_char, text))


def _escape_char(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def escape_line(text: str) -> str:
    """Escape what is written as one line: its tabs and the line ends around it stay, those inside are escaped."""
    if text.isprintable() or not (line := text.strip("\n")):
        return text
    before, _, after = text.partition(line)
    return before + "".join(char if char == "\t" else _escape_char(char) for char in line) + after


def escape_data(text: str) -> str:
    """Escape a document for a terminal, line by line; JSON stays the same JSON."""
    return "".join(char if char.isprintable() or char in "\n\t" else _escape_json_char(char) for char in text)


def _escape_json_char(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def escape_csv_cell(value: Any) -> Any:
    """Escape a cell of CSV: one line, and no formula to a spreadsheet; numbers stay numbers."""
    if type(value) is not str:
        return value
    text = escape_unprintable(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA_STARTS) else text


def pluralize(count: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
