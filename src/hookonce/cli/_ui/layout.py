"""Layout of a table in a width: words wrap, the middle of paths is left out, columns go in the order of their worth."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

ELLIPSIS = "…"
GAP = "  "
_CONTINUATION_MARK = "┊"
_MAX_WORD_CHARS = 24  # of a word that a column makes room for; a longer one goes over several lines
_MIN_CHARS = {"words": 1, "path": 16, "name": 13, "line": 8}  # below which a column of that shape does not go

Shape = Literal["words", "path", "name", "line"]


class Column(NamedTuple):
    """Column of a table, and what becomes of its cells where they have no room.

    Words wrap, a path loses its middle, of a name the beginning stays, a line is cut off. A column with a `worth` goes
    where all others are as narrow as they can be, the one of the least worth first; one that `leads` is then written
    before the last column. With `max_lines` a cell of words is cut off after so many.
    """

    title: str
    worth: int | None = None
    shape: Shape = "words"
    right: bool = False
    min_chars: int | None = None
    max_lines: int | None = None
    leads: bool = False


class ColumnSize(NamedTuple):
    """Widths that the cells of a column would like to have, and need for their longest word."""

    cell: int = 0
    word: int = 0


class Layout(NamedTuple):
    """The columns that have room, by their index, and how wide each is."""

    widths: dict[int, int]

    def dropped_titles(self, columns: Sequence[Column]) -> list[str]:
        """Titles of the columns that have no room, and whose cells stand nowhere else."""
        absent_columns = (column for index, column in enumerate(columns) if index not in self.widths)
        return [column.title for column in absent_columns if not column.leads]


def text_width(text: str) -> int:
    """How many characters of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def measure_cells(cells: Iterable[str], size: ColumnSize = ColumnSize()) -> ColumnSize:  # noqa: B008  it is frozen
    """The size of a column with these cells more."""
    cell_chars, word_chars = size
    for cell in cells:
        cell_chars = max(cell_chars, text_width(cell))
        word_chars = max(word_chars, _longest_word(cell))
    return ColumnSize(cell_chars, word_chars)


def fit_columns(columns: Sequence[Column], sizes: Sequence[ColumnSize], width: int) -> Layout:
    """Fit a table to a width; where nothing more can go it is wider, and the terminal breaks its lines."""
    indexes = list(range(len(columns)))
    while True:
        widths = _shrink_columns([(columns[index], sizes[index]) for index in indexes], width)
        droppable = [index for index in indexes if columns[index].worth is not None]
        if _table_width(widths) <= width or not droppable:
            return Layout(dict(zip(indexes, widths, strict=True)))
        indexes.remove(min(droppable, key=lambda index: columns[index].worth or 0))


def _shrink_columns(pairs: list[tuple[Column, ColumnSize]], width: int) -> list[int]:
    for measure_title in (text_width, _longest_word):
        widths = [max(measure_title(column.title), size.cell, 1) for column, size in pairs]
        if _table_width(widths) <= width:
            return widths
    least = [min(widths[at], _min_width(*pair)) for at, pair in enumerate(pairs)]
    for _ in range(_table_width(widths) - width):  # names give first, of which the beginning is enough, then the widest
        at = max(range(len(widths)), key=lambda at: (widths[at] > least[at], pairs[at][0].shape == "name", widths[at]))
        widths[at] = max(widths[at] - 1, least[at])
    return widths


def _min_width(column: Column, size: ColumnSize) -> int:
    if column.right:
        return max(size.cell, _longest_word(column.title))
    word = min(size.word, _MAX_WORD_CHARS) if column.shape == "words" and column.min_chars is None else 0
    return max(column.min_chars or _MIN_CHARS[column.shape], word, _longest_word(column.title))


