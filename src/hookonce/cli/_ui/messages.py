"""Output of commands: JSON lines on stdout, progress line and warnings on stderr, counts with their nouns."""

import csv
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable
from io import StringIO
from typing import Any

from hookonce.base.jsontext import dump
from hookonce.base.terminal_text import escape_csv_cell, pluralize, unescaped_stream

__all__ = [
    "format_bytes",
    "pluralize",
    "print_csv_row",
    "print_json",
    "print_lines",
    "print_result",
    "show_progress",
    "show_status",
    "warn",
    "warn_of_unwritten",
]

_KB = 1024


def format_bytes(count: int) -> str:
    """A number of bytes, in short."""
    return f"{count // _KB} KB" if count < _KB * _KB else f"{count // _KB // _KB} MB"


def print_json(*documents: object) -> None:
    """Print documents on stdout, each as one line of JSON."""
    for document in documents:
        sys.stdout.buffer.write(dump(document) + b"\n")


def print_lines(text: str) -> None:
    """Print a text of several lines, each of which is escaped."""
    for line in text.removesuffix("\n").split("\n"):
        print(line)


def print_csv_row(cells: Iterable[Any]) -> None:
    """Print a row of CSV, in which no cell is more than text or a number."""
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(map(escape_csv_cell, cells))
    print(line.getvalue())


def print_result(options: Namespace, document: Any, print_text: Callable[[Any], object]) -> None:
    """Print what a command has found, as JSON (`--json`) or as text."""
    if options.json:
        print_json(document)
    else:
        print_text(document)


def show_progress(text: str) -> None:
    """Show progress on stderr; on a terminal in one line, which an empty text removes."""
    if sys.stderr.isatty():
        unescaped_stream(sys.stderr).write("\r\033[K")
        print(text, end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def show_status(text: str) -> None:
    """Show progress on a terminal only."""
    if sys.stderr.isatty():
        show_progress(text)


def warn(text: str) -> None:
    """Print a warning on stderr, in one line."""
    print(f"hookonce: {text}", file=sys.stderr)


def warn_of_unwritten(counts_by_type: Counter[str], title: str) -> None:
    """Warn of events that a format has no place for, if there are any."""
    if counts_by_type:
        types = ", ".join(f"{kind} {count}" for kind, count in counts_by_type.most_common())
        warn(f"{pluralize(counts_by_type.total(), 'event')} left out, because {title} has no such event: {types}")
