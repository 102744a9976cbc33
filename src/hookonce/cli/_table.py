"""Tables: as wide as the terminal, and as wide as they need to be where there is none."""

import sys
from io import BytesIO, TextIOWrapper
from typing import Any

_NO_TERMINAL = 160
_MOST = {True: 15, False: 31}  # rows of a list that may be long: on a terminal, and elsewhere a month


def table(*columns: str) -> Any:
    """An empty table; where it is too wide, its last column gives way."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for column in made.columns[:-1]:
        column.no_wrap = True
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
    console.print(made)
    file.flush()
    lines = [line.rstrip() for line in drawn.getvalue().decode(file.encoding).split("\n")]
    print("\n".join(lines).strip("\n"))
