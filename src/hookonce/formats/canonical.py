"""Our own record as it is: the form that other hookonce commands print and read."""

from msgspec import ValidationError, convert
from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.model import SCHEMA, Event, Format, Gap, Object, Record, Stored

_PLACES = (
    ("$.event", frozenset(Event.__struct_fields__)),
    ("$", frozenset({*Stored.__struct_fields__, "seq", "hash"})),
)


def write(record: Record) -> list[Object]:
    """The record, whole."""
    document: Object = {
        "event": record.event,
        "decision": record.decision,
        "risk": record.risk,
        "runs": record.runs,
        "gaps": record.gaps,
    }
    return [document | {"level": record.level} if isinstance(record, Stored) else document]


def read(doc: Object) -> Record:
    """The record, its types checked; what a newer version added is named and kept out."""
    try:
        record = convert(doc, Record)
    except ValidationError as problem:
        message, _, path = str(problem).partition(" - at `")
        raise DocumentError(message, path.rstrip("`") or "$") from None
    except UnicodeEncodeError:  # texts may hold one, names may not
        raise DocumentError("a name holds a lone surrogate") from None
    if record.event.schema.partition("/")[0] != SCHEMA.partition("/")[0]:
        raise DocumentError(f"expected {SCHEMA}, got {record.event.schema}", "$.event.schema")
    lost = _lost(doc, record.event.schema)
    return replace(record, gaps=record.gaps + lost) if lost else record


def _lost(doc: Object, version: str) -> list[Gap]:
    found = []
    if version != SCHEMA:
        note = f"version {version} is not known; read as {SCHEMA}"
        found.append(Gap(where="$.event.schema", strategy="best effort", note=note))
    for place, known in _PLACES:
        part = doc["event"] if place == "$.event" else doc
        unknown = sorted(part.keys() - known)
        found += [Gap(where=f"{place}.{key}", strategy="left out", note=f"unknown field {key}") for key in unknown]
    return found


FORMAT = Format(
    name="canonical",
    title="hookonce record",
    versions=(SCHEMA.partition("/")[2],),
    mime="application/json",
    write=write,
    read=read,
    is_mine=lambda doc: type(doc.get("event")) is dict and "schema" in doc["event"],
)
