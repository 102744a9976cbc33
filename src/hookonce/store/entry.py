"""An entry: a record as it is kept, its exact bytes, and what of it can be asked for."""

from msgspec import Struct, convert

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
    """What stands beside a body: id, time, received, type, agent, session, sub-agent, tool, outcome, model, place, path."""
    event = record.event
    path = event.tool.input.get("path") if event.tool is not None else None
    return (
        event.id,
        event.time,
        event.received,
        event.type,
        event.agent,
        event.session,
        event.subagent.id if event.subagent is not None else None,
        event.tool.name if event.tool is not None else None,
        record.decision.outcome if record.decision is not None else None,
        event.model,
        event.cwd,
        path if type(path) is str else None,
    )
