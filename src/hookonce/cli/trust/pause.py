"""hookonce pause: suspend all hooks for a while."""

from argparse import ArgumentParser, Namespace
from time import time

from hookonce.base import times
from hookonce.cli._ui.consent import require_consent
from hookonce.dispatch.pause import parse_duration_s, pause


def configure(parser: ArgumentParser) -> None:
    """The options of `pause`."""
    parser.epilog = "examples:\n  hookonce pause 10m\n  hookonce resume"
    parser.add_argument("length", metavar="LENGTH", help="how long, such as 30s, 10m or 2h")


def run(options: Namespace) -> None:
    """Let every agent go on without hooks, for a while; what they do is still recorded."""
    length = parse_duration_s(options.length)
    until = times.from_seconds(int(time()) + length)
    require_consent("pause", f"run no hooks for {options.length}", data={"until": until})
    pause(length)
    print(f"No hook runs for {options.length}; events are still recorded. hookonce resume ends the pause")
