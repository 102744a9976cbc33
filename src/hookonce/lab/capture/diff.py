"""Diff of two captures: events, payload shapes, offered tools and event order of two agent versions."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from msgspec import Struct

from hookonce import agents
from hookonce.agents import point_of
from hookonce.errors import HookonceError
from hookonce.lab.capture.provenance import Capture, Provenance
from hookonce.lab.capture.shape import Shape, event_label, join_shapes, shape_of
from hookonce.lab.prove.certificate import Certificate

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
            f"{old_provenance.agent} and {new_provenance.agent} are two agents; lab diff compares versions of one"
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
