"""A table that is printed while its rows come: for what may be long, or never end."""

import os
import sys
from shutil import get_terminal_size

from hookonce.journeys.visible import visible

_AT_ONCE = 200  # rows that are looked at together
_WIDEST = 60  # of a column; a cell that is wider does not push all others aside
_BETWEEN = "  "
_INNER = "    "  # before what stands below


class Lines:
    """Columns that are as wide as what was seen so far; the last one ends where the terminal does.

    Of a `whole` one nothing is cut: columns that the terminal has no room for stand below the others, set in.
    """

    def __init__(self, *columns: str, whole: bool = False) -> None:
        """Nothing is printed before the first row."""
        self._whole = whole
        self._waiting: list[tuple[tuple[str, ...], bool]] = []
        self._columns = columns
        self._widths = [0 for _ in columns]
        self._terminal = sys.stdout.isatty()
        self.count = 0

    def row(self, *cells: str, loud: bool = False) -> None:
        """Take a row; a loud one is red where there are colours."""
        if not self.count:
            self._waiting.append((self._columns, False))
        self.count += 1
        self._waiting.append((tuple(visible(" ".join(cell.split())) for cell in cells), loud))
        if len(self._waiting) > _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Print what waits, its columns below each other."""
        from rich.cells import cell_len

        for index in range(len(self._widths)):
            widths = (min(cell_len(cells[index]), _WIDEST) for cells, _ in self._waiting)
            self._widths[index] = max((self._widths[index], *widths))
        for cells, loud in self._waiting:
            self._print(cells, loud=loud)
        self._waiting.clear()

    def _print(self, cells: tuple[str, ...], *, loud: bool) -> None:
        from rich.cells import cell_len, set_cell_size

        padded = [
            set_cell_size(cell, max(width, cell_len(cell))) for cell, width in zip(cells, self._widths, strict=True)
        ]
        line = _BETWEEN.join(padded).rstrip()
        room = get_terminal_size().columns
        if self._terminal and self._whole:
            line = _below(padded, room)
        elif self._terminal and cell_len(line) > room:
            line = f"{set_cell_size(line, max(room - 1, 0))}…"
        print(f"\033[31m{line}\033[0m" if loud and self._terminal and not os.environ.get("NO_COLOR") else line)


def _below(cells: list[str], room: int) -> str:
    """Cells beside each other as far as there is room, and the further ones below them."""
    from rich.cells import cell_len

    lines = [cells[0]]
    for cell in cells[1:]:
        longer = f"{lines[-1]}{_BETWEEN}{cell}"
        if cell_len(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(f"{_INNER}{cell}")
    return "\n".join(line.rstrip() for line in lines if line.strip())
