"""What sessions have told of their tokens: sums by who told them, and of those the ones that count.

Law: what is spent is the sum, over all sessions, of what those tell who count in it.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from sqlite3 import Connection
from typing import NamedTuple

from hookonce.canon.echo import is_echo
from hookonce.canon.tellers import MODEL, SINGLE, counting, teller
from hookonce.model import Event, Usage
from hookonce.store import steps

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
PIECE = "piece"  # of the model's answer, of which more may come; each tells what it has come to so far
_NOTHING = (0,) * len(TOKENS)
_MOST = 10**12  # tokens that one event is believed, so that no sum is more than a database can hold

Numbers = tuple[int, ...]


class Key(NamedTuple):
    """Under what tokens are summed within a session; `over` is the step that the input of single calls exceeds."""

    teller: str
    day: str
    model: str
    project: str
    over: int


Sums = dict[Key, Numbers]


class Telling(NamedTuple):
    """An event that tells, and what stands beside it in the store."""

    source: str
    usage: Usage
    day: str
    model: str
    project: str
    whole: bool  # whether nothing more of the model's answer will come


Tellings = list[Telling | None]  # in their order; None where something else has come in between


def note(tellings: Tellings, event: Event, day: str, model: str, project: str) -> None:
    """Take up an event of a session."""
    source, usage = teller(event), event.usage
    if is_echo(event) or (usage is None and source == MODEL):
        return
    if usage is not None and source is not None:
        tellings.append(Telling(source, usage, day, model, project, bool(event.data.get("finish_reason"))))
    elif not tellings or tellings[-1] is not None:
        tellings.append(None)


def add(connection: Connection, agent: str, session: str, tellings: Tellings) -> None:
    """Add what a session tells to what it has told before and to what is spent."""
    if tellings in ([], [None]) and connection.execute(_OPEN, (agent, session)).fetchone() is None:
        return
    before = {Key(*row[:5]): row[5:] for row in connection.execute(_READ, (agent, session))}
    after = dict(before)
    for one in tellings:
        _step(after, one)
    if after == before:
        return
    gone = [(agent, session, *key) for key in before.keys() - after.keys()]
    changed = [(agent, session, *key, *numbers) for key, numbers in after.items() if before.get(key) != numbers]
    connection.executemany(_GONE, gone)
    connection.executemany(_CHANGED, changed)
    _spend(connection, agent, before, after)


def _step(sums: Sums, one: Telling | None) -> None:
    if one is None or one.source != MODEL:
        _close(sums)
    if one is None:
        return
    numbers = _numbers(one.usage)
    if one.source == MODEL:
        _piece(sums, one, numbers)
        if one.whole:
            _close(sums)
        return
    over = _over(numbers) if one.source in SINGLE else 0
    _plus(sums, Key(one.source, one.day, one.model, one.project, over), numbers)


def _piece(sums: Sums, one: Telling, numbers: Numbers) -> None:
    known = next((key for key in sums if key.teller == PIECE), None)
    most = tuple(map(max, sums.pop(known) if known is not None else _NOTHING, numbers))
    sums[Key(PIECE, one.day, one.model, one.project, _over(most))] = most


def _close(sums: Sums) -> None:
    known = next((key for key in sums if key.teller == PIECE), None)
    if known is not None:
        _plus(sums, known._replace(teller=MODEL), sums.pop(known))


def _numbers(usage: Usage) -> Numbers:
    told = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
    )
    return tuple(min(max(number or 0, 0), _MOST) for number in told)


def _over(numbers: Numbers) -> int:
    told, _, read, written, _ = numbers
    return steps.step(steps.given(told, read, written))


def _plus(sums: Sums, key: Key, numbers: Numbers) -> None:
    known = sums.get(key)
    sums[key] = numbers if known is None else tuple(map(int.__add__, known, numbers))


def _spend(connection: Connection, agent: str, before: Sums, after: Sums, since: str = "") -> None:
    """Whoever counts may be another one now: what counted before is taken back."""
    change: dict[Key, Numbers] = {}
    for sums, sign in ((after, 1), (before, -1)):
        for key, numbers in counted(sums):
            _plus(change, key, tuple(sign * number for number in numbers))
    rows = [(key, numbers) for key, numbers in change.items() if any(numbers) and key.day >= since]
    connection.executemany(_PLACES, [(key.day, agent, key.model, key.over, key.project, *one) for key, one in rows])
    connection.executemany(_SPENT, [(key.day, agent, key.model, key.over, *one) for key, one in rows])
    for key, numbers in rows:
        if min(numbers) < 0:  # all of it may have been taken back
            connection.execute(_NO_PLACE, (key.day, agent, key.model, key.over, key.project))
            connection.execute(_NOT_SPENT, (key.day, agent, key.model, key.over))


def counted(sums: Sums) -> Iterator[tuple[Key, Numbers]]:
    """What counts of a session, whoever has told it."""
    who = counting({MODEL if key.teller == PIECE else key.teller for key in sums})
    for key, numbers in sums.items():
        if (MODEL if key.teller == PIECE else key.teller) in who:
            yield key._replace(teller=""), numbers


def by_teller(connection: Connection, agent: str, session: str) -> dict[str, Numbers]:
    """All that a session has told, by who has told it."""
    found: dict[str, Numbers] = {}
    for source, _, _, _, _, *numbers in connection.execute(_READ, (agent, session)):
        who = MODEL if source == PIECE else source
        found[who] = tuple(map(int.__add__, found.get(who, _NOTHING), numbers))
    return found


def spend_all(connection: Connection, since: str) -> None:
    """Count what is spent from a day on anew, from what sessions have told."""
    for name in ("places", "spent"):
        connection.execute(f"DELETE FROM main.{name} WHERE day >= ?", (since,))  # noqa: S608  our own words
    rows = connection.execute(_EVERYTHING).fetchall()
    for (agent, _), found in groupby(rows, key=itemgetter(0, 1)):
        sums = {Key(*row[2:7]): row[7:] for row in found}
        _spend(connection, agent, {}, sums, since)


_NAMES = ", ".join(TOKENS)
_ADDED = ", ".join(f"{name} = {name} + excluded.{name}" for name in TOKENS)
_ZERO = " AND ".join(f"{name} = 0" for name in TOKENS)
_READ = f"SELECT teller, day, model, project, over, {_NAMES} FROM told WHERE agent = ? AND session = ?"  # noqa: S608
_OPEN = f"SELECT 1 FROM told WHERE agent = ? AND session = ? AND teller = '{PIECE}'"  # noqa: S608
_EVERYTHING = "SELECT * FROM main.told ORDER BY agent, session"
_GONE = """DELETE FROM told WHERE agent = ? AND session = ? AND teller = ? AND day = ? AND model = ? AND project = ?
    AND over = ?"""
_CHANGED = "INSERT OR REPLACE INTO told VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PLACES = f"INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET {_ADDED}"  # noqa: S608
_SPENT = f"INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET {_ADDED}"  # noqa: S608
_THERE = f"day = ? AND agent = ? AND model = ? AND over = ? AND {_ZERO}"
_NOT_SPENT = f"DELETE FROM spent WHERE {_THERE}"  # noqa: S608
_NO_PLACE = f"DELETE FROM places WHERE {_THERE} AND project = ?"  # noqa: S608
