"""Intake of events in open formats: a document becomes an event, and one of the same id and content is the same event.

What an id means is found in two places: among calls of the last minutes (the deduplication store, which also keeps
two processes from asking the hooks of one event), and in the record. An event of a known id with other content has an
id of its own, derived from both; the id that it came with is kept in its origin.
"""

import os
from collections.abc import Callable, Generator
from contextlib import suppress
from time import time

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.base import ids, settings, times
from hookonce.base.jsontext import canonical_bytes
from hookonce.base.process_info import is_process_alive
from hookonce.dispatch import dedup
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.dedup import DedupEntries, DedupEntry, DedupStore
from hookonce.dispatch.request.call_request import CallDecision
from hookonce.errors import HookonceError
from hookonce.model import SCHEMA, Decision, Event, Format, Gap, Object, Origin, Record
from hookonce.secrets import log
from hookonce.store.spool import files
from hookonce.store.spool.lookup import KnownEvent
from hookonce.vocabulary.events import CALLER_FIELDS, is_imported

CONFLICT, RETRY = "conflict", "retry"
FAIL_MODE = "fail mode"  # how the gap of a call is named that was answered without its hooks
BEST_EFFORT = "best effort"  # how a format names a gap of a version that it does not know
FindEvent = Callable[[str], KnownEvent | None]
_MAX_UNREADABLE_CHARS = 1 << 16  # of what could not be read; the rest is counted


def read_document(form: Format, document: Object, received: str, via: str | None = None) -> Record:
    """The record of a document as it came in just now; a DocumentError if its format cannot read it."""
    if form.read is None:
        raise HookonceError(f"{form.title} can be written but not read")
    record = form.read(document)
    event = record.event
    own_id = event.origin.id if event.origin is not None else None
    origin = Origin(format=form.name, id=own_id, via=[] if via is None else [via], digest=content_digest(document))
    timing: Object = {} if event.time_source != "none" else {"time": received, "time_source": "received"}
    native = document if event.native is None else event.native
    data = {name: value for name, value in event.data.items() if name not in CALLER_FIELDS}  # ours to know
    event = replace(_with_canonical_tool(event), origin=origin, native=native, received=received, data=data, **timing)
    return replace(record, event=event)


def content_digest(document: Object) -> str:
    """Keyed hash of a document's canonical JSON."""
    from hookonce.store.integrity import keys
    from hookonce.store.privacy.redact import digest

    key = None
    with suppress(OSError, HookonceError):  # where no key can be kept, nothing else is either
        key = keys.load_digest_key()
    return digest(canonical_bytes(document).decode(), key).hash


def _with_canonical_tool(event: Event) -> Event:
    """The event with its tool by its canonical name, where the format has the agent's own and the agent is known."""
    tool = event.tool
    if tool is None or tool.name != tool.native or event.agent not in agents.AGENTS:
        return event
    return replace(event, tool=replace(tool, name=agents.canonical_tool_name(agents.load(event.agent), tool.native)))


def unreadable_record(form: Format, raw: bytes, problem: Exception) -> Record:
    """A record that something came just now which is no event of its format, with the beginning of it."""
    text, received = raw.decode(errors="replace"), times.now()
    event = Event(
        id=ids.new_id(),
        schema=SCHEMA,
        type=f"vendor.{form.name}.unreadable",
        agent=form.name,
        time=received,
        time_source="received",
        received=received,
        data={"length": len(raw)},
        origin=Origin(format=form.name),
        native={"text": text[:_MAX_UNREADABLE_CHARS]},
    )
    note = f"{problem}; send one JSON document of {form.title}"
    return Record(event=event, gaps=[Gap(where="$", capability="read", strategy="kept", effect="observes", note=note)])


def conflict_id(event: Event) -> str:
    """The id of an event whose own id another one has: the same for the same content."""
    return ids.derive_id(event.id, CONFLICT, _digest_of(event))


