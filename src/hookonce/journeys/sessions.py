"""sessions: every session of every agent, in the order of their last sign of life."""

from collections.abc import Iterator
from sqlite3 import Connection

from msgspec import Struct

from hookonce import times
from hookonce.store.query import Wanted, bare
from hookonce.store.session_tokens import session_tokens

_COLUMNS = "agent, session, project, first, last, events, calls, refusals"


class Session(Struct, frozen=True, kw_only=True):
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


def sessions(connection: Connection, wanted: Wanted) -> Iterator[Session]:
    """The sessions that are meant; of `last` many only the newest. One counts if it lived between the two times."""
    where, values = _where(wanted)
    text = f"SELECT {_COLUMNS} FROM sessions WHERE {where} ORDER BY last DESC, session LIMIT ?"  # noqa: S608
    values.append(-1 if wanted.last is None else wanted.last)
    for row in reversed(connection.execute(text, values).fetchall()):
        agent, session, project, first, last, events, calls, refusals = row
        tokens = session_tokens(connection, agent, session) or {}
        yield Session(
            agent=agent,
            session=session,
            project=project,
            first=first,
            last=last,
            seconds=elapsed(first, last),
            events=events,
            calls=calls,
            refusals=refusals,
            input_tokens=tokens.get("input_tokens"),
            output_tokens=tokens.get("output_tokens"),
        )


def _where(wanted: Wanted) -> tuple[str, list[str | int]]:
    asked = (
        ("agent = ?", wanted.agent),
        ("session = ?", wanted.session),
        ("project GLOB ?", wanted.project),
        ("last >= ?", None if wanted.since is None else bare(wanted.since)),
        ("first < ?", None if wanted.until is None else bare(wanted.until)),
    )
    known = [(part, value) for part, value in asked if value is not None]
    return " AND ".join(["TRUE", *(part for part, _ in known)]), [value for _, value in known]


def elapsed(first: str, last: str) -> float | None:
    """Seconds from one time to another; None if one of them is none."""
    begin, end = times.seconds(first), times.seconds(last)
    return None if begin is None or end is None else round(end - begin, 3)
