"""hookonce daemon."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli._words import counted
from hookonce.cli.consent import agreed
from hookonce.model import Object
from hookonce.service import calling
from hookonce.texts import dump

_THOUSAND = 1024


def configure(parser: ArgumentParser) -> None:
    """The options of `daemon`."""
    parser.epilog = "examples:\n  hookonce daemon status\n  hookonce daemon status --json\n  hookonce daemon stop"
    parser.add_argument("verb", choices=["start", "stop", "status"], help="it starts by itself when an agent calls")
    parser.add_argument("--json", action="store_true", help="what it tells about itself, as one JSON object")


def run(options: Namespace) -> int:
    """Show, start or stop the process that answers agents while it is warm."""
    if options.verb == "stop":
        return _stop(options)
    known = calling.start() if options.verb == "start" else calling.status()
    if options.json:
        sys.stdout.buffer.write(dump({"running": known is not None, **(known or {})}) + b"\n")
    else:
        print(told(known))
    return 0


def _stop(options: Namespace) -> int:
    if calling.status() is not None:
        agreed("daemon stop", "end the daemon; agents are answered without it, until one of them starts it again")
    known = calling.stop()
    if options.json:
        sys.stdout.buffer.write(dump({"running": False, "stopped": known is not None}) + b"\n")
    else:
        print("there was none" if known is None else f"the daemon (process {known['pid']}) is gone")
    return 0


def told(known: Object | None) -> str:
    """What there is to know of the daemon, in a line."""
    if known is None:
        return "daemon: none runs; the next call of an agent starts it"
    memory = f", {known['memory_kb'] / _THOUSAND:.0f} MB" if known.get("memory_kb") else ""
    calls = counted(known["answered"], "call")
    return f"daemon: process {known['pid']}, {calls} answered, {known['under_way']} under way{memory}"
