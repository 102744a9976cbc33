"""hookonce lab diff."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from msgspec import ValidationError, convert
from msgspec.structs import asdict, replace

from hookonce.cli import _named
from hookonce.cli._difference import lines
from hookonce.cli._progress import tell
from hookonce.errors import HookonceError, UsageError
from hookonce.lab.capture import capture, needed
from hookonce.lab.certificate import Certificate
from hookonce.lab.diff import Side, compare, count, verdicts
from hookonce.lab.prove import prove
from hookonce.lab.provenance import Capture, read
from hookonce.texts import dump, load

_USAGE = "two folders, or an agent and two versions: hookonce lab diff OLD NEW, hookonce lab diff AGENT V1 V2"
_TEXT = """OLD and NEW are folders that `hookonce lab capture` has made. With an agent and two versions, which must have
been fetched, both are captured first. Compared are events, tools that the model is offered, the order of those events
in the tour that can be answered, and for each event and canonical tool the keys of payloads (as JSON paths) with their
types; values are not.

--json is one object; `same` says whether there is no difference:
  {same, old: {agent, version}, new: {agent, version},
   events: {added: [name], removed: [name]}, calls: {added, removed} (a tool at an event that both have),
   keys: [{change: added|removed|type, event, tool, path, old: [type], new: [type]}], tools: {added, removed},
   order: [{thread, after, old: [event], new: [event]}] (thread 0 is the main agent, others are sub-agents),
   claims: [{claim, old: state, new: state}] or null, notes: [text]}

An event for which the agent does not wait may be missed by a capture; it counts, and a note says so.

exit codes: 0 the same, 1 different or an error

examples:
  hookonce lab diff captures/codex-0.165.0 captures/codex-0.166.0
  hookonce lab diff claude-code 2.1.197 2.1.325
  hookonce lab diff qwen-code 0.15.10 0.24.4 --certificates docs/certificates --json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `lab diff`."""
    parser.usage = "hookonce lab diff [-h] [--prove | --certificates DIR] [--json] (OLD NEW | AGENT V1 V2)"
    parser.epilog = _TEXT
    parser.add_argument("words", nargs="+", metavar="OLD NEW | AGENT V1 V2", help="what is compared")
    claims = parser.add_mutually_exclusive_group()
    claims.add_argument("--prove", action="store_true", help="also prove both, and compare the states of claims")
    claims.add_argument(
        "--certificates", type=Path, metavar="DIR", help="also compare claims, as `hookonce prove --out DIR` wrote them"
    )
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Tell two versions of an agent apart."""
    old, new = _captures(options.words)
    found = compare(old, new)
    if options.prove or options.certificates:
        found = replace(found, claims=verdicts(*(_certificate(options, side) for side in (found.old, found.new))))
    tell("")
    if options.json:
        sys.stdout.buffer.write(dump({"same": not count(found)} | asdict(found)) + b"\n")
    else:
        print("\n".join(lines(found)))
    return int(bool(count(found)))


def _captures(words: list[str]) -> list[Capture]:
    match words:
        case [old, new]:
            return [read(Path(old)), read(Path(new))]
        case [name, *versions] if len(versions) == 2:  # noqa: PLR2004  the old one and the new one
            agent = _named.agent(name).name
            programs = [needed(agent, version) for version in versions]  # both, before anything is run
            return [capture(one, [], tell) for one in programs]
    raise UsageError(_USAGE)


def _certificate(options: Namespace, side: Side) -> Certificate:
    if options.prove:
        return prove(needed(side.agent, side.version), 1, tell)
    path: Path = options.certificates / f"{side.agent}-{side.version}.json"
    try:
        return convert(load(path.read_text(encoding="utf-8")), Certificate)
    except FileNotFoundError:
        raise HookonceError(f"there is no {path}; hookonce prove {side.agent} --out {path.parent} writes one") from None
    except (ValidationError, ValueError, OSError) as problem:
        raise HookonceError(f"{path} is no certificate: {problem}") from None
