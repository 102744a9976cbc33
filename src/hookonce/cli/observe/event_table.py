"""Table of events: a day stands in a line of its own, and rows that say nothing become one with their number."""

import sys
from collections import Counter

from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.local_time import DayClock, format_time, zone_name
from hookonce.cli._ui.messages import pluralize
from hookonce.cli._ui.tables import ALARM, StreamingTable
from hookonce.inspect.summary import says_nothing, summarize_record
from hookonce.model import Stored

_SESSION_CHARS = 13  # characters: of a name that begins with a time, those that two sessions rarely share


def event_columns(*, utc: bool) -> tuple[Column, ...]:
    """The columns of events, as `event_cells` fills them."""
    return (
        Column(f"time ({zone_name(utc=utc)})"),
        Column("agent", worth=4, shape="line"),
        Column("session", worth=1, shape="name"),
        Column("type", worth=3, shape="line", min_chars=19),
        Column("tool", worth=2, shape="line", leads=True),
        Column("decision"),
        Column("what", min_chars=22, max_lines=4),
    )


def event_cells(record: Stored, time: str) -> tuple[str, ...]:
    """What a row of the table says of a record."""
    event, decision = record.event, record.decision
    outcome = (decision.outcome if decision is not None else None) or ""
    tool = event.tool.name if event.tool is not None else ""
    session = (event.session or "")[:_SESSION_CHARS]
    return (time, event.agent, session, event.type, tool, outcome, summarize_record(record))


def format_folded(types: Counter[str], hint: str = " (--all shows each)") -> str:
    """Rows that say nothing, in one line."""
    names = ", ".join(f"{name} {count:,}" if count > 1 else name for name, count in types.most_common())
    return f"… {pluralize(types.total(), 'event')} without details: {names}{hint}"


class EventTable:
    """Table of events as they come. Where there is no terminal, each has a row, with day and time."""

    def __init__(self, *, utc: bool, folds: bool) -> None:
        """With `folds` rows that say nothing become one on a terminal."""
        self._table = StreamingTable(*event_columns(utc=utc))
        self._is_terminal, self._utc = sys.stdout.isatty(), utc
        self._folds = folds and self._is_terminal
        self._clock = DayClock(utc=utc)
        self._silent: list[Stored] = []

    def add_record(self, record: Stored) -> None:
        """Add the row of a record."""
        if self._folds and says_nothing(record):
            self._silent.append(record)
            return
        self._add_silent()
        self._add_row(record)

    def _add_silent(self) -> None:
        records, self._silent = self._silent, []
        if len(records) == 1:  # a line it has anyhow
            self._add_row(records[0])
        elif records:
            self._table.add_line(format_folded(Counter(record.event.type for record in records)))

    def _add_row(self, record: Stored) -> None:
        day, time = None, format_time(record.event.time, utc=self._utc)
        if self._is_terminal:
            day, time = self._clock.split_time(record.event.time)
        if day is not None:
            self._table.add_line(day)
        is_refused = record.decision is not None and record.decision.outcome == "deny"
        self._table.add_row(*event_cells(record, time), style=ALARM if is_refused else "")

    def flush(self) -> None:
        """Print what is pending."""
        self._add_silent()
        self._table.flush()
