"""What commands read: a file by its name, or standard input."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hookonce.errors import HookonceError
from hookonce.journeys.lines import MAX_LINE_BYTES


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """Open a file for reading, or standard input for `-`."""
    if name == "-":
        if sys.stdin.isatty():
            print("hookonce: reading JSON from the terminal; Ctrl-D ends it", file=sys.stderr)
        yield sys.stdin.buffer
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115  only opening is guarded, not what the caller does
    except (OSError, ValueError) as problem:
        raise HookonceError(f"cannot read {name}: {getattr(problem, 'strerror', problem)}") from None
    with stream:
        yield stream


def line_location(name: str, line: int) -> str:
    """Location of a line in the form that editors understand."""
    return f"line {line}" if name == "-" else f"{name}:{line}"


def add_max_line_option(parser: ArgumentParser) -> None:
    """The option that limits lines."""
    parser.add_argument(
        "--max-line", type=_parse_positive, default=MAX_LINE_BYTES, metavar="N", help="refuse lines over N bytes (8 MiB)"
    )


def _parse_positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is no number of bytes")
    return int(text)
