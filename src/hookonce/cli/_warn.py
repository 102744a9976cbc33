"""What a user should know beside what was asked for."""

import sys


def warn(text: str) -> None:
    """Print a warning on stderr."""
    print(f"hookonce: {text}", file=sys.stderr)
