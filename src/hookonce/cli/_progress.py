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
