"""hookonce daemon."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli._words import counted
from hookonce.cli.consent import agreed, needs_a_person
from hookonce.model import Object
from hookonce.runtime import address
from hookonce.service import calling
from hookonce.texts import dump

_THOUSAND = 1024


def configure(parser: ArgumentParser) -> None:
    """The options of `daemon`."""
    parser.epilog = (
        needs_a_person("daemon stop")
        + "\n\nexamples:\n  hookonce daemon status\n  hookonce daemon status --json\n  hookonce daemon stop"
    )
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
    if (running := calling.status()) is not None:
        agreed("daemon stop", _without(running))
    known = calling.stop()
    if options.json:
        sys.stdout.buffer.write(dump({"running": False, "stopped": known is not None}) + b"\n")
    else:
        print("there was none" if known is None else f"the daemon (process {known['pid']}) is gone")
    return 0


def _without(known: Object) -> str:
    """What it means to have no daemon: whoever posts to it is answered by nobody."""
    if not (known.get("http") or {}).get("open"):
        return "end the daemon; agents are answered without it, until one of them starts it again"
    return (
        "end the daemon; agents that post their events go on without hooks until it runs again; "
        "others are answered without it, and start it again"
    )


def told(known: Object | None) -> str:
    """What there is to know of the daemon, in a line."""
    if known is None:
        told = "daemon: none runs; the next call of an agent starts it"
        posting = "; agents that post their events go on without hooks until it runs: hookonce daemon start"
        return told + (posting if address.known() is not None else "")
    memory = f", {known['memory_kb'] / _THOUSAND:.0f} MB" if known.get("memory_kb") else ""
    calls = counted(known["answered"], "call")
    now = f"{known['under_way']} under way{memory}{_door(known)}"
    return f"daemon: process {known['pid']}, {calls} answered, {now}{_unread(known)}"


def _unread(known: Object) -> str:
    """Session files that could not be read: tokens of those sessions are not known."""
    read = known.get("transcripts") or {}
    count = read.get("refused_files", 0) + read.get("broken_files", 0)
    return f", {counted(count, 'session file')} not read, the last: {read['problem']}" if count else ""


def _door(known: Object) -> str:
    """The HTTP door, if there is one or there should be."""
    door = known.get("http") or {}
    if door.get("open"):
        return f", HTTP door open at port {door['port']}"
    return f", HTTP door shut: {door['problem']}" if door.get("problem") else ""
