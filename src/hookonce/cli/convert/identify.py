"""hookonce identify: detect the agent or format of a payload."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import BinaryIO

from hookonce.base.json_stream import TOO_DEEP, StreamLine, parse_json, read_documents
from hookonce.cli._ui.arguments import add_flag, add_max_line_option, line_location, open_input
from hookonce.cli._ui.messages import print_json, warn
from hookonce.dispatch.identification import Identification, identify
from hookonce.errors import HookonceError

_EXAMPLES = """examples:
  hookonce identify < payload.json
  hookonce identify --json payloads.jsonl"""


def configure(parser: ArgumentParser) -> None:
    """The options of `identify`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("files", nargs="*", metavar="FILE", help="payloads or events; - or nothing: standard input")
    add_flag(parser, "--json", "one JSON object per document")
    add_max_line_option(parser)


def run(options: Namespace) -> int:
    """Identify every document; exit 1 when one of them stays unknown or cannot be read."""
    known_count = unknown_count = 0
    for name in options.files or ["-"]:
        try:
            with open_input(name) as stream:
                for number, finding in enumerate(_identify_lines(stream, name, options.max_line)):
                    if finding is not None:
                        where = f"{line_location(name, number + 1)}: " if number or name != "-" else ""
                        _print_finding(finding, where, as_json=options.json)
                    known_count += finding is not None and finding.kind != "unknown"
                    unknown_count += finding is None or finding.kind == "unknown"
        except HookonceError as problem:
            unknown_count += 1
            warn(f"{problem}")
    if not known_count and not unknown_count:
        raise HookonceError("no document was given; write JSON to standard input or name a file")
    return 1 if unknown_count else 0


def _identify_lines(stream: BinaryIO, name: str, limit: int) -> Iterator[Identification | None]:
    """What each line is; None for one that cannot be read, after saying why."""
    for line in read_documents(stream, limit):
        try:
            yield _identify_line(line)
        except HookonceError as problem:
            warn(f"{line_location(name, line.number)}: {problem}")
            yield None


def _identify_line(line: StreamLine) -> Identification:
    if line.fault:
        raise HookonceError(line.fault)
    try:
        return identify(parse_json(line.raw), os.environ)
    except RecursionError:
        raise HookonceError(TOO_DEEP) from None


def _print_finding(finding: Identification, location: str, *, as_json: bool) -> None:
    if as_json:
        print_json(finding)
        sys.stdout.buffer.flush()
        return
    event = f" {finding.event} ({finding.type})" if finding.event else ""
    unknown_text = "undecided" if finding.candidates else "unknown"
    print(f"{location}{finding.kind}: {finding.name}{event}" if finding.name else f"{location}{unknown_text}")
    for reason in finding.evidence:
        print(f"  because {reason}")
    if finding.candidates:
        print(f"  may be: {', '.join(finding.candidates)}")
