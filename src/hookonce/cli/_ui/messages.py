"""Output of commands: JSON lines on stdout, progress line and warnings on stderr, counts with their nouns."""

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from typing import Any

from hookonce.base.jsontext import dump
from hookonce.base.terminal_text import pluralize

__all__ = ["pluralize", "print_json", "print_result", "show_progress", "show_status", "warn", "warn_of_unwritten"]


def print_json(*documents: object) -> None:
    """Print documents on stdout, each as one line of JSON."""
    for document in documents:
        sys.stdout.buffer.write(dump(document) + b"\n")


def print_result(options: Namespace, document: Any, print_text: Callable[[Any], object]) -> None:
    """Print what a command has found, as JSON (`--json`) or as text."""
    if options.json:
        print_json(document)
    else:
        print_text(document)


def show_progress(text: str) -> None:
    """Show progress on stderr; on a terminal in one line, which an empty text removes."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def show_status(text: str) -> None:
    """Show progress on a terminal only."""
    if sys.stderr.isatty():
        show_progress(text)


def warn(text: str) -> None:
    """Print a warning on stderr."""
    print(f"hookonce: {text}", file=sys.stderr)


def warn_of_unwritten(counts_by_type: Counter[str], title: str) -> None:
    """Warn of events that a format has no place for, if there are any."""
    if counts_by_type:
        types = ", ".join(f"{kind} {count}" for kind, count in counts_by_type.most_common())
        warn(f"{pluralize(counts_by_type.total(), 'event')} left out, {title} has no place for: {types}")
