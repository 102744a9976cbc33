"""hookonce translate: translate payloads and events between formats, line by line."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from os import fstat
from stat import S_ISREG
from typing import BinaryIO

from hookonce import agents, formats
from hookonce.base import times
from hookonce.base.json_stream import read_documents
from hookonce.cli import EXIT_GAPS
from hookonce.cli._ui.arguments import add_flag, add_max_line_option, line_location, open_input
from hookonce.cli._ui.messages import pluralize, warn, warn_of_unwritten
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect.query_args import find_agent
from hookonce.model import Agent, Format
from hookonce.store.integrity.signature import SIGNED_FORMATS
from hookonce.store.privacy.redact import LEVELS
from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan, payload_format

_EXAMPLES = """examples:
  hookonce translate --from claude-code --to openhook < payloads.jsonl
  hookonce translate --to agent-hooks --privacy full events.jsonl
  hookonce translate --from copilot-cli --event preToolUse --to canonical < payload.json
  hookonce translate --from gemini-cli --to claude-code < payload.json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `translate`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="JSON lines, or one JSON document; default: stdin")
    variants = ", ".join(f"{name}@{variant}" for name in formats.FORMATS for variant in formats.load(name).variants)
    target_help = f"{', '.join(formats.FORMATS)}; {variants}; or an agent, for payloads as that agent sends them"
    add("--to", required=True, metavar="NAME", help=target_help)
    source_help = "an agent or a format, or openhook@legacy; default: detect it for each line"
    add("--from", dest="source", metavar="NAME", help=source_help)
    add("--event", metavar="NATIVE", help="the event of payloads that do not contain it")
    add("--privacy", choices=LEVELS, help="default: full for canonical and agents, minimal elsewhere")
    add("--user", metavar="ID", help="write this user id; default: no user is written")
    add("--received", metavar="TIME|now", help="the time of payloads without a time")
    add("--on-error", choices=("skip", "stop"), default="skip", help="what happens at a bad line; default: skip")
    add_flag(parser, "--stable-ids", "compute ids from content, so that the same input gets the same ids")
    add_flag(parser, "--sign", "sign each event with this machine's key; check verifies it")
    add_max_line_option(parser)
    add_flag(parser, "--strict", "reject duplicate keys; exit with 3 when anything is left out")


def run(options: Namespace) -> int:
    """Translate every file in turn; a file that cannot be read counts as a bad line does."""
    translation = Translation(_build_plan(options))
    bad_lines = bad_files = 0
    for name in options.files or ["-"]:
        try:
            with open_input(name) as stream:
                bad_lines += _translate_stream(stream, name, translation, options)
        except HookonceError as problem:
            bad_files += 1
            warn(f"{problem}")
        if (bad_lines or bad_files) and options.on_error == "stop":
            break
    if not (translation.read_count or bad_lines or bad_files):
        raise HookonceError("there is no document; write JSON lines to stdin, or name a file")
    _print_report(translation, bad_lines, bad_files)
    return 1 if bad_lines or bad_files else EXIT_GAPS if options.strict and translation.unwritten_types else 0


def _build_plan(options: Namespace) -> TranslationPlan:
    name, _, variant = options.to.partition("@")
    target = formats.load(name) if name in formats.FORMATS else payload_format(_writable_agent(name))
    if variant and variant not in target.variants:
        raise UsageError(f"{name} has no variant {variant!r}{_variant_hint(target.variants, name)}")
    if options.sign and name not in SIGNED_FORMATS:
        raise UsageError(f"{target.title} cannot hold a signature; {', '.join(SIGNED_FORMATS)} have one")
    source, profile = (None, "") if options.source is None else resolve_source(options.source)
    received = options.received
    if received not in {None, "now"} and not times.has_zone(received):
        raise UsageError("--received takes a time with a zone, such as 2026-02-23T10:15:30Z, or now")
    return TranslationPlan(
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
        stable_ids=options.stable_ids,
    )


def _writable_agent(name: str) -> Agent:
    agent = find_agent(name, others=formats.FORMATS)
    if not agent.encodes:
        names = ", ".join(agent_name for agent_name in agents.AGENTS if agents.load(agent_name).encodes)
        raise UsageError(f"payloads of {agent.title} can be read but not written; agents that can be written: {names}")
    return agent


def resolve_source(text: str) -> tuple[Agent | Format, str]:
    """The agent or format of that name, and the profile of `FORMAT@PROFILE`."""
    name, _, profile = text.partition("@")
    if name not in formats.FORMATS:
        return find_agent(text, others=formats.FORMATS), ""
    source_format = formats.load(name)
    if source_format.read is None:
        raise UsageError(f"{source_format.title} can be written but not read")
    if profile and profile not in source_format.readers:
        raise UsageError(f"{name} has no profile {profile!r}{_variant_hint(source_format.readers, name)}")
    return source_format, profile


def _variant_hint(names: Iterable[str], format_name: str) -> str:
    variants = ", ".join(f"{format_name}@{name}" for name in names)
    return f"; there is {variants}" if variants else ""


def _translate_stream(stream: BinaryIO, name: str, translation: Translation, options: Namespace) -> int:
    output = sys.stdout.buffer
    is_live = not S_ISREG(fstat(stream.fileno()).st_mode)
    faults = 0
    for outcome in translation.json_lines(read_documents(stream, options.max_line)):
        if isinstance(outcome, LineFault):
            faults += 1
            warn(f"{line_location(name, outcome.line)}: {outcome.message}")
            if options.on_error == "stop":
                break
            continue
        output.write(outcome)
        if is_live:  # somebody may be waiting at the other end
            output.flush()
    return faults


def _print_report(translation: Translation, bad_lines: int, bad_files: int) -> None:
    """What a user must know about what was not carried; nothing when all is well."""
    for note, count in translation.notes.items():
        warn(f"warning: {note}{f' ({count} times)' if count > 1 else ''}")
    warn_of_unwritten(translation.unwritten_types, translation.plan.target.title)
    if translation.withheld_count and sys.stderr.isatty():  # a person is told; in a pipe it is the documented default
        payload_count, level = pluralize(translation.withheld_count, "raw payload"), translation.plan.level
        warn(f"privacy {level}: texts are replaced by hashes, {payload_count} left out (--privacy full keeps them)")
    if bad_lines or bad_files:
        unread_counts = [pluralize(count, noun) for count, noun in ((bad_lines, "line"), (bad_files, "file")) if count]
        written_count = pluralize(translation.written_count, "event")
        warn(f"{' and '.join(unread_counts)} could not be read; {written_count} written")
