"""hookonce translate."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from os import fstat
from stat import S_ISREG
from typing import BinaryIO

from hookonce import agents, formats, times
from hookonce.cli import _named
from hookonce.cli._input import add_max_line, opened, place
from hookonce.cli._words import counted
from hookonce.errors import HookonceError, UsageError
from hookonce.journeys.lines import documents
from hookonce.journeys.translate import Fault, Plan, Translation, payloads_of
from hookonce.model import Agent, Format
from hookonce.store.redact import LEVELS
from hookonce.store.signature import PLACES

GAPS = 3
_EXAMPLES = """examples:
  hookonce translate --from claude-code --to openhook < payloads.jsonl
  hookonce translate --to agent-hooks --privacy full events.jsonl
  hookonce translate --from copilot-cli --event preToolUse --to canonical < payload.json
  hookonce translate --from gemini-cli --to claude-code < payload.json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `translate`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("files", nargs="*", metavar="FILE", help="JSONL, or one JSON document; default: standard input")
    parser.add_argument("--to", required=True, metavar="NAME", help=_targets())
    parser.add_argument(
        "--from",
        dest="source",
        metavar="NAME",
        help="an agent or a format, or openhook@legacy; default: identify each line",
    )
    parser.add_argument("--event", metavar="NATIVE", help="the event of payloads that do not name it")
    parser.add_argument("--privacy", choices=LEVELS, help="default: full for canonical and agents, minimal elsewhere")
    parser.add_argument("--user", metavar="ID", help="name the human; without it no user is written")
    parser.add_argument("--received", metavar="TIME|now", help="the time of payloads that carry none")
    parser.add_argument("--on-error", choices=("skip", "stop"), default="skip", help="what a bad line does (skip)")
    parser.add_argument(
        "--sign", action="store_true", help="sign each event with this machine's key; check verifies it"
    )
    add_max_line(parser)
    parser.add_argument("--strict", action="store_true", help="refuse duplicate keys; exit 3 when anything is left out")


def _targets() -> str:
    variants = [f"{name}@{variant}" for name in formats.FORMATS for variant in formats.load(name).variants]
    return f"{', '.join(formats.FORMATS)}; {', '.join(variants)}; or an agent, for payloads as it would send them"


def run(options: Namespace) -> int:
    """Translate every file in turn; a file that cannot be read counts as a bad line does."""
    translation = Translation(_plan(options))
    lines = files = 0
    for name in options.files or ["-"]:
        try:
            with opened(name) as stream:
                lines += _stream(stream, name, translation, options)
        except HookonceError as problem:
            files += 1
            print(f"hookonce: {problem}", file=sys.stderr)
        if (lines or files) and options.on_error == "stop":
            break
    if not (translation.read or lines or files):
        raise HookonceError("no document was given; write JSON lines to standard input or name a file")
    _report(translation, lines, files)
    return 1 if lines or files else GAPS if options.strict and translation.left_out else 0


def _plan(options: Namespace) -> Plan:
    name, _, variant = options.to.partition("@")
    target = formats.load(name) if name in formats.FORMATS else payloads_of(_written(name))
    if variant and variant not in target.variants:
        raise UsageError(f"{name} has no variant {variant!r}{_known(target.variants, name)}")
    if options.sign and name not in PLACES:
        raise UsageError(f"{target.title} has no place for a signature; {', '.join(PLACES)} have one")
    source, profile = (None, "") if options.source is None else named(options.source)
    received = options.received
    if received not in {None, "now"} and not times.has_zone(received):
        raise UsageError("--received takes a time with a zone, such as 2026-02-23T10:15:30Z, or now")
    return Plan(
        target=target,
        variant=variant,
        source=source,
        profile=profile,
        event=options.event,
        level=options.privacy or ("full" if name in {"canonical", *agents.AGENTS} else "minimal"),
        user=options.user,
        received=received,
        strict=options.strict,
        signs=options.sign,
    )


def _written(name: str) -> Agent:
    agent = _named.agent(name, others=formats.FORMATS)
    if not agent.encodes:
        able = ", ".join(other for other in agents.AGENTS if agents.load(other).encodes)
        raise UsageError(f"payloads of {agent.title} can be read but not written; written are those of {able}")
    return agent


def named(text: str) -> tuple[Agent | Format, str]:
    """The agent or format of that name, and the profile of `FORMAT@PROFILE`."""
    name, _, profile = text.partition("@")
    if name not in formats.FORMATS:
        return _named.agent(text, others=formats.FORMATS), ""
    found = formats.load(name)
    if found.read is None:
        raise UsageError(f"{found.title} can be written but not read")
    if profile and profile not in found.readers:
        raise UsageError(f"{name} has no profile {profile!r}{_known(found.readers, name)}")
    return found, profile


def _known(names: Iterable[str], format_name: str) -> str:
    listed = ", ".join(f"{format_name}@{name}" for name in names)
    return f"; there is {listed}" if listed else ""


def _stream(stream: BinaryIO, name: str, translation: Translation, options: Namespace) -> int:
    out = sys.stdout.buffer
    live = not S_ISREG(fstat(stream.fileno()).st_mode)
    faults = 0
    for outcome in translation.texts(documents(stream, options.max_line)):
        if isinstance(outcome, Fault):
            faults += 1
            print(f"hookonce: {place(name, outcome.line)}: {outcome.message}", file=sys.stderr)
            if options.on_error == "stop":
                break
            continue
        out.write(outcome)
        if live:  # somebody may be waiting at the other end
            out.flush()
    return faults


def _report(translation: Translation, lines: int, files: int) -> None:
    """What a user must know about what was not carried; nothing when all is well."""
    for note, count in translation.notes.items():
        print(
            f"hookonce: warning: {note} ({count} times)" if count > 1 else f"hookonce: warning: {note}", file=sys.stderr
        )
    if left := translation.left_out:
        kinds = ", ".join(f"{kind} {count}" for kind, count in left.most_common())
        lost, title = counted(left.total(), "event"), translation.plan.target.title
        print(f"hookonce: {lost} left out, {title} has no place for: {kinds}", file=sys.stderr)
    if translation.withheld and sys.stderr.isatty():  # a person is told; in a pipe it is the documented default
        stayed, level = counted(translation.withheld, "raw payload"), translation.plan.level
        print(f"hookonce: privacy {level}: texts became hashes, {stayed} stayed here (--privacy full)", file=sys.stderr)
    if lines or files:
        unread = [counted(count, what) for count, what in ((lines, "line"), (files, "file")) if count]
        made = counted(translation.written, "event")
        print(f"hookonce: {' and '.join(unread)} could not be read; {made} written", file=sys.stderr)
