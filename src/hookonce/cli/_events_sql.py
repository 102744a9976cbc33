"""Verbs of hookonce events: sql, export, import, erase."""

import csv
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from hookonce.cli._lines import StreamingTable
from hookonce.cli._warn import warn
from hookonce.errors import UsageError
from hookonce.journeys.looking import open_store
from hookonce.store.sql import run_sql
from hookonce.texts import dump

_DEFAULT_TIMEOUT_S = 30.0


def run_sql(options: Namespace) -> int:
    """Answer a read-only SQL query as table, JSON lines or CSV."""
    if len(options.words) != 1:
        raise UsageError('one question is needed: hookonce events sql "SELECT count(*) FROM events"')
    with open_store(warn) as connection:
        names, rows = run_sql(connection, options.words[0], options.timeout or _DEFAULT_TIMEOUT_S)
        _print_rows(options, names, rows)
    return 0


def _print_rows(options: Namespace, names: list[str], rows: Iterator[tuple[Any, ...]]) -> None:
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(map(_decode_bytes, row) for row in rows)
    elif options.json:
        for row in rows:
            sys.stdout.buffer.write(dump(dict(zip(names, map(_decode_bytes, row), strict=True))) + b"\n")
    else:
        lines = StreamingTable(*names)
        for row in rows:
            lines.add_row(*("" if cell is None else str(_decode_bytes(cell)) for cell in row))
        lines.flush()
        if not lines.row_count:
            print("there is no such row")


def _decode_bytes(value: Any) -> Any:
    if type(value) is not bytes:
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()
