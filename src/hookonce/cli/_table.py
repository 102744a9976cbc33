"""Tables: as wide as the terminal, and as wide as they need to be where there is none."""

import sys
from io import BytesIO, TextIOWrapper
from typing import Any

_NO_TERMINAL = 160
_WIDEST = 10_000
_LEAST = 12  # characters that the last column has room for
_EDGES = 2  # characters at both ends of a table's lines
_MOST = {True: 15, False: 31}  # rows of a list that may be long: on a terminal, and elsewhere a month


def table(*columns: str) -> Any:
    """An empty table; where it is too wide, its last column gives way."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for column in made.columns[:-1]:
        column.no_wrap = True
    made.columns[-1].overflow = "fold"  # nothing is cut off
    return made


def clipped(text: str) -> Any:
    """A cell that stays on one line."""
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")


def most() -> int:
    """How many rows of a long list are shown."""
    return _MOST[sys.stdout.isatty()]


def show(made: Any) -> None:
    """Print a table, its texts as they are: brackets and colons in them mean nothing."""
    from rich.console import Console

    drawn = BytesIO()  # rich itself would leave with exit code 1 where the reader has seen enough
    file = TextIOWrapper(drawn, encoding=sys.stdout.encoding, errors="backslashreplace", newline="\n")
    terminal = sys.stdout.isatty()
    width = None if terminal else _NO_TERMINAL
    console = Console(
        file=file, force_terminal=terminal, width=width, highlight=False, markup=False, emoji=False, safe_box=True
    )
    wanted = console.measure(made, options=console.options.update(max_width=_WIDEST)).maximum
    if wanted > console.width:
        console.width = _narrowed(made, console.width)
    console.print(made)
    file.flush()
    lines = [line.rstrip() for line in drawn.getvalue().decode(file.encoding).split("\n")]
    print("\n".join(lines).strip("\n"))


def _narrowed(made: Any, room: int) -> int:
    """Let titles go over several lines, then cells, closer together; the last column has what is left; how wide it is.

    A terminal that is narrower still breaks the lines itself: that is no beauty, but nothing is lost.
    """
    *others, last = made.columns
    least: int = min(_LEAST, max(map(_longest, (last.header, *last.cells)), default=1))
    left = 0
    for space, wide in ((1, _wide), (0, _wide), (1, _longest), (0, _longest)):
        made.padding = (0, space)
        for column in others:
            column.no_wrap, column.width = False, max(_longest(column.header), *map(wide, column.cells), 1)
        left = room - _EDGES - (1 + 2 * space) * len(others) - sum(column.width for column in others)
        if left >= least:
            break
    wide_enough = max(left, least, 1)
    last.width = wide_enough
    return room - left + wide_enough


def _longest(title: Any) -> int:
    return max(map(_wide, str(title).split()), default=0)


def _wide(cell: Any) -> int:
    from rich.cells import cell_len

    return cell_len(str(cell))
