"""Canonical format: our own record as JSON, which other hookonce commands print and read."""

from msgspec import ValidationError, convert
from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.model import SCHEMA, Event, Format, Gap, Object, Record, Stored

_KNOWN_FIELDS = (("$.event", {*Event.__struct_fields__}), ("$", {*Stored.__struct_fields__, "seq", "hash"}))


def write(record: Record) -> list[Object]:
    """The whole record as one document."""
    document: Object = {name: getattr(record, name) for name in Record.__struct_fields__}
    return [document | {"level": record.level} if isinstance(record, Stored) else document]


def read(doc: Object) -> Record:
    """Parse a record and check its types; fields of a newer version are gaps."""
    try:
        record = convert(doc, Record)
    except ValidationError as problem:
        message, _, path = str(problem).partition(" - at `")
        raise DocumentError(message, path.rstrip("`") or "$") from None
    except UnicodeEncodeError:  # texts may hold one, names may not
        raise DocumentError("a name holds a lone surrogate") from None
    if record.event.schema.partition("/")[0] != SCHEMA.partition("/")[0]:
        raise DocumentError(f"expected {SCHEMA}, got {record.event.schema}", "$.event.schema")
    gaps = _unknown_field_gaps(doc, record.event.schema)
    return replace(record, gaps=record.gaps + gaps) if gaps else record


def _unknown_field_gaps(doc: Object, version: str) -> list[Gap]:
    gaps = []
    if version != SCHEMA:
        note = f"version {version} is not known; read as {SCHEMA}"
        gaps.append(Gap(where="$.event.schema", strategy="best effort", note=note))
    for path, known_fields in _KNOWN_FIELDS:
        part = doc["event"] if path == "$.event" else doc
        unknown = sorted(part.keys() - known_fields)
        gaps += [Gap(where=f"{path}.{key}", strategy="left out", note=f"unknown field {key}") for key in unknown]
    return gaps


FORMAT = Format(
    name="canonical",
    title="hookonce record",
    versions=(SCHEMA.partition("/")[2],),
    write=write,
    read=read,
    id_path=("event", "id"),
)