def id_gap(event: Event, event_id: str) -> Gap:
    """The gap of an event that is recorded under another id than its own."""
    own_id = (event.origin.id if event.origin is not None else None) or event.id
    is_conflict = event_id == conflict_id(event)
    note = f"another event has the id {own_id} and says something else; ids must be unique"
    if not is_conflict:
        note = f"hooks did not run when {own_id} came first, but ran now"
    capability = CONFLICT if is_conflict else RETRY
    return Gap(where="$.event.id", capability=capability, strategy="derived id", effect="observes", note=note)


def rename_event(event: Event, document: Record, event_id: str) -> tuple[Event, Record]:
    """The event under another id than its own, which its origin keeps; its document has a gap that says why."""
    if event.id == event_id:
        return event, document
    origin = event.origin or Origin()
    gaps = [*document.gaps, id_gap(event, event_id)]
    return replace(event, id=event_id, origin=replace(origin, id=origin.id or event.id)), replace(document, gaps=gaps)


def _digest_of(event: Event) -> str:
    return (event.origin.digest if event.origin is not None else None) or ""


def join_event(event: Event, call_id: str, deadline: float, store: DedupStore) -> Generator[float, None, DedupEntry]:
    """Join the calls with this event: its entry when it is ours to decide, or once it is decided elsewhere."""
    problem = "the same event came in before, and was not decided in time"
    return (yield from dedup.await_decision(lambda: _join(event, call_id, store), call_id, deadline, problem))


def _join(event: Event, call_id: str, store: DedupStore) -> DedupEntry:
    content = _digest_of(event)

    def join(entries: DedupEntries) -> DedupEntries:
        entries = [entry for entry in entries if not dedup.is_stale(entry, dedup.CALL_ID_WINDOW_S)]
        if not any(content in entry.ids for entry in entries):
            has_id = any(entry.first_id == event.id for entry in entries)
            event_id = conflict_id(event) if has_id else event.id
            return [*entries, DedupEntry({content: event_id}, os.getpid(), time(), by=call_id)]
        return [_take_over(entry, call_id) if content in entry.ids else entry for entry in entries]

    return next(entry for entry in store(_page_key(event), join) if content in entry.ids)


def _take_over(entry: DedupEntry, call_id: str) -> DedupEntry:
    """The entry as ours to decide, if it is this very call or nobody decides it any more."""
    if entry.decided is not None or (entry.by != call_id and is_process_alive(entry.pid)):
        return entry
    return replace(entry, pid=os.getpid(), by=call_id)


def _page_key(event: Event) -> str:
    return dedup.digest_key("event", event.id)


def publish_decision(event: Event, event_id: str, decision: CallDecision, store: DedupStore) -> None:
    """Publish the decision of an event, and the id under which it is recorded."""
    content = _digest_of(event)
    entry = DedupEntry({content: event_id}, os.getpid(), time(), decision)
    # Where somebody else writes the page, the record tells it.
    dedup.update_entries(_page_key(event), lambda one: entry if content in one.ids else one, store)


def abandon_event(event: Event, store: DedupStore) -> None:
    """Give up deciding: whoever waits with the same event decides."""
    content = _digest_of(event)
    dedup.update_entries(_page_key(event), lambda entry: None if content in entry.ids else entry, store)


class EventPlace(Struct, frozen=True, kw_only=True):
    """Place of an event in the record: the id that it gets, and what is recorded of it already.

    `earlier` is the record of an event whose hooks were asked; `known_id` the id of one whose hooks were not, because
    it was imported or they could not be, or which was erased.
    """

    id: str
    earlier: KnownEvent | None = None
    known_id: str | None = None
    is_erased: bool = False

    def recorded_id(self, call_decision: CallDecision) -> str | None:
        """The id of the record that tells this decision already, if nothing is to be recorded beside it."""
        if self.earlier is not None:
            return self.id
        is_new = bool(call_decision.runs) or call_decision.decision != Decision()
        return None if is_new and not self.is_erased else self.known_id


