"""Diff of two captures: events, payload shapes, offered tools and event order of two agent versions."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from capture import capture_agent, count_text, print_progress, require_program, run_tool
from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict, replace
from provenance import Capture, Provenance, load_capture
from shape import Shape, event_label, join_shapes, shape_of

from hookonce import agents
from hookonce.agents import point_of
from hookonce.base.jsontext import dump, load
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect.query_args import find_agent
from hookonce.lab.prove.certificate import Certificate
from hookonce.lab.prove.prover import prove_agent

ChangeKind = Literal["added", "removed", "type"]
ToolEvent = tuple[str, str | None]  # a native event and a canonical tool


class ComparedVersion(Struct, frozen=True):
    """Agent and version of one capture."""

    agent: str
    version: str


class NameChanges(Struct, frozen=True, kw_only=True):
    """Names that only the new or only the old capture has."""

    added: list[str] = []
    removed: list[str] = []


class KeyChange(Struct, frozen=True, kw_only=True):
    """Change of a payload key of one event and canonical tool, with its types."""

    change: ChangeKind
    event: str
    tool: str | None
    path: str
    old: list[str]
    new: list[str]


class OrderChange(Struct, frozen=True, kw_only=True):
    """Change of event order in the tour: thread, position and labels."""

    thread: int
    after: str | None
    old: list[str]
    new: list[str]


class ClaimChange(Struct, frozen=True, kw_only=True):
    """Change of a claim's state between two certificates."""

    claim: str
    old: str | None
    new: str | None


class CaptureDiff(Struct, frozen=True, kw_only=True):
    """Everything that differs. `calls` are events of a tool where the event itself comes in both; `claims` is None
    where nothing was proven; `notes` are no differences.
    """

    old: ComparedVersion
    new: ComparedVersion
    events: NameChanges
    calls: NameChanges
    keys: list[KeyChange]
    tools: NameChanges
    order: list[OrderChange]
    claims: list[ClaimChange] | None = None
    notes: list[str] = []


def compare_captures(old: Capture, new: Capture) -> CaptureDiff:
    """Compare the payloads of two captures of the same agent."""
    old_provenance, new_provenance = old.provenance, new.provenance
    if old_provenance.agent != new_provenance.agent:
        raise HookonceError(
            f"{old_provenance.agent} and {new_provenance.agent} are two agents; versions of one are compared"
        )
    old_shapes, new_shapes = _shapes_by_event(old), _shapes_by_event(new)
    unsteady = {*old_provenance.unsteady, *new_provenance.unsteady}
    events = _compare_names(
        {event for event, _ in old_shapes} - unsteady, {event for event, _ in new_shapes} - unsteady
    )
    common_events = {event for event, _ in old_shapes} & {event for event, _ in new_shapes}
    return CaptureDiff(
        old=ComparedVersion(old_provenance.agent, old_provenance.version),
        new=ComparedVersion(new_provenance.agent, new_provenance.version),
        events=events,
        calls=_compare_names(_event_labels(old_shapes, common_events), _event_labels(new_shapes, common_events)),
        keys=[
            key
            for tool_event in old_shapes
            if tool_event in new_shapes
            for key in _compare_keys(tool_event, old_shapes[tool_event], new_shapes[tool_event])
        ],
        tools=_compare_names(set(old_provenance.tools), set(new_provenance.tools)),
        order=list(_compare_order(old_provenance, new_provenance, common_events)),
        notes=[
            *_provenance_notes(old_provenance, new_provenance),
            *_unsteady_notes(old_shapes, new_shapes, unsteady),
            *_missed_event_notes(old_provenance.agent, events),
        ],
    )


def compare_claims(old: Certificate, new: Certificate) -> list[ClaimChange]:
    """Compare the claim states of two certificates, in the order of the new one."""
    old_states, new_states = ({claim.claim: claim.state for claim in certificate.claims} for certificate in (old, new))
    names = [*new_states, *(name for name in old_states if name not in new_states)]
    changes = [ClaimChange(claim=name, old=old_states.get(name), new=new_states.get(name)) for name in names]
    return [claim for claim in changes if claim.old != claim.new]


def count_changes(diff: CaptureDiff) -> int:
    """Number of changes."""
    name_changes = (diff.events, diff.calls, diff.tools)
    name_count = sum(len(changes.added) + len(changes.removed) for changes in name_changes)
    return name_count + len(diff.keys) + len(diff.order) + len(diff.claims or [])


def _shapes_by_event(capture: Capture) -> dict[ToolEvent, Shape]:
    shapes_by_event: dict[ToolEvent, list[Shape]] = {}
    for golden in capture.provenance.files:
        shapes_by_event.setdefault((golden.event, golden.tool), []).append(shape_of(capture.payloads[golden.file]))
    return {tool_event: join_shapes(shapes) for tool_event, shapes in sorted(shapes_by_event.items(), key=str)}


def _event_labels(shapes: dict[ToolEvent, Shape], events: set[str]) -> set[str]:
    return {event_label(event, tool) for event, tool in shapes if event in events}


def _compare_names(old: set[str], new: set[str]) -> NameChanges:
    return NameChanges(added=sorted(new - old), removed=sorted(old - new))


def _compare_keys(tool_event: ToolEvent, old: Shape, new: Shape) -> Iterator[KeyChange]:
    """The keys that differ; what is below a key that is only in one of them goes without saying."""
    for path in sorted({*old, *new}):
        old_types, new_types = old.get(path, frozenset()), new.get(path, frozenset())
        if old_types == new_types or not (_parent_path(path) in old and _parent_path(path) in new):
            continue
        change: ChangeKind = "type" if old_types and new_types else "added" if new_types else "removed"
        yield KeyChange(
            change=change,
            event=tool_event[0],
            tool=tool_event[1],
            path=path,
            old=sorted(old_types),
            new=sorted(new_types),
        )


