"""Session list in the order of the last event, and the timeline of one session step by step."""

from collections.abc import Iterator
from sqlite3 import Connection

from msgspec import Struct

from hookonce import times
from hookonce.store.query import RecordFilter, time_bound
from hookonce.store.session_tokens import load_session_tokens

_COLUMNS = "agent, session, project, first, last, events, calls, refusals"


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session in short. Tokens that nobody has told are null, never 0."""

    agent: str
    session: str
    project: str | None
    first: str
    last: str
    seconds: float | None
    events: int
    calls: int
    refusals: int
    input_tokens: int | None
    output_tokens: int | None


def list_sessions(connection: Connection, query: RecordFilter) -> Iterator[SessionRow]:
    """The sessions that fit; of `last` many only the newest. One counts if it lived between the two times."""
    where, values = _where_clause(query)
    text = f"SELECT {_COLUMNS} FROM sessions WHERE {where} ORDER BY last DESC, session LIMIT ?"  # noqa: S608
    values.append(-1 if query.last is None else query.last)
    for row in reversed(connection.execute(text, values).fetchall()):
        agent, session, project, first, last, events, calls, refusals = row
        tokens = load_session_tokens(connection, agent, session) or {}
        yield SessionRow(
            agent=agent,
            session=session,
            project=project,
            first=first,
            last=last,
            seconds=elapsed_seconds(first, last),
            events=events,
            calls=calls,
            refusals=refusals,
            input_tokens=tokens.get("input_tokens"),
            output_tokens=tokens.get("output_tokens"),
        )


def _where_clause(query: RecordFilter) -> tuple[str, list[str | int]]:
    filters = (
        ("agent = ?", query.agent),
        ("session = ?", query.session),
        ("project GLOB ?", query.project),
        ("last >= ?", None if query.since is None else time_bound(query.since)),
        ("first < ?", None if query.until is None else time_bound(query.until)),
    )
    conditions = [(part, value) for part, value in filters if value is not None]
    return " AND ".join(["TRUE", *(part for part, _ in conditions)]), [value for _, value in conditions]


def elapsed_seconds(first: str, last: str) -> float | None:
    """Seconds from one time to another; None if one of them is none."""
    begin, end = times.to_seconds(first), times.to_seconds(last)
    return None if begin is None or end is None else round(end - begin, 3)