def resolve_event(event: Event, entry: DedupEntry, find_event: FindEvent) -> EventPlace:
    """The place of an event in the record.

    An event whose hooks were not asked when it came first is asked now, and what they say is recorded beside that. One
    that was erased is asked as well, and stays erased; nobody can tell any more what it said.
    """
    event_id, earlier = event.id, find_event(event.id)
    is_same = earlier is not None and _has_content(earlier, event)
    if not is_same and (earlier is not None or entry.first_id != event_id):
        other_id = conflict_id(event)
        other = find_event(other_id)
        if earlier is None or earlier.record is not None or other is not None:
            event_id, earlier = other_id, other
    if earlier is None or (earlier.record is not None and _was_asked(earlier.record)):
        return EventPlace(id=event_id, earlier=earlier)
    if earlier.record is None:
        log.write(f"on {event.agent}: event {event_id} was erased and came again: hooks run, nothing is recorded")
        return EventPlace(id=event_id, known_id=event_id, is_erased=True)
    retry_id = ids.derive_id(event_id, RETRY, "")
    retry = find_event(retry_id)
    is_asked = retry is not None and (retry.record is None or _was_asked(retry.record))
    return EventPlace(id=retry_id, earlier=retry if is_asked else None, known_id=event_id)


def failure_record(event: Event, document: Record, gaps: list[Gap], call_context: CallContext) -> tuple[Record, bool]:
    """The record of an event whose hooks could not be asked, and whether one is there already, perhaps erased."""
    event_id, earlier = event.id, call_context.find_event(event.id)
    is_other = earlier is not None and earlier.record is not None and not _has_content(earlier, event)
    if is_other or (earlier is None and _is_id_taken(event, call_context.dedup_store)):
        event_id = conflict_id(event)
        earlier = call_context.find_event(event_id)
    event, document = rename_event(event, document, event_id)
    return Record(event=event, gaps=[*document.gaps, *gaps]), earlier is not None


def _is_id_taken(event: Event, store: DedupStore) -> bool:
    """Whether an event with other content, which is not recorded yet, came first with this id."""
    entries = dedup.update_entries(_page_key(event), lambda entry: entry, store)
    return any(entry.first_id == event.id and _digest_of(event) not in entry.ids for entry in entries)


def _was_asked(record: Record) -> bool:
    """Whether the hooks of a recorded event were asked: it came live, and they could be."""
    return not is_imported(record.event) and all(gap.strategy != FAIL_MODE for gap in record.gaps)


def _has_content(earlier: KnownEvent, event: Event) -> bool:
    return earlier.record is not None and _digest_of(earlier.record.event) == _digest_of(event)


def report_gaps(record: Record) -> None:
    """Tell the log of an event in a version that nobody knows, and of one whose id another event has."""
    event, form_name = record.event, record.event.origin and record.event.origin.format
    for gap in record.gaps:
        if gap.capability == CONFLICT:
            files.count_conflict()
        if gap.capability == CONFLICT or gap.strategy == BEST_EFFORT:
            log.write(f"on {form_name}: warning: {gap.note} ({event.agent}, event {event.id})")


def is_recorded(event_id: str, find_event: FindEvent) -> bool:
    """Whether an event is in the record, or nobody wants it there."""
    return not settings.load().record or find_event(event_id) is not None


def recorded_decision(earlier: KnownEvent, document: Record) -> CallDecision:
    """What was decided of an event that is in the record, as far as privacy has left it there."""
    record = earlier.record
    decision = None if record is None else record.decision
    if record is None or decision is None or _is_senders(decision, record, document):
        return CallDecision(decision=Decision())
    if any((gap.where or "").startswith("$.decision.updated_input") for gap in record.gaps):
        reason = "this event was answered before with other input, which is not known any more"
        return CallDecision(decision=Decision(outcome="deny", reason=reason, by="hookonce"))
    return CallDecision(decision=decision, runs=record.runs)


def _is_senders(decision: Decision, record: Record, document: Record) -> bool:
    """Whether a recorded decision is the one that its document told, and no hook of ours has made it."""
    if decision.by is not None:
        return False
    own = document.decision
    return not record.runs or (own is not None and (own.outcome, own.reason) == (decision.outcome, decision.reason))