def _parent_path(path: str) -> str:
    """The path around a path; the whole payload is around itself."""
    for end in ("[]", '"]'):
        if path.endswith(end):
            return path.removesuffix("[]") if end == "[]" else path[: path.rindex('["')]
    return path.rpartition(".")[0] or path


def _compare_order(old: Provenance, new: Provenance, common_events: set[str]) -> Iterator[OrderChange]:
    """Where the order differs; events that come in one of them only are told elsewhere."""
    for thread, pair in enumerate(zip_longest(old.order, new.order)):
        old_labels, new_labels = (
            [
                label_text
                for label_text in labels or []
                if label_text in common_events or label_text.rpartition(" ")[0] in common_events
            ]
            for labels in pair
        )
        for operation, a, b, c, d in SequenceMatcher(None, old_labels, new_labels, autojunk=False).get_opcodes():
            if operation != "equal":
                yield OrderChange(
                    thread=thread, after=old_labels[a - 1] if a else None, old=old_labels[a:b], new=new_labels[c:d]
                )


def _provenance_notes(old: Provenance, new: Provenance) -> Iterator[str]:
    if old.scenarios != new.scenarios:
        yield f"other scenarios: {', '.join(old.scenarios)}; {', '.join(new.scenarios)}"
    for side, provenance in (("old", old), ("new", new)):
        if provenance.gaps:
            yield f"payloads of the {side} one that were not kept: {len(provenance.gaps)}"


def _unsteady_notes(old: dict[ToolEvent, Shape], new: dict[ToolEvent, Shape], unsteady: set[str]) -> Iterator[str]:
    old_events, new_events = ({event for event, _ in shapes} for shapes in (old, new))
    for event in sorted(unsteady & (old_events ^ new_events)):
        yield f"{event} came only in the {'old' if event in old_events else 'new'} one, but comes in some runs only"


def _missed_event_notes(agent: str, events: NameChanges) -> Iterator[str]:
    """Events that are different as far as was heard: an agent that does not wait for its hooks may have been gone."""
    agent_table = agents.load(agent)
    for event in [*events.added, *events.removed]:
        if not point_of(agent_table, event).capabilities:
            yield f"the agent does not wait for {event}, so one capture may have missed it: capture again to be sure"


_SIGNS = {"added": "+", "removed": "-", "type": "~"}


def diff_lines(diff: CaptureDiff) -> Iterator[str]:
    """Format a capture diff as grouped lines with counts."""
    old, new = (f"{side.agent} {side.version}" for side in (diff.old, diff.new))
    change_count = count_changes(diff)
    yield f"{old} and {new}: {count_text(change_count, 'difference') if change_count else 'the same'}"
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


_USAGE = "two folders, or an agent and two versions: diff.py OLD NEW, diff.py AGENT V1 V2"
_HELP = """OLD and NEW are folders that `capture.py` has made. With an agent and two versions, which must have
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
  python tools/capture/diff.py captures/codex-0.165.0 captures/codex-0.166.0
  python tools/capture/diff.py claude-code 2.1.197 2.1.325
  python tools/capture/diff.py qwen-code 0.15.10 0.24.4 --certificates docs/certificates --json"""


def configure(parser: ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "diff.py [-h] [--prove | --certificates DIR] [--json] (OLD NEW | AGENT V1 V2)"
    parser.add_argument("words", nargs="+", metavar="OLD NEW | AGENT V1 V2", help="what is compared")
    claims = parser.add_mutually_exclusive_group()
    claims.add_argument("--prove", action="store_true", help="also prove both, and compare the states of claims")
    claims.add_argument(
        "--certificates", type=Path, metavar="DIR", help="also compare claims, as `hookonce prove --out DIR` wrote them"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> int:
    """Tell two versions of an agent apart."""
    old, new = _load_captures(options.words)
    diff = compare_captures(old, new)
    if options.prove or options.certificates:
        diff = replace(
            diff, claims=compare_claims(*(_load_certificate(options, side) for side in (diff.old, diff.new)))
        )
    if options.json:
        print(dump({"same": not count_changes(diff)} | asdict(diff)).decode())
    else:
        print("\n".join(diff_lines(diff)))
    return int(bool(count_changes(diff)))


def _load_captures(arguments: list[str]) -> list[Capture]:
    match arguments:
        case [old, new]:
            return [load_capture(Path(old)), load_capture(Path(new))]
        case [name, *versions] if len(versions) == 2:  # noqa: PLR2004  the old one and the new one
            agent = find_agent(name).name
            programs = [require_program(agent, version) for version in versions]  # both, before anything is run
            return [capture_agent(program, [], print_progress) for program in programs]
    raise UsageError(_USAGE)


def _load_certificate(options: Namespace, version: ComparedVersion) -> Certificate:
    if options.prove:
        return prove_agent(require_program(version.agent, version.version), 1, print_progress)
    path: Path = options.certificates / f"{version.agent}-{version.version}.json"
    try:
        return convert(load(path.read_text(encoding="utf-8")), Certificate)
    except FileNotFoundError:
        raise HookonceError(
            f"there is no {path}; hookonce prove {version.agent} --out {path.parent} writes one"
        ) from None
    except (ValidationError, ValueError, OSError) as problem:
        raise HookonceError(f"{path} is no certificate: {problem}") from None


if __name__ == "__main__":
    sys.exit(run_tool("Show what changed between two versions of an agent.", _HELP, configure, run))
