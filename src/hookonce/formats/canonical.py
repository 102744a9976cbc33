"""Our own record as it is: the form that other hookonce commands print and read."""

from msgspec import ValidationError, convert

from hookonce.errors import DocumentError
from hookonce.model import SCHEMA, Format, Object, Record, Stored


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
    """The record, its types checked; what a newer version added is kept out."""
    try:
        record = convert(doc, Record)
    except ValidationError as problem:
        message, _, path = str(problem).partition(" - at `")
        raise DocumentError(message, path.rstrip("`") or "$") from None
    except UnicodeEncodeError:  # texts may hold one, names may not
        raise DocumentError("a name holds a lone surrogate") from None
    if record.event.schema.partition("/")[0] != SCHEMA.partition("/")[0]:
        raise DocumentError(f"expected {SCHEMA}, got {record.event.schema}", "$.event.schema")
    return record


FORMAT = Format(
    name="canonical",
    title="hookonce record",
    versions=(SCHEMA.partition("/")[2],),
    mime="application/json",
    write=write,
    read=read,
    is_mine=lambda doc: type(doc.get("event")) is dict and "schema" in doc["event"],
)
