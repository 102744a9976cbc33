"""hookonce identify: detect the agent or format of a payload."""

import os
import sys
from argparse import ArgumentParser, Namespace

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
    parser.add_argument("files", nargs="*", metavar="FILE", help="a file of payloads or events; default, or -: stdin")
    add_flag(parser, "--json", "print one JSON object per document")
    add_max_line_option(parser)


def run(options: Namespace) -> int:
    """Identify every document; exit 1 when one of them stays unknown or cannot be read."""
    known_count = unknown_count = 0
    for name in options.files or ["-"]:
        try:
            with open_input(name) as stream:
                for number, line in enumerate(read_documents(stream, options.max_line)):
                    where = f"{line_location(name, number + 1)}: " if number or name != "-" else ""
                    is_known = _identify_line(line, name, where, as_json=options.json)
                    known_count += is_known
                    unknown_count += not is_known
        except HookonceError as problem:
            unknown_count += 1
            warn(f"{problem}")
    if not known_count and not unknown_count:
        raise HookonceError("there is no document; write JSON to stdin, or name a file")
    return 1 if unknown_count else 0


def _identify_line(line: StreamLine, name: str, where: str, *, as_json: bool) -> bool:
    """Print what a line is, or why it cannot be read; whether it is known."""
    fault = line.fault
    if fault is None:
        try:
            finding = identify(parse_json(line.raw), os.environ)
        except (HookonceError, RecursionError) as problem:
            fault = TOO_DEEP if isinstance(problem, RecursionError) else str(problem)
    if fault is not None:
        warn(f"{line_location(name, line.number)}: {fault}")
        return False
    _print_finding(finding, where, as_json=as_json)
    return finding.kind != "unknown"


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
