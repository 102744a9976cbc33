"""hookonce pause."""

from argparse import ArgumentParser, Namespace

from hookonce.cli.consent import agreed, needs_a_person
from hookonce.journeys.pause import pause, seconds_of


def configure(parser: ArgumentParser) -> None:
    """The options of `pause`."""
    parser.epilog = needs_a_person("pause") + "\n\nexamples:\n  hookonce pause 10m\n  hookonce resume"
    parser.add_argument("length", metavar="LENGTH", help="such as 30s, 10m or 2h")


def run(options: Namespace) -> int:
    """Let every agent go on as if we were not there, for a while."""
    length = seconds_of(options.length)
    agreed("pause", f"ask no hook for {options.length}")
    pause(length)
    print(f"No hook is asked for {options.length}; hookonce resume ends that")
    return 0
