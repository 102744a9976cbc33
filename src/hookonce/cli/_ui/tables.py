"""Tables for terminals and pipes, complete (`print_table`) or streaming (`StreamingTable`), of one layout.

On a terminal a table is fitted to its width. Elsewhere nothing is left out: a complete table wraps its words, a
streaming one has a line for each row.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from shutil import get_terminal_size

from hookonce.base.terminal_text import escape_unprintable, unescaped_stream
from hookonce.cli._ui.layout import (
    GAP,
    Column,
    ColumnSize,
    Layout,
    fit_columns,
    format_row,
    format_titles,
    measure_cells,
    pad_cell,
    text_width,
    wrap_words,
)

_PIPE_WIDTH_CHARS = 160
_MAX_LIST_ROWS = {True: 15, False: 31}  # rows of a list that may be long: on a terminal, and elsewhere a month
_INDENT = "  "
_BOLD, ALARM = "1", "31"  # styles: parameters of a terminal's sequence


def max_list_rows() -> int:
    """How many rows of a long list are shown: fewer on a terminal."""
    return _MAX_LIST_ROWS[sys.stdout.isatty()]


def terminal_width() -> int:
    """How wide a text may be: as the terminal, else so that nothing is long to read."""
    return get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH_CHARS


def print_table(columns: Sequence[Column | str], rows: Iterable[Sequence[str]], *, styles: Iterable[str] = ()) -> None:
    """Print a table, its rows in their styles, and no markup in any cell."""
    is_terminal = sys.stdout.isatty()
    table_columns = _prepare_columns(columns, is_terminal=is_terminal)
    cells = [tuple(map(escape_unprintable, row)) for row in rows]
    sizes = [measure_cells(row[index] for row in cells) for index in range(len(table_columns))]
    layout = fit_columns(table_columns, sizes, terminal_width())
    for line in format_titles(table_columns, layout):
        _print_line(line, _BOLD)
    _print_line("─" * (sum(layout.widths.values()) + len(GAP) * (len(layout.widths) - 1)))
    for row, style in zip(cells, chain(styles, repeat("")), strict=False):
        for line in format_row(row, table_columns, layout):
            _print_line(line, style)
    _print_dropped(layout.dropped_titles(table_columns))


def _prepare_columns(columns: Sequence[Column | str], *, is_terminal: bool) -> list[Column]:
    """Columns with their titles escaped; where there is no terminal, none goes and nothing of their cells does."""
    all_columns = [Column(column) if isinstance(column, str) else column for column in columns]
    table_columns = [column._replace(title=escape_unprintable(column.title)) for column in all_columns]
    if is_terminal:
        return table_columns
    return [Column(column.title, right=column.right) for column in table_columns]


def _print_dropped(titles: list[str]) -> None:
    if titles:
        print_words(f"columns not shown: {', '.join(titles)} (use a wider terminal, or --json)")


def print_words(text: str, indent: str = "") -> None:
    """Print a sentence behind an indent; on a terminal it is wrapped at words, its further lines set in more."""
    line = escape_unprintable(text)
    if not sys.stdout.isatty() or text_width(indent + line) <= terminal_width():
        print(f"{indent}{text}")
        return
    first, *others = wrap_words(line, terminal_width() - len(indent + _INDENT), folds=False)
    lines = [f"{indent}{first}", *(f"{indent}{_INDENT}{other}" for other in others)]
    print("\n".join(lines), file=unescaped_stream(sys.stdout))


def _print_line(line: str, style: str = "") -> None:
    has_style = style and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    print(f"\033[{style}m{line}\033[0m" if has_style else line, file=unescaped_stream(sys.stdout))


_BATCH_ROWS = 200  # rows that are looked at together
_MAX_COLUMN_CHARS = 60  # of a column in a pipe; a cell that is wider does not push all others aside


class StreamingTable:
    """Table printed while its rows arrive."""

    def __init__(self, *columns: Column | str) -> None:
        """Nothing is printed before the first row."""
        self._is_terminal = sys.stdout.isatty()
        self._columns = _prepare_columns(columns, is_terminal=self._is_terminal)
        self._sizes = [ColumnSize()] * len(columns)
        self._pending: list[tuple[tuple[str, ...] | str, str]] = []
        self._shown_columns: list[int] = []
        self._dropped_titles: list[str] = []
        self.row_count = 0

    def add_row(self, *cells: str, style: str = "") -> None:
        """Add a row, in a style where there are colours."""
        self.row_count += 1
        self._add_pending(tuple(escape_unprintable(" ".join(cell.split())) for cell in cells), style)

    def add_line(self, text: str) -> None:
        """Add a line of text between the rows."""
        self._add_pending(escape_unprintable(text), "")

    def _add_pending(self, content: tuple[str, ...] | str, style: str) -> None:
        self._pending.append((content, style))
        if len(self._pending) >= _BATCH_ROWS:
            self._print_pending()

    def flush(self) -> None:
        """Print the pending rows in aligned columns, and which columns have no room."""
        layout = self._print_pending()
        dropped_titles = layout.dropped_titles(self._columns) if self.row_count else []
        if dropped_titles != self._dropped_titles:
            _print_dropped(dropped_titles)
            self._dropped_titles = dropped_titles

    def _print_pending(self) -> Layout:
        rows = [content for content, _ in self._pending if not isinstance(content, str)]
        self._sizes = [measure_cells((row[index] for row in rows), size) for index, size in enumerate(self._sizes)]
        layout = self._fit()
        if self._pending and [*layout.widths] != self._shown_columns:
            self._shown_columns = [*layout.widths]
            for line in format_titles(self._columns, layout):
                _print_line(line, _BOLD)
        for content, style in self._pending:
            for line in [content] if isinstance(content, str) else self._format(content, layout):
                _print_line(line, style)
        self._pending.clear()
        return layout

    def _fit(self) -> Layout:
        if self._is_terminal:
            return fit_columns(self._columns, self._sizes, get_terminal_size().columns)
        pairs = zip(self._columns, self._sizes, strict=True)
        widths = [max(len(column.title), min(size.cell, _MAX_COLUMN_CHARS)) for column, size in pairs]
        return Layout(dict(enumerate(widths)))

    def _format(self, cells: tuple[str, ...], layout: Layout) -> list[str]:
        if self._is_terminal:
            return format_row(cells, self._columns, layout)
        pairs = zip(cells, self._columns, layout.widths.values(), strict=True)
        return [GAP.join(pad_cell(cell, width, right=column.right) for cell, column, width in pairs).rstrip()]
