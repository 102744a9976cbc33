"""hookonce events import."""

import sys
from argparse import Namespace

from hookonce.cli._input import opened, place
from hookonce.cli._progress import tell
from hookonce.cli._words import counted
from hookonce.cli.translate import named
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys.bring import bring
from hookonce.journeys.lines import documents
from hookonce.store.writer import Writer

_TOLD = 20  # lines that could not be read and are named


def run(options: Namespace) -> int:
    """Keep the events of files: our own records, or whatever translate can read; nothing twice."""
    read = new = bad = 0
    with Writer(durability=settings.durability()) as writer:
        for name in options.words or ["-"]:
            try:
                found = _file(name, writer, options.source)
            except HookonceError as problem:
                print(f"hookonce: {problem}", file=sys.stderr)
                found = (0, 0, 1)
            read, new, bad = read + found[0], new + found[1], bad + found[2]
    print(f"{counted(new, 'event')} kept, of {counted(read, 'line')}")
    if bad:
        print(f"hookonce: {counted(bad, 'line')} could not be read", file=sys.stderr)
    return 1 if bad else 0


def _file(name: str, writer: Writer, source: str | None) -> tuple[int, int, int]:
    read = new = bad = 0
    with opened(name) as stream:
        whose = None if source is None else named(source)[0]
        for done in bring(documents(stream), writer, settings.privacy(), whose):
            for fault in done.faults[: max(0, _TOLD - bad)]:
                print(f"hookonce: {place(name, fault.line)}: {fault.message}", file=sys.stderr)
            read, new, bad = done.read, done.new, bad + len(done.faults)
            if sys.stderr.isatty():
                tell(f"{name}: {counted(read, 'line')} read, {counted(new, 'event')} new …")
    if sys.stderr.isatty():
        tell("")
    return read, new, bad
