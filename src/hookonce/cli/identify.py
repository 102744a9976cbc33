"""hookonce identify."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import BinaryIO

from hookonce.cli._input import add_max_line, opened, place
from hookonce.errors import HookonceError
from hookonce.journeys.identify import Finding, identify
from hookonce.journeys.lines import TOO_DEEP, Line, documents, parse
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce identify < payload.json
  hookonce identify --json payloads.jsonl"""


def configure(parser: ArgumentParser) -> None:
    """The options of `identify`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("files", nargs="*", metavar="FILE", help="payloads or events; - or nothing: standard input")
    parser.add_argument("--json", action="store_true", help="one JSON object per document")
    add_max_line(parser)


def run(options: Namespace) -> int:
    """Identify every document; exit 1 when one of them stays unknown or cannot be read."""
    known = unknown = 0
    for name in options.files or ["-"]:
        try:
            with opened(name) as stream:
                for number, found in enumerate(_findings(stream, name, options.max_line)):
                    if found is not None:
                        where = f"{place(name, number + 1)}: " if number or name != "-" else ""
                        _show(found, where, as_json=options.json)
                    known += found is not None and found.kind != "unknown"
                    unknown += found is None or found.kind == "unknown"
        except HookonceError as problem:
            unknown += 1
            print(f"hookonce: {problem}", file=sys.stderr)
    if not known and not unknown:
        raise HookonceError("no document was given; write JSON to standard input or name a file")
    return 1 if unknown else 0


def _findings(stream: BinaryIO, name: str, limit: int) -> Iterator[Finding | None]:
    """What each line is; None for one that cannot be read, after saying why."""
    for line in documents(stream, limit):
        try:
            yield _finding(line)
        except HookonceError as problem:
            print(f"hookonce: {place(name, line.number)}: {problem}", file=sys.stderr)
            yield None


def _finding(line: Line) -> Finding:
    if line.fault:
        raise HookonceError(line.fault)
    try:
        return identify(parse(line.raw), os.environ)
    except RecursionError:
        raise HookonceError(TOO_DEEP) from None


def _show(found: Finding, where: str, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(dump(found) + b"\n")
        sys.stdout.buffer.flush()
        return
    event = f" {found.event} ({found.type})" if found.event else ""
    unknown = "undecided" if found.candidates else "unknown"
    print(f"{where}{found.kind}: {found.name}{event}" if found.name else f"{where}{unknown}")
    for reason in found.evidence:
        print(f"  because {reason}")
    if found.candidates:
        print(f"  may be: {', '.join(found.candidates)}")
