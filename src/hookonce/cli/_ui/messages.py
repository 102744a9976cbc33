"""Messages on stderr: progress line, warnings, counts with their nouns.

On a terminal progress overwrites one line, and an empty text removes it.
"""

import sys


def show_progress(text: str) -> None:
    """Show progress on stderr; on a terminal in one line, which an empty text removes."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Print a warning on stderr."""
    print(f"hookonce: {text}", file=sys.stderr)


def pluralize(count: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
