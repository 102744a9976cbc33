"""Looking: which records are meant, in which order, and how they come out again."""

from collections.abc import Iterator
from sqlite3 import Connection

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store.entry import read
from hookonce.texts import dump

NONE = "none"  # looked for: what has no such thing
_NAMED = 3  # sessions that are listed where one was meant
_PLAIN = ("agent", "session", "type", "tool", "outcome", "model")


class Wanted(Struct, frozen=True, kw_only=True):
    """What is looked for; None is everything. Times are inclusive at the start and exclusive at the end.

    `after` is the number of the last row that is known already. Paths that begin nowhere may lie anywhere.
    """

    agent: str | None = None
    session: str | None = None
    type: str | None = None
    tool: str | None = None
    outcome: str | None = None
    model: str | None = None
    project: str | None = None
    path: str | None = None
    text: str | None = None
    since: str | None = None
    until: str | None = None
    after: int = 0
    last: int | None = None


class Row(Struct, frozen=True):
    """One row: its number, its exact bytes, and whether they were overwritten."""

    seq: int
    body: bytes
    erased: bool


def rows(connection: Connection, wanted: Wanted) -> Iterator[Row]:
    """The rows that are meant, by time and then by arrival; of `last` many only the newest."""
    where, values = _where(wanted)
    order = "time, seq" if wanted.last is None else "time DESC, seq DESC LIMIT ?"
    text = f"SELECT seq, time, body, erased FROM events WHERE {where} ORDER BY {order}"  # noqa: S608  our own words
    if wanted.last is not None:
        text = f"SELECT * FROM ({text}) ORDER BY time, seq"  # noqa: S608  as above
        values = [*values, wanted.last]
    for seq, _, body, erased in connection.execute(text, values):
        yield Row(seq, body, bool(erased))


def reached(connection: Connection) -> int:
    """The number of the last row."""
    found: int = connection.execute("SELECT seq FROM head").fetchone()[0]
    return found


def records(connection: Connection, wanted: Wanted) -> Iterator[Stored]:
    """The records that are meant; those that were erased tell nothing, nor do those that somebody has damaged."""
    for row in rows(connection, wanted):
        if not row.erased and (found := _record(row.body)) is not None:
            yield found


def _record(body: bytes) -> Stored | None:
    try:
        return read(body).record
    except ValueError:
        return None


def _where(wanted: Wanted) -> tuple[str, list[str | int]]:
    parts, values = ["TRUE"], list[str | int]()
    for part, value in _conditions(wanted):
        parts.append(part)
        values += [value] * part.count("?")
    return " AND ".join(parts), values


def _conditions(wanted: Wanted) -> Iterator[tuple[str, str | int]]:
    if wanted.after:  # without it the order of the index would be given up for that of the table
        yield "seq > ?", wanted.after
    for name in _PLAIN:
        if (value := getattr(wanted, name)) is not None:
            yield (f"{name} IS NULL" if value == NONE else f"{name} GLOB ?" if "*" in value else f"{name} = ?"), value
    if wanted.project is not None:
        yield "project GLOB ?", wanted.project
    if wanted.path is not None:
        yield "path GLOB ?", wanted.path if wanted.path[:1] in {"/", "*"} else f"*/{wanted.path}"
    if wanted.text is not None:
        yield "erased = 0 AND instr(body, CAST(? AS BLOB)) > 0", dump(wanted.text)[1:-1].decode()
    for sign, bound in ((">=", wanted.since), ("<", wanted.until)):
        if bound is not None:
            yield f"time {sign} ?", bare(bound)


def bare(time: str) -> str:
    """A time in UTC as a bound: without its end it stands before all that are later, however exact they are."""
    plain = time.removesuffix("Z")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def whole(connection: Connection, session: str, agent: str | None = None) -> str:
    """The whole name of a session, of which a beginning was given; of one agent's if that is named."""
    known = connection.execute(
        "SELECT DISTINCT session FROM sessions WHERE (session = ? OR session GLOB ?) AND agent = coalesce(?, agent)"
        " ORDER BY session = ? DESC LIMIT 4",
        (session, f"{beginning(session)}*", agent, session),
    ).fetchall()
    names = [str(row[0]) for row in known]
    if session in names or len(names) == 1:
        return names[0]
    if not names:
        whose = f" of {agent}" if agent is not None else ""
        raise HookonceError(f"no session{whose} begins with {session!r}; hookonce sessions lists them")
    more = ", …" if len(names) > _NAMED else ""
    listed = f"{', '.join(names[:_NAMED])}{more}"
    raise HookonceError(f"several sessions begin with {session!r}: {listed}; say more of the name of one")


def owner(connection: Connection, session: str) -> str | None:
    """The agent of a session; HookonceError where more than one has a session of that name."""
    known = connection.execute("SELECT agent FROM sessions WHERE session = ? ORDER BY agent", (session,)).fetchall()
    names = [str(row[0]) for row in known]
    if len(names) > 1:
        choices = " or ".join(f"--agent {name}" for name in names)
        raise HookonceError(f"{' and '.join(names)} each have a session {session!r}; say whose, with {choices}")
    return names[0] if names else None


def beginning(text: str) -> str:
    """A text as a pattern that means nothing but itself."""
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
