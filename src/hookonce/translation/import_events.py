"""Import of events into the store, parsed and redacted; each event is stored once, however often it comes."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from hookonce import formats
from hookonce.base.json_stream import TOO_DEEP, StreamLine, parse_json
from hookonce.base.jsontext import dump
from hookonce.errors import HookonceError
from hookonce.model import Agent, Event, Format, Object, Origin, Record
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.integrity import keys
from hookonce.store.privacy.redact import LEVELS, Level, redact
from hookonce.store.writer import Writer
from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan

_BATCH_EVENTS = 500
_EXPORT_KEYS = ("seq", "hash")  # what an export says of a row beside its record
_IMPORT_ORIGIN = "import"


class ImportProgress(Struct, frozen=True, kw_only=True):
    """Progress: lines that were read, events that are new, and lines that could not be read."""

    line_count: int = 0
    new: int = 0
    faults: list[LineFault] = []


def import_events(
    lines: Iterable[StreamLine], writer: Writer, level: Level, source: Agent | Format | None = None
) -> Iterator[ImportProgress]:
    """Store the events of the lines, a batch at a time, at the stricter of the store's and their privacy level."""
    translation = Translation(
        TranslationPlan(target=formats.load("canonical"), source=source, level="full", received="now")
    )
    progress, batch, faults = ImportProgress(), list[StoreEntry](), list[LineFault]()
    for number, line in enumerate(lines, 1):
        try:
            batch += _line_entries(translation, line, level)
        except (HookonceError, RecursionError) as problem:
            message = TOO_DEEP if isinstance(problem, RecursionError) else str(problem)
            faults.append(LineFault(line=line.number, message=message))
        progress = ImportProgress(line_count=number, new=progress.new, faults=faults)
        if len(batch) >= _BATCH_EVENTS or len(faults) >= _BATCH_EVENTS:
            yield (progress := replace(progress, new=progress.new + writer.append(batch)))
            batch, faults = [], []
    yield replace(progress, new=progress.new + writer.append(batch), faults=faults)


def _line_entries(translation: Translation, line: StreamLine, level: Level) -> list[StoreEntry]:
    if line.fault is None and line.raw.lstrip()[:1] == b"{":
        document = parse_json(line.raw)
        level = next((strict for strict in LEVELS if strict in {level, document.get("level")}), level)
        if "event" in document and any(name in document for name in _EXPORT_KEYS):
            plain = {name: value for name, value in document.items() if name not in _EXPORT_KEYS}
            line = StreamLine(line.number, dump(plain))
    return [_build_entry(document, level) for document in translation.translate_line(line)]


def _build_entry(document: Object, level: Level) -> StoreEntry:
    fields = {name: document[name] for name in Record.__struct_fields__}
    record = Record(**fields | {"event": _mark_import(document["event"])})
    output_record = redact(record, level, keys.load_digest_key())
    return build_entry(
        replace(output_record, gaps=list(dict.fromkeys(output_record.gaps)))
    )  # some of it may have been left out before


def _mark_import(event: Event) -> Event:
    """Whoever looks at it later sees that no agent has sent us this."""
    origin = event.origin or Origin()
    return (
        event
        if _IMPORT_ORIGIN in origin.via
        else replace(event, origin=replace(origin, via=[*origin.via, _IMPORT_ORIGIN]))
    )
