"""hookonce lab diff: compare the captures of two versions of an agent."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from msgspec import ValidationError, convert
from msgspec.structs import asdict, replace

from hookonce.base.jsontext import dump, load
from hookonce.cli._ui import names
from hookonce.cli._ui.messages import pluralize, show_progress
from hookonce.errors import HookonceError, UsageError
from hookonce.lab.capture.capture import capture_agent, require_program
from hookonce.lab.capture.diff import (
    CaptureDiff,
    ComparedVersion,
    KeyChange,
    NameChanges,
    OrderChange,
    compare_captures,
    compare_claims,
    count_changes,
)
from hookonce.lab.capture.provenance import Capture, load_capture
from hookonce.lab.capture.shape import event_label
from hookonce.lab.prove.certificate import Certificate
from hookonce.lab.prove.prover import prove_agent

_SIGNS = {"added": "+", "removed": "-", "type": "~"}


def diff_lines(diff: CaptureDiff) -> Iterator[str]:
    """Format a capture diff as grouped lines with counts."""
    old, new = (f"{side.agent} {side.version}" for side in (diff.old, diff.new))
    change_count = count_changes(diff)
    yield f"{old} and {new}: {pluralize(change_count, 'difference') if change_count else 'the same'}"
    yield from _name_section("events", diff.events)
    yield from _name_section("events of a tool", diff.calls)
    yield from _name_section("tools that the model is offered", diff.tools)
    yield from _section("keys of payloads", len(diff.keys), _key_lines(diff.keys))
    yield from _section("order of events in the tour", len(diff.order), map(_order_line, diff.order))
    claims = diff.claims or []
    yield from _section(
        "claims", len(claims), (f"{claim.claim}: {claim.old or '-'} → {claim.new or '-'}" for claim in claims)
    )
    for note in diff.notes:
        yield f"note: {note}"


def _section(title: str, count: int, rows: Iterator[str]) -> Iterator[str]:
    if count:
        yield f"\n{title} ({count})"
        yield from (f"  {row}" for row in rows)


def _name_section(title: str, names: NameChanges) -> Iterator[str]:
    rows = [
        f"{sign} {', '.join(changed_names)}"
        for sign, changed_names in (("+", names.added), ("-", names.removed))
        if changed_names
    ]
    yield from _section(title, len(names.added) + len(names.removed), iter(rows))


def _key_lines(keys: list[KeyChange]) -> Iterator[str]:
    events_by_change: dict[str, list[str]] = {}
    for key in keys:
        types = "/".join(key.new or key.old) if key.change != "type" else f"{'/'.join(key.old)} → {'/'.join(key.new)}"
        events_by_change.setdefault(f"{_SIGNS[key.change]} {key.path} ({types})", []).append(
            event_label(key.event, key.tool)
        )
    yield from (f"{change}: {', '.join(_group_by_event(labels))}" for change, labels in events_by_change.items())


def _group_by_event(labels: list[str]) -> list[str]:
    tools_by_event: dict[str, list[str]] = {}
    for label_text in labels:
        event, _, tool = label_text.rpartition(" ")
        tools_by_event.setdefault(event or tool, []).extend([tool] if event else [])
    return [f"{event} of {' '.join(tools)}" if tools else event for event, tools in tools_by_event.items()]


def _order_line(change: OrderChange) -> str:
    where = "the main agent" if not change.thread else f"sub-agent {change.thread}"
    after = f"after {change.after}" if change.after else "at first"
    return f"{where}, {after}: {', '.join(change.old) or 'nothing'} → {', '.join(change.new) or 'nothing'}"


_USAGE = "two folders, or an agent and two versions: hookonce lab diff OLD NEW, hookonce lab diff AGENT V1 V2"
_DIFF_HELP = """OLD and NEW are folders that `hookonce lab capture` has made. With an agent and two versions, which must have
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
    parser.epilog = _DIFF_HELP
    parser.add_argument("words", nargs="+", metavar="OLD NEW | AGENT V1 V2", help="what is compared")
    claims = parser.add_mutually_exclusive_group()
    claims.add_argument("--prove", action="store_true", help="also prove both, and compare the states of claims")
    claims.add_argument(
        "--certificates", type=Path, metavar="DIR", help="also compare claims, as `hookonce prove --out DIR` wrote them"
    )
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Tell two versions of an agent apart."""
    old, new = _load_captures(options.words)
    diff = compare_captures(old, new)
    if options.prove or options.certificates:
        diff = replace(
            diff, claims=compare_claims(*(_load_certificate(options, side) for side in (diff.old, diff.new)))
        )
    show_progress("")
    if options.json:
        sys.stdout.buffer.write(dump({"same": not count_changes(diff)} | asdict(diff)) + b"\n")
    else:
        print("\n".join(diff_lines(diff)))
    return int(bool(count_changes(diff)))


def _load_captures(arguments: list[str]) -> list[Capture]:
    match arguments:
        case [old, new]:
            return [load_capture(Path(old)), load_capture(Path(new))]
        case [name, *versions] if len(versions) == 2:  # noqa: PLR2004  the old one and the new one
            agent = names.find_agent(name).name
            programs = [require_program(agent, version) for version in versions]  # both, before anything is run
            return [capture_agent(program, [], show_progress) for program in programs]
    raise UsageError(_USAGE)


def _load_certificate(options: Namespace, version: ComparedVersion) -> Certificate:
    if options.prove:
        return prove_agent(require_program(version.agent, version.version), 1, show_progress)
    path: Path = options.certificates / f"{version.agent}-{version.version}.json"
    try:
        return convert(load(path.read_text(encoding="utf-8")), Certificate)
    except FileNotFoundError:
        raise HookonceError(
            f"there is no {path}; hookonce prove {version.agent} --out {path.parent} writes one"
        ) from None
    except (ValidationError, ValueError, OSError) as problem:
        raise HookonceError(f"{path} is no certificate: {problem}") from None
