"""Tables for terminals and pipes, complete (`new_table`) or streaming (`StreamingTable`).

A complete table is fitted to the terminal by rich; a streaming one is printed in batches, for endless lists.
"""

import sys
from io import BytesIO, TextIOWrapper
from typing import Any

_DEFAULT_WIDTH_CHARS = 160
_MAX_WIDTH_CHARS = 10_000
_MIN_LAST_COLUMN_CHARS = 12  # characters that the last column has room for
_EDGE_CHARS = 2  # characters at both ends of a table's lines
_MAX_LIST_ROWS = {True: 15, False: 31}  # rows of a list that may be long: on a terminal, and elsewhere a month


def new_table(*columns: str) -> Any:
    """Create an empty rich table; where it is too wide, its last column wraps."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    rich_table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for column in rich_table.columns[:-1]:
        column.no_wrap = True
    rich_table.columns[-1].overflow = "fold"  # nothing is cut off
    return rich_table


def single_line_cell(text: str) -> Any:
    """A cell that stays on one line."""
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")


def max_list_rows() -> int:
    """How many rows of a long list are shown: fewer on a terminal."""
    return _MAX_LIST_ROWS[sys.stdout.isatty()]


def print_table(rich_table: Any) -> None:
    """Print a table; brackets and colons in its cells are not markup."""
    from rich.console import Console

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
    print("\n".join(lines).strip("\n"))


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
        remaining_width = available_width - _EDGE_CHARS - (1 + 2 * space) * len(other_columns) - sum(column.width for column in other_columns)
        if remaining_width >= min_width:
            break
    last_width = max(remaining_width, min_width, 1)
    last.width = last_width
    return available_width - remaining_width + last_width


def _longest_word(cell: Any) -> int:
    return max(map(_cell_width, str(cell).split()), default=0)


def _cell_width(cell: Any) -> int:
    from rich.cells import cell_len

    return cell_len(str(cell))
