"""hookonce events sql."""

import csv
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from hookonce.cli._lines import Lines
from hookonce.cli._warn import warn
from hookonce.errors import UsageError
from hookonce.journeys.looking import looking
from hookonce.store.sql import ask
from hookonce.texts import dump

_SECONDS = 30.0


def run(options: Namespace) -> int:
    """Answer a question in SQL, as a table, as JSON lines or as values with commas between them."""
    if len(options.words) != 1:
        raise UsageError('one question is needed: hookonce events sql "SELECT count(*) FROM events"')
    with looking(warn) as connection:
        names, rows = ask(connection, options.words[0], options.timeout or _SECONDS)
        _print(options, names, rows)
    return 0


def _print(options: Namespace, names: list[str], rows: Iterator[tuple[Any, ...]]) -> None:
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(map(_plain, row) for row in rows)
    elif options.json:
        for row in rows:
            sys.stdout.buffer.write(dump(dict(zip(names, map(_plain, row), strict=True))) + b"\n")
    else:
        lines = Lines(*names)
        for row in rows:
            lines.row(*("" if cell is None else str(_plain(cell)) for cell in row))
        lines.flush()
        if not lines.count:
            print("there is no such row")


def _plain(value: Any) -> Any:
    """Bytes as the text that they are, or as digits."""
    if type(value) is not bytes:
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()
