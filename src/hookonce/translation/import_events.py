"""Import of events into the store, parsed and redacted; each event is stored once, however often it comes."""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from hookonce import formats
from hookonce.base.json_stream import TOO_DEEP, StreamLine, parse_json
from hookonce.base.jsontext import dump
from hookonce.dispatch.identification import identify
from hookonce.dispatch.intake import content_digest
from hookonce.dispatch.live_formats import is_live
from hookonce.errors import HookonceError
from hookonce.model import Agent, Event, Format, Object, Origin, Record
from hookonce.sessions.attribution import public_user
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.integrity import keys
from hookonce.store.integrity.signature import signer_title, verify_document
from hookonce.store.privacy.redact import LEVELS, Level, redact
from hookonce.store.writer import Writer, read_chain_head
from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan
from hookonce.vocabulary.events import IMPORT_ORIGIN

_BATCH_EVENTS = 500
_EXPORT_KEYS = ("seq", "hash")  # what an export says of a row beside its record
_SIGNED_PREFIX = "signed by "
_SELECT_EXISTING = "SELECT id FROM events WHERE seq <= ? AND id IN (SELECT value FROM json_each(?))"


class ImportProgress(Struct, frozen=True, kw_only=True):
    """Progress: lines that were read, events that are new or were there before, and lines that are no event.

    `repeat_events` have the id of an earlier event of these lines, which is the one that is kept; `repeat_lines` say
    what the line of another event says too, as formats with several documents for one event have them; `faults` are
    lines that could not be read.
    """

    line_count: int = 0
    new: int = 0
    existing: int = 0
    repeat_events: int = 0
    repeat_lines: int = 0
    faults: list[LineFault] = []
    signed_by: dict[str, int] = {}  # lines with a valid signature, by who has signed them
    broken_count: int = 0  # lines whose signature does not fit them; they are among the faults


def import_events(
    lines: Iterable[StreamLine], writer: Writer, level: Level, source: Agent | Format | None = None
) -> Iterator[ImportProgress]:
    """Store the events of the lines, a batch at a time, at the stricter of the store's and their privacy level."""
    canonical = formats.load("canonical")
    # A file that is brought twice has the same events both times.
    plan = TranslationPlan(target=canonical, source=source, level="full", received="now", stable_ids=True)
    translation = Translation(plan)
    progress, batch, faults = ImportProgress(), list[StoreEntry](), list[LineFault]()
    signers, broken_count = Counter[str](), 0
    last_seq = read_chain_head(writer.connection).seq
    for number, line in enumerate(lines, 1):
        is_repeat = False
        try:
            signer = _find_signer(line, source)
            entries = _line_entries(translation, line, level, signer)
            batch += entries
            is_repeat = not entries
            signers.update(() if signer is None else (signer,))
        except (HookonceError, RecursionError) as problem:
            message = TOO_DEEP if isinstance(problem, RecursionError) else str(problem)
            faults.append(LineFault(line=line.number, message=message))
            broken_count += isinstance(problem, BrokenSignature)
        repeat_lines = progress.repeat_lines + is_repeat
        progress = replace(progress, line_count=number, repeat_lines=repeat_lines, faults=faults)
        progress = replace(progress, signed_by=dict(signers), broken_count=broken_count)
        if len(batch) >= _BATCH_EVENTS or len(faults) >= _BATCH_EVENTS:
            yield (progress := _store_batch(writer, batch, progress, last_seq))
            batch, faults = [], []
    yield _store_batch(writer, batch, replace(progress, faults=faults), last_seq)


def _store_batch(writer: Writer, batch: list[StoreEntry], progress: ImportProgress, last_seq: int) -> ImportProgress:
    """Store a batch; what is there already, though not up to `last_seq`, came with earlier lines."""
    event_ids = [entry.record.event.id for entry in batch]
    rows = writer.connection.execute(_SELECT_EXISTING, (last_seq, dump(event_ids).decode()))
    existing_ids = {event_id for (event_id,) in rows}
    new, existing = writer.append(batch), sum(event_id in existing_ids for event_id in event_ids)
    return replace(
        progress,
        new=progress.new + new,
        existing=progress.existing + existing,
        repeat_events=progress.repeat_events + len(batch) - new - existing,
    )


class BrokenSignature(HookonceError):
    """An event is not what somebody has signed."""


def _find_signer(line: StreamLine, source: Agent | Format | None) -> str | None:
    """Who has signed the document of a line; None if nobody has. Most lines are not even parsed for it."""
    if line.fault is not None or b"signature" not in line.raw or isinstance(source, Agent):
        return None
    document = parse_json(line.raw)
    name = identify(document).name if source is None else source.name
    state = verify_document(name, document) if name is not None and type(document) is dict else None
    if state is None:
        return None
    if state[0] == "wrong":
        raise BrokenSignature("the signature does not match the event: one of them was changed; it is not imported")
    return signer_title(*state)


def _line_entries(translation: Translation, line: StreamLine, level: Level, signer: str | None) -> list[StoreEntry]:
    if line.fault is None and line.raw.lstrip()[:1] == b"{":
        document = parse_json(line.raw)
        level = next((strict for strict in LEVELS if strict in {level, document.get("level")}), level)
        if "event" in document and any(name in document for name in _EXPORT_KEYS):
            plain = {name: value for name, value in document.items() if name not in _EXPORT_KEYS}
            line = StreamLine(line.number, dump(plain))
    return [_build_entry(document, level, signer, line.raw) for document in translation.translate_line(line)]


def _build_entry(document: Object, level: Level, signer: str | None, raw: bytes) -> StoreEntry:
    fields = {name: document[name] for name in Record.__struct_fields__}
    record = Record(**fields | {"event": _mark_import(document["event"], signer, raw)})
    output_record = redact(
        record, level, keys.load_digest_key(), user=public_user(record.event.user, None), keeps_addresses=True
    )
    return build_entry(
        replace(output_record, gaps=list(dict.fromkeys(output_record.gaps)))
    )  # some of it may have been left out before


def _mark_import(event: Event, signer: str | None, raw: bytes) -> Event:
    """Whoever looks at it later sees that no agent has sent us this, and who has signed it, by no word of its own.

    The digest of its document is kept, so that it is known if a tool sends it too.
    """
    origin = event.origin or Origin()
    digest = content_digest(parse_json(raw)) if is_live(origin.format) else None
    via = [name for name in origin.via if name != IMPORT_ORIGIN and not name.startswith(_SIGNED_PREFIX)]
    signature = [] if signer is None else [_SIGNED_PREFIX + signer]
    return replace(event, origin=replace(origin, via=[*via, IMPORT_ORIGIN, *signature], digest=digest))
