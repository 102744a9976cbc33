"""An entry: a record as it is kept, its exact bytes, and what of it can be asked for."""

from msgspec import Struct, convert

from hookonce import times
from hookonce.model import Stored
from hookonce.texts import dump, load


class Entry(Struct, frozen=True):
    """A redacted record and the bytes that are kept of it."""

    record: Stored
    body: bytes


def entry(record: Stored) -> Entry:
    """What is kept of a record."""
    return Entry(record, dump(record))


def read(body: bytes) -> Entry:
    """What was kept, from its bytes; ValueError if they are no record's."""
    return Entry(convert(load(body.decode()), type=Stored), body)


def columns(record: Stored) -> tuple[str | None, ...]:
    """What stands beside a body: id, times, type, agent, session, sub-agent, tool, outcome, model, place and path."""
    event = record.event
    path = event.tool.input.get("path") if event.tool is not None else None
    found = (
        event.id,
        _moment(event.time),
        event.received,
        event.type,
        event.agent,
        event.session,
        event.subagent.id if event.subagent is not None else None,
        event.tool.name if event.tool is not None else None,
        record.decision.outcome if record.decision is not None and event.derived_from is None else None,
        event.model,
        event.cwd,
        path if type(path) is str else None,
    )
    return found if all(text is None or text.isascii() for text in found) else tuple(map(_written, found))


def _moment(text: str) -> str:
    """A time in UTC, so that times can be compared as texts; what is no time stays as it is."""
    if text.endswith("Z"):
        return text
    moment = times.parse(text)
    return text if moment is None else times.text_of(moment)


def _written(text: str | None) -> str | None:
    """A text as a database takes it: half a pair of UTF-16, which JavaScript may write, is spelled out."""
    return None if text is None else text.encode(errors="backslashreplace").decode()
