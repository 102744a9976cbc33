"""An entry: a record as it is kept, its exact bytes, and what of it can be asked for."""

from typing import cast

from msgspec import DecodeError, Struct, ValidationError, convert
from msgspec.json import decode

from hookonce import times
from hookonce.model import Stored
from hookonce.texts import dump, load

# id, times, type, agent, session, sub-agent, tool, outcome, model, place and path
Columns = tuple[
    str,
    str,
    str | None,
    str,
    str,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
]


class Entry(Struct, frozen=True):
    """A redacted record and the bytes that are kept of it."""

    record: Stored
    body: bytes


def entry(record: Stored) -> Entry:
    """What is kept of a record."""
    return Entry(record, dump(record))


def read(body: bytes) -> Entry:
    """What was kept, from its bytes; ValueError if they are no record's."""
    try:
        return Entry(decode(body, type=Stored), body)
    except ValidationError:
        raise
    except DecodeError:  # what JavaScript may say and msgspec refuses
        return Entry(convert(load(body.decode()), type=Stored), body)


def columns(record: Stored) -> Columns:
    """What stands beside a body."""
    event, decision, tool = record.event, record.decision, record.event.tool
    path = tool.input.get("path") if tool is not None else None
    found: Columns = (
        event.id,
        _moment(event.time),
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
    if "".join(filter(None, found)).isascii():
        return found
    return cast("Columns", tuple(map(_written, found)))


def _moment(text: str) -> str:
    """A time in UTC, so that times can be compared as texts; what is no time stays as it is."""
    if text.endswith("Z"):
        return text
    moment = times.parse(text)
    return text if moment is None else times.text_of(moment)


def _written(text: str | None) -> str | None:
    """A text as a database takes it: half a pair of UTF-16, which JavaScript may write, is spelled out."""
    return None if text is None else text.encode(errors="backslashreplace").decode()
