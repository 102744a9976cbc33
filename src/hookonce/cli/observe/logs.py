"""hookonce logs: tail of our own log."""

from argparse import ArgumentParser, Namespace
from collections import deque

from hookonce.base.paths import log_path
from hookonce.base.terminal_text import escape_unprintable
from hookonce.errors import HookonceError


def configure(parser: ArgumentParser) -> None:
    """The options of `logs`."""
    parser.epilog = "examples:\n  hookonce logs\n  hookonce logs -n 200"
    parser.add_argument("-n", type=int, default=50, metavar="LINES", help="number of lines; default: 50")


def run(options: Namespace) -> None:
    """Show the end of our own log: failures of ours and of hooks that nobody waited for."""
    try:
        with log_path().open(encoding="utf-8", errors="replace", newline="\n") as file:
            for line in deque(file, maxlen=max(options.n, 0)):
                print(escape_unprintable(line.rstrip("\n")))
    except FileNotFoundError:
        print(f"{log_path()} does not exist: nothing has been logged yet")
    except OSError as problem:
        raise HookonceError(f"{log_path()} cannot be read: {problem.strerror}") from None