def _table_width(widths: list[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _longest_word(text: str) -> int:
    return max(map(text_width, text.split()), default=0)


def format_row(cells: Sequence[str], columns: Sequence[Column], layout: Layout) -> list[str]:
    """The lines of a row."""
    row = list(cells)
    for index, column in enumerate(columns):
        if index not in layout.widths and column.leads and row[index]:
            row[-1] = f"{row[index]}: {row[-1]}" if row[-1] else row[index]
    blocks = [_fit_cell(row[index], columns[index], width) for index, width in layout.widths.items()]
    lines = []
    for number in range(max(map(len, blocks))):
        parts = [
            pad_cell(block[number] if number < len(block) else "", width, right=columns[index].right)
            for block, (index, width) in zip(blocks, layout.widths.items(), strict=True)
        ]
        lines.append(GAP.join(parts).rstrip())
    return lines


def format_titles(columns: Sequence[Column], layout: Layout) -> list[str]:
    """The lines of a table's head."""
    plain_columns = [Column(column.title, right=column.right) for column in columns]
    return format_row([column.title for column in columns], plain_columns, layout)


def pad_cell(text: str, width: int, *, right: bool) -> str:
    """A cell with blanks up to a width; one that is wider stays as it is."""
    blanks = " " * (width - text_width(text))
    return blanks + text if right else text + blanks


def _fit_cell(text: str, column: Column, width: int) -> list[str]:
    if text_width(text) <= width:
        return [text]
    if column.shape == "path":
        return [shorten_path(text, width)]
    if column.shape == "words":
        return wrap_words(text, width, column.max_lines)
    mark = ELLIPSIS if column.shape == "line" else ""
    return [_cut(text, width - len(mark)) + mark]


def _cut(text: str, width: int) -> str:
    """As much of the beginning of a text as fits."""
    if text.isascii():
        return text[: max(width, 0)]
    count = total = 0
    for char in text:
        total += text_width(char)
        if total > width:
            break
        count += 1
    return text[:count]


def wrap_words(text: str, width: int, max_lines: int | None = None, *, folds: bool = True) -> list[str]:
    """Wrap a text at words. One that is too long goes on in the next line, or with `max_lines` loses its middle.

    Unless it `folds`: then it stays whole, so that it can be copied, and is wider.
    """
    lines = [""]
    for word in text.split():
        rest = word
        if max_lines is not None and rest.count("/") > 1 and text_width(rest) > width:
            rest = shorten_path(rest, width)
        if lines[-1] and text_width(lines[-1]) + 1 + text_width(rest) <= width:
            lines[-1] += f" {rest}"
            continue
        if lines[-1]:
            lines.append("")
            rest = _mark_forgery(rest)
        while folds and text_width(rest) > width:
            piece = _cut(rest, width) or rest[0]
            lines[-1], rest = piece, rest[len(piece) :]
            lines.append("")
        lines[-1] = rest
    lines = lines if lines[-1] or len(lines) == 1 else lines[:-1]
    if max_lines is not None and len(lines) > max_lines:
        lines = [*lines[: max_lines - 1], _cut(lines[max_lines - 1], width - 1) + ELLIPSIS]
    return lines


def _mark_forgery(word: str) -> str:
    """Mark a word with which a line of ours could begin: who writes a text knows where it is wrapped."""
    is_forgery = word.endswith(":") or word.lower() == "nothing"
    return f"{_CONTINUATION_MARK}{word}" if is_forgery else word


def shorten_path(text: str, width: int) -> str:
    """A path without its middle: folders go before the file's name, and the nearest one to it last."""
    if text_width(text) <= width:
        return text
    first, *folders, name = text.split("/") if "/" in text else ("", text)
    if not first and folders:
        first = f"/{folders.pop(0)}"
    for count in range(len(folders), -1, -1):  # of the last folders
        short_path = "/".join([first, ELLIPSIS, *folders[len(folders) - count :], name])
        if text_width(short_path) <= width:
            return short_path
    for short_path in (f"{ELLIPSIS}/{name}", f"{ELLIPSIS}{name}"):
        if text_width(short_path) <= width:
            return short_path
    tail = max((width - 1) // 2, 0)
    return _cut(name, width - 1 - tail) + ELLIPSIS + _cut(name[::-1], tail)[::-1]
