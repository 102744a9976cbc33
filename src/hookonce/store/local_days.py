"""Local days of rollups: which quarter hours of a UTC day belong to another day where the reader is."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from sqlite3 import Connection

from hookonce.base import times
from hookonce.store.rollup import DayMove, RollupFilter

_DAY, _QUARTER = timedelta(days=1), timedelta(minutes=15)
_ROLLUP_TABLES = ("daily_counts", "hook_runs", "usage_by_project")


class UnalignedZoneError(ValueError):
    """A local day begins within a quarter hour of UTC."""


def load_local_filter(
    connection: Connection, since: str | None = None, until: str | None = None, agent: str | None = None
) -> RollupFilter:
    """Filter of local days; of UTC days where the zone is none that quarter hours can be divided by."""
    days: set[str] = set()
    for table in _ROLLUP_TABLES:
        days.update(row[0] for row in connection.execute(f"SELECT DISTINCT day FROM {table}"))  # noqa: S608  our own words
    try:
        moves = tuple(find_moves(sorted(days)))
    except UnalignedZoneError:
        return RollupFilter(since=since, until=until, agent=agent)
    undivided_days = {row[0] for row in connection.execute("SELECT day FROM undivided_days")}
    return RollupFilter(
        since=since,
        until=until,
        agent=agent,
        is_local=True,
        moves=moves,
        undivided_days=frozenset(undivided_days & {move.day for move in moves}),
    )


def find_moves(days: Iterable[str]) -> Iterator[DayMove]:
    """The parts of UTC days that belong to other local days; what is no day, or in no calendar, stays where it is."""
    for day in days:
        try:
            utc_day = date.fromisoformat(day)
            starts = [times.local_day_start(utc_day + offset * _DAY) for offset in range(-1, 3)]
        except (ValueError, OverflowError, OSError):
            continue
        midnight = datetime.combine(utc_day, time(tzinfo=starts[0].tzinfo))
        for offset, begin, end in zip(range(-1, 2), starts, starts[1:], strict=False):
            first, last = max(begin, midnight), min(end, midnight + _DAY)
            if offset and first < last:
                first_quarter, end_quarter = (_quarter_number(moment - midnight) for moment in (first, last))
                yield DayMove(day, first_quarter, end_quarter, str(utc_day + offset * _DAY))


def _quarter_number(since_midnight: timedelta) -> int:
    number, rest = divmod(since_midnight, _QUARTER)
    if rest:
        raise UnalignedZoneError(f"{since_midnight} after UTC midnight")
    return number
