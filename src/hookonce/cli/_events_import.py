"""hookonce events import."""

import sys
from argparse import Namespace

from hookonce.cli._input import opened, place
from hookonce.cli._progress import tell
from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.cli.translate import named
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys.bring import bring
from hookonce.journeys.lines import documents
from hookonce.model import Agent, Format
from hookonce.store.writer import Writer

_TOLD = 20  # lines that could not be read and are named


def run(options: Namespace) -> int:
    """Keep the events of files: our own records, or whatever translate can read; nothing twice."""
    whose = None if options.source is None else named(options.source)[0]
    names, unread = options.words or ["-"], 0
    read = new = bad = 0
    with Writer(durability=settings.durability()) as writer:
        for name in names:
            try:
                found = _file(name, writer, whose)
            except HookonceError as problem:
                warn(str(problem))
                unread += 1
                continue
            read, new, bad = read + found[0], new + found[1], bad + found[2]
    if unread < len(names):
        rest = "; the others were there before" if new < read - bad else ""
        print(f"{counted(new, 'event')} kept, of {counted(read, 'line')}{rest}")
    if bad:
        warn(f"{counted(bad, 'line')} could not be read")
    if unread:
        warn(f"{counted(unread, 'file')} could not be read; name files with an event in each line, or - for stdin")
    return 1 if bad or unread else 0


def _file(name: str, writer: Writer, whose: Agent | Format | None) -> tuple[int, int, int]:
    read = new = bad = 0
    with opened(name) as stream:
        for done in bring(documents(stream), writer, settings.privacy(), whose):
            for fault in done.faults[: max(0, _TOLD - bad)]:
                warn(f"{place(name, fault.line)}: {fault.message}")
            read, new, bad = done.read, done.new, bad + len(done.faults)
            if sys.stderr.isatty():
                tell(f"{name}: {counted(read, 'line')} read, {counted(new, 'event')} new …")
    if sys.stderr.isatty():
        tell("")
    return read, new, bad
