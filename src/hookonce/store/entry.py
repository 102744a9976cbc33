"""Store entry: a redacted record, its exact JSON bytes, and the columns by which it can be queried."""

from typing import cast

from msgspec import DecodeError, Struct, ValidationError, convert
from msgspec.json import decode

from hookonce.base import times
from hookonce.base.jsontext import dump, load
from hookonce.model import Stored

_Text = str | None
# id, time, received, type, agent, session, sub-agent, tool, outcome, model, project and path
IndexColumns = tuple[str, str, _Text, str, str, _Text, _Text, _Text, _Text, _Text, _Text, _Text]


class StoreEntry(Struct, frozen=True):
    """A redacted record and the bytes that are kept of it."""

    record: Stored
    body: bytes


def build_entry(record: Stored) -> StoreEntry:
    """The entry of a record."""
    return StoreEntry(record, dump(record))


def decode_entry(body: bytes) -> StoreEntry:
    """Decode an entry from its bytes; ValueError if they are no record."""
    try:
        return StoreEntry(decode(body, type=Stored), body)
    except ValidationError:
        raise
    except DecodeError:  # what JavaScript may say and msgspec refuses
        return StoreEntry(convert(load(body.decode()), type=Stored), body)


def try_decode_record(body: bytes | None) -> Stored | None:
    """Decode a record; None if there are no bytes, or they are none."""
    try:
        return None if body is None else decode_entry(body).record
    except ValueError:
        return None


def index_columns(record: Stored) -> IndexColumns:
    """The values of the index columns of a record."""
    event, decision, tool = record.event, record.decision, record.event.tool
    path = tool.input.get("path") if tool is not None else None
    values: IndexColumns = (
        event.id,
        times.to_utc(event.time),
        event.received,
        event.type,
        event.agent,
        event.session,
        event.subagent.id if event.subagent is not None else None,
        tool.name if tool is not None else None,
        decision.outcome if decision is not None and event.derived_from is None else None,
        event.model,
        event.cwd,
        path if type(path) is str else None,
    )
    if "".join(filter(None, values)).isascii():
        return values
    # SQLite takes no lone surrogate, which JavaScript may write.
    texts = (text and text.encode(errors="backslashreplace").decode() for text in values)
    return cast("IndexColumns", tuple(texts))
