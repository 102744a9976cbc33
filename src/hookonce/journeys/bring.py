"""import: line ─ read ─ Record ─ redact ─ store.append. Each event once, however often it is brought."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from hookonce import formats
from hookonce.errors import HookonceError
from hookonce.journeys.lines import TOO_DEEP, Line, parse
from hookonce.journeys.translate import Fault, Plan, Translation
from hookonce.model import Agent, Event, Format, Object, Origin, Record
from hookonce.store import keys
from hookonce.store.entry import Entry, entry
from hookonce.store.redact import LEVELS, Level, redact
from hookonce.store.writer import Writer
from hookonce.texts import dump

_AT_ONCE = 500
_OURS = ("seq", "hash")  # what an export says of a row beside its record
_DOOR = "import"


class Brought(Struct, frozen=True, kw_only=True):
    """How far it is: lines that were read, events that are new, and lines that could not be read."""

    read: int = 0
    new: int = 0
    faults: list[Fault] = []


def bring(
    lines: Iterable[Line], writer: Writer, level: Level, source: Agent | Format | None = None
) -> Iterator[Brought]:
    """Keep what the lines tell, a batch at a time, at the store's own level or at a stricter one of theirs."""
    walk = Translation(Plan(target=formats.load("canonical"), source=source, level="full", received="now"))
    done, batch, faults = Brought(), list[Entry](), list[Fault]()
    for number, line in enumerate(lines, 1):
        try:
            batch += _entries(walk, line, level)
        except (HookonceError, RecursionError) as problem:
            what = TOO_DEEP if isinstance(problem, RecursionError) else str(problem)
            faults.append(Fault(line=line.number, message=what))
        done = Brought(read=number, new=done.new, faults=faults)
        if len(batch) >= _AT_ONCE or len(faults) >= _AT_ONCE:
            yield (done := replace(done, new=done.new + writer.append(batch)))
            batch, faults = [], []
    yield replace(done, new=done.new + writer.append(batch), faults=faults)


def _entries(walk: Translation, line: Line, level: Level) -> list[Entry]:
    if line.fault is None and line.raw.lstrip()[:1] == b"{":
        document = parse(line.raw)
        level = _stricter(level, document.get("level"))
        if "event" in document and any(name in document for name in _OURS):
            plain = {name: value for name, value in document.items() if name not in _OURS}
            line = Line(line.number, dump(plain))
    return [_entry(document, level) for document in walk.line(line)]


def _stricter(ours: Level, theirs: object) -> Level:
    return next((level for level in LEVELS if level in {ours, theirs}), ours)


def _entry(document: Object, level: Level) -> Entry:
    known = {name: document[name] for name in Record.__struct_fields__}
    record = Record(**known | {"event": _through_the_door(document["event"])})
    kept = redact(record, level, keys.hiding())
    return entry(replace(kept, gaps=list(dict.fromkeys(kept.gaps))))  # some of it may have been left out before


def _through_the_door(event: Event) -> Event:
    """Whoever looks at it later sees that no agent has told us this."""
    origin = event.origin or Origin()
    return event if _DOOR in origin.via else replace(event, origin=replace(origin, via=[*origin.via, _DOOR]))
