"""A table that is printed while its rows come: for what may be long, or never end."""

import os
import sys
from shutil import get_terminal_size

from hookonce.journeys.visible import escape_unprintable

_BATCH_ROWS = 200  # rows that are looked at together
_MAX_COLUMN_CHARS = 60  # of a column; a cell that is wider does not push all others aside
_COLUMN_GAP = "  "
_INDENT = "    "  # before what stands below


class StreamingTable:
    """Table that is printed while its rows arrive; the last column is cut at the terminal's edge.

    With `keep_all` nothing is cut: columns that do not fit are printed below the others, indented.
    """

    def __init__(self, *columns: str, keep_all: bool = False) -> None:
        """Nothing is printed before the first row."""
        self._keeps_all = keep_all
        self._pending: list[tuple[tuple[str, ...], bool]] = []
        self._columns = columns
        self._widths = [0 for _ in columns]
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
        from rich.cells import cell_len

        for index in range(len(self._widths)):
            widths = (min(cell_len(cells[index]), _MAX_COLUMN_CHARS) for cells, _ in self._pending)
            self._widths[index] = max((self._widths[index], *widths))
        for cells, is_alarm in self._pending:
            self._print_row(cells, is_alarm=is_alarm)
        self._pending.clear()

    def _print_row(self, cells: tuple[str, ...], *, is_alarm: bool) -> None:
        from rich.cells import cell_len, set_cell_size

        padded_cells = [
            set_cell_size(cell, max(width, cell_len(cell))) for cell, width in zip(cells, self._widths, strict=True)
        ]
        line = _COLUMN_GAP.join(padded_cells).rstrip()
        terminal_width = get_terminal_size().columns
        if self._is_terminal and self._keeps_all:
            line = _wrap_cells(padded_cells, terminal_width)
        elif self._is_terminal and cell_len(line) > terminal_width:
            line = f"{set_cell_size(line, max(terminal_width - 1, 0))}…"
        print(f"\033[31m{line}\033[0m" if is_alarm and self._is_terminal and not os.environ.get("NO_COLOR") else line)


def _wrap_cells(cells: list[str], terminal_width: int) -> str:
    from rich.cells import cell_len

    lines = [cells[0]]
    for cell in cells[1:]:
        longer = f"{lines[-1]}{_COLUMN_GAP}{cell}"
        if cell_len(longer) <= terminal_width:
            lines[-1] = longer
        else:
            lines.append(f"{_INDENT}{cell}")
    return "\n".join(line.rstrip() for line in lines if line.strip())
