"""Tables for terminals and pipes, complete (`print_table`) or streaming (`StreamingTable`).

A complete table is fitted to the terminal by rich; a streaming one is printed in batches, for endless lists.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from io import BytesIO, TextIOWrapper
from itertools import chain, repeat
from shutil import get_terminal_size
from typing import Any

from hookonce.base.terminal_streams import unescaped_stream
from hookonce.base.terminal_text import escape_unprintable

_DEFAULT_WIDTH_CHARS = 160
_MAX_WIDTH_CHARS = 10_000
_MIN_LAST_COLUMN_CHARS = 12  # characters that the last column has room for
_EDGE_CHARS = 2  # characters at both ends of a table's lines
_MAX_LIST_ROWS = {True: 15, False: 31}  # rows of a list that may be long: on a terminal, and elsewhere a month


def single_line_cell(text: str) -> Any:
    """A cell that stays on one line."""
    from rich.text import Text

    return Text(escape_unprintable(text), no_wrap=True, overflow="ellipsis")


def max_list_rows() -> int:
    """How many rows of a long list are shown: fewer on a terminal."""
    return _MAX_LIST_ROWS[sys.stdout.isatty()]


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: slice = slice(0), styles: Iterable[str] = ()
) -> None:
    """Print a table, with `right` columns aligned there, rows in their styles, and no markup in any cell."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    rich_table = Table(*map(escape_unprintable, columns), box=SIMPLE_HEAD, pad_edge=False)
    for row, style in zip(rows, chain(styles, repeat(None)), strict=False):
        rich_table.add_row(*(escape_unprintable(cell) if type(cell) is str else cell for cell in row), style=style)
    for column in rich_table.columns[:-1]:
        column.no_wrap = True
    for column in rich_table.columns[right]:
        column.justify = "right"
    rich_table.columns[-1].overflow = "fold"  # nothing is cut off
    buffer = BytesIO()  # rich itself would leave with exit code 1 where the reader has seen enough
    file = TextIOWrapper(buffer, encoding=sys.stdout.encoding, errors="backslashreplace", newline="\n")
    is_terminal = sys.stdout.isatty()
    width = None if is_terminal else _DEFAULT_WIDTH_CHARS
    console = Console(
        file=file, force_terminal=is_terminal, width=width, highlight=False, markup=False, emoji=False, safe_box=True
    )
    table_width = console.measure(rich_table, options=console.options.update(max_width=_MAX_WIDTH_CHARS)).maximum
    if table_width > console.width:
        console.width = _fit_width(rich_table, console.width)
    console.print(rich_table)
    file.flush()
    lines = [line.rstrip() for line in buffer.getvalue().decode(file.encoding).split("\n")]
    print("\n".join(lines).strip("\n"), file=unescaped_stream(sys.stdout))


def _fit_width(rich_table: Any, available_width: int) -> int:
    """Let titles go over several lines, then cells, closer together; the last column has what is left; how wide it is.

    A terminal that is narrower still breaks the lines itself: that is no beauty, but nothing is lost.
    """
    *other_columns, last = rich_table.columns
    min_width: int = min(_MIN_LAST_COLUMN_CHARS, max(map(_longest_word, (last.header, *last.cells)), default=1))
    remaining_width = 0
    for space, measure in ((1, _cell_width), (0, _cell_width), (1, _longest_word), (0, _longest_word)):
        rich_table.padding = (0, space)
        for column in other_columns:
            column.no_wrap, column.width = False, max(_longest_word(column.header), *map(measure, column.cells), 1)
        used_width = sum(column.width + 1 + 2 * space for column in other_columns)
        remaining_width = available_width - _EDGE_CHARS - used_width
        if remaining_width >= min_width:
            break
    last.width = max(remaining_width, min_width, 1)
    return int(available_width - remaining_width + last.width)


def _longest_word(cell: Any) -> int:
    return max(map(_cell_width, str(cell).split()), default=0)


def _cell_width(cell: Any) -> int:
    from rich.cells import cell_len

    return cell_len(str(cell))


_BATCH_ROWS = 200  # rows that are looked at together
_MAX_COLUMN_CHARS = 60  # of a column; a cell that is wider does not push all others aside
_COLUMN_GAP = "  "
_INDENT = "    "  # before what stands below


class StreamingTable:
    """Table printed while its rows arrive, cut at the terminal's edge; with `keep_all` the rest stands below."""

    def __init__(self, *columns: str, keep_all: bool = False) -> None:
        """Nothing is printed before the first row."""
        self._keeps_all = keep_all
        self._pending: list[tuple[tuple[str, ...], bool]] = []
        self._columns = tuple(map(escape_unprintable, columns))
        self._widths = [0] * len(columns)
        self._is_terminal = sys.stdout.isatty()
        self.row_count = 0

    def add_row(self, *cells: str, is_alarm: bool = False) -> None:
        """Add a row; an alarm is red where there are colours."""
        if not self.row_count:
            self._pending.append((self._columns, False))
        self.row_count += 1
        self._pending.append((tuple(escape_unprintable(" ".join(cell.split())) for cell in cells), is_alarm))
        if len(self._pending) > _BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Print the pending rows in aligned columns."""
        for index in range(len(self._widths)):
            widths = (min(_cell_width(cells[index]), _MAX_COLUMN_CHARS) for cells, _ in self._pending)
            self._widths[index] = max((self._widths[index], *widths))
        for cells, is_alarm in self._pending:
            self._print_row(cells, is_alarm=is_alarm)
        self._pending.clear()

    def _print_row(self, cells: tuple[str, ...], *, is_alarm: bool) -> None:
        from rich.cells import set_cell_size

        pairs = zip(cells, self._widths, strict=True)
        padded_cells = [set_cell_size(cell, max(width, _cell_width(cell))) for cell, width in pairs]
        line = _COLUMN_GAP.join(padded_cells).rstrip()
        terminal_width = get_terminal_size().columns
        if self._is_terminal and self._keeps_all:
            line = _wrap_cells(padded_cells, terminal_width)
        elif self._is_terminal and _cell_width(line) > terminal_width:
            line = f"{set_cell_size(line, max(terminal_width - 1, 0))}…"
        has_colour = is_alarm and self._is_terminal and not os.environ.get("NO_COLOR")
        print(f"\033[31m{line}\033[0m" if has_colour else line, file=unescaped_stream(sys.stdout))


def _wrap_cells(cells: list[str], terminal_width: int) -> str:
    lines = [cells[0]]
    for cell in cells[1:]:
        longer = f"{lines[-1]}{_COLUMN_GAP}{cell}"
        if _cell_width(longer) <= terminal_width:
            lines[-1] = longer
        else:
            lines.append(f"{_INDENT}{cell}")
    return "\n".join(line.rstrip() for line in lines if line.strip())
