"""diff: two captures ─ their events, shapes, tools and order ─ what is different between two versions of an agent."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from msgspec import Struct

from hookonce import agents
from hookonce.agents import point_of
from hookonce.errors import HookonceError
from hookonce.lab.certificate import Certificate
from hookonce.lab.order import label
from hookonce.lab.provenance import Capture, Provenance
from hookonce.lab.shape import Shape, joined, shape

Change = Literal["added", "removed", "type"]
Call = tuple[str, str | None]  # a native event and a canonical tool


class Side(Struct, frozen=True):
    """One of the two."""

    agent: str
    version: str


class Names(Struct, frozen=True, kw_only=True):
    """Names that are only in the new one, and only in the old one."""

    added: list[str] = []
    removed: list[str] = []


class Key(Struct, frozen=True, kw_only=True):
    """A key of an event's payload, for one canonical tool if it is about one, with the types of its values."""

    change: Change
    event: str
    tool: str | None
    path: str
    old: list[str]
    new: list[str]


class Turn(Struct, frozen=True, kw_only=True):
    """Where the order of events in the tour differs: in which list of it, after what, and what comes there."""

    thread: int
    after: str | None
    old: list[str]
    new: list[str]


class Verdict(Struct, frozen=True, kw_only=True):
    """A claim that holds in one of them only, or about which only one says something."""

    claim: str
    old: str | None
    new: str | None


class Difference(Struct, frozen=True, kw_only=True):
    """Everything that differs. `calls` are events of a tool where the event itself comes in both; `claims` is None
    where nothing was proven; `notes` are no differences.
    """

    old: Side
    new: Side
    events: Names
    calls: Names
    keys: list[Key]
    tools: Names
    order: list[Turn]
    claims: list[Verdict] | None = None
    notes: list[str] = []


def compare(old: Capture, new: Capture) -> Difference:
    """What is different in the payloads of two captures of the same agent."""
    one, other = old.provenance, new.provenance
    if one.agent != other.agent:
        raise HookonceError(f"{one.agent} and {other.agent} are two agents; lab diff compares versions of one")
    before, after = _shapes(old), _shapes(new)
    unsteady = {*one.unsteady, *other.unsteady}
    events = _names({event for event, _ in before} - unsteady, {event for event, _ in after} - unsteady)
    both = {event for event, _ in before} & {event for event, _ in after}
    return Difference(
        old=Side(one.agent, one.version),
        new=Side(other.agent, other.version),
        events=events,
        calls=_names(_calls(before, both), _calls(after, both)),
        keys=[key for call in before if call in after for key in _keys(call, before[call], after[call])],
        tools=_names(set(one.tools), set(other.tools)),
        order=list(_turns(one, other, both)),
        notes=[*_notes(one, other), *_sometimes(before, after, unsteady), *_missed(one.agent, events)],
    )


def verdicts(old: Certificate, new: Certificate) -> list[Verdict]:
    """The claims that are in another state, in the order of the new certificate."""
    before, after = ({one.claim: one.state for one in made.claims} for made in (old, new))
    names = [*after, *(name for name in before if name not in after)]
    found = [Verdict(claim=name, old=before.get(name), new=after.get(name)) for name in names]
    return [one for one in found if one.old != one.new]


def count(difference: Difference) -> int:
    """How many differences there are."""
    names = (difference.events, difference.calls, difference.tools)
    named = sum(len(one.added) + len(one.removed) for one in names)
    return named + len(difference.keys) + len(difference.order) + len(difference.claims or [])


def _shapes(capture: Capture) -> dict[Call, Shape]:
    found: dict[Call, list[Shape]] = {}
    for one in capture.provenance.files:
        found.setdefault((one.event, one.tool), []).append(shape(capture.payloads[one.file]))
    return {call: joined(shapes) for call, shapes in sorted(found.items(), key=str)}


def _calls(shapes: dict[Call, Shape], events: set[str]) -> set[str]:
    return {label(event, tool) for event, tool in shapes if event in events}


def _names(old: set[str], new: set[str]) -> Names:
    return Names(added=sorted(new - old), removed=sorted(old - new))


def _keys(call: Call, old: Shape, new: Shape) -> Iterator[Key]:
    """The keys that differ; what is below a key that is only in one of them goes without saying."""
    for path in sorted({*old, *new}):
        was, now = old.get(path, frozenset()), new.get(path, frozenset())
        if was == now or not (_parent(path) in old and _parent(path) in new):
            continue
        change: Change = "type" if was and now else "added" if now else "removed"
        yield Key(change=change, event=call[0], tool=call[1], path=path, old=sorted(was), new=sorted(now))


def _parent(path: str) -> str:
    """The path around a path; the whole payload is around itself."""
    for end in ("[]", '"]'):
        if path.endswith(end):
            return path.removesuffix("[]") if end == "[]" else path[: path.rindex('["')]
    return path.rpartition(".")[0] or path


def _turns(old: Provenance, new: Provenance, both: set[str]) -> Iterator[Turn]:
    """Where the order differs; events that come in one of them only are told elsewhere."""
    for thread, pair in enumerate(zip_longest(old.order, new.order)):
        was, now = ([one for one in told or [] if one in both or one.rpartition(" ")[0] in both] for told in pair)
        for what, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
            if what != "equal":
                yield Turn(thread=thread, after=was[a - 1] if a else None, old=was[a:b], new=now[c:d])


def _notes(old: Provenance, new: Provenance) -> Iterator[str]:
    if old.scenarios != new.scenarios:
        yield f"other scenarios: {', '.join(old.scenarios)}; {', '.join(new.scenarios)}"
    for which, told in (("old", old), ("new", new)):
        if told.gaps:
            yield f"payloads of the {which} one that were not kept: {len(told.gaps)}"


def _sometimes(old: dict[Call, Shape], new: dict[Call, Shape], unsteady: set[str]) -> Iterator[str]:
    """Events that came in one of them only, and come in some runs of either."""
    before, after = ({event for event, _ in shapes} for shapes in (old, new))
    for event in sorted(unsteady & (before ^ after)):
        yield f"{event} came only in the {'old' if event in before else 'new'} one, but comes in some runs only"


def _missed(agent: str, events: Names) -> Iterator[str]:
    """Events that are different as far as was heard: an agent that does not wait for its hooks may have been gone."""
    known = agents.load(agent)
    for event in [*events.added, *events.removed]:
        if not point_of(known, event).can:
            yield f"the agent does not wait for {event}, so one capture may have missed it: capture again to be sure"
