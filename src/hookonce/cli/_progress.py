"""What is going on, for whoever waits."""

import sys


def tell(text: str) -> None:
    """Say it on stderr; on a terminal in one line, which an empty text takes away."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)
