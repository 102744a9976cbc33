"""The live view: what happens now, across agents. On a terminal a screen that changes, else a line for each event."""

import sqlite3
import sys
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from hookonce.cli._words import counted
from hookonce.journeys.told import told_in_full
from hookonce.journeys.visible import visible
from hookonce.model import Stored
from hookonce.store import database
from hookonce.store.entry import read
from hookonce.store.query import Wanted, rows

_POLL = 0.2  # seconds
_LINES = 14
_WINDOW = 10.0  # seconds over which rates are told
_WIDTH = 70
_ALARMS = ("policy_violation", "retry_loop_detected")


class Live:
    """What was seen so far, and where to go on looking."""

    def __init__(self, path: Path, after: int | None = None) -> None:
        """Look at a database from now on, or from a row on."""
        self._path = path
        self._seq = _last(path) if after is None else after
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.agents: Counter[str] = Counter()
        self.refused: list[Stored] = []
        self.alarms: deque[str] = deque(maxlen=3)
        self.failed = self.seen = 0
        self.sessions: set[str] = set()
        self._times: deque[float] = deque()

    def look(self) -> list[str]:
        """What is new, a line for each event."""
        if not self._path.exists():
            return []
        try:
            with closing(database.reading(self._path)) as connection:
                found = list(rows(connection, Wanted(after=self._seq)))
        except sqlite3.Error:
            return []  # just being made; the next look tells
        new = [self._note(read(row.body).record) for row in sorted(found, key=lambda row: row.seq) if not row.erased]
        self._seq = max([self._seq, *(row.seq for row in found)])
        return new

    def _note(self, record: Stored) -> str:
        event = record.event
        self.seen += 1
        self.agents[event.agent] += 1
        self.sessions |= {event.session} if event.session else set()
        self._times.append(monotonic())
        refused = record.decision is not None and record.decision.outcome == "deny"
        if refused and event.derived_from is None:
            self.refused.append(record)
        self.failed += event.tool is not None and event.tool.result is not None and event.tool.result.ok is False
        line = one_line(record)
        if event.type in _ALARMS:
            self.alarms.append(line)
        self.lines.append(line)
        return line

    def rate(self) -> float:
        """Events in a second, of late."""
        while self._times and monotonic() - self._times[0] > _WINDOW:
            self._times.popleft()
        return len(self._times) / _WINDOW

    def summary(self) -> list[str]:
        """All in a few lines."""
        by = ", ".join(f"{name} {count}" for name, count in self.agents.most_common())
        found = [f"{counted(self.seen, 'event')} of {counted(len(self.sessions), 'session')}: {by or 'nothing'}"]
        found += [f"refused: {one_line(record)}" for record in self.refused]
        found += [f"{counted(self.failed, 'failed call')}"] if self.failed else []
        return found + [f"alarm: {line}" for line in self.alarms]


def _last(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(database.reading(path)) as connection:
        found: int = connection.execute("SELECT seq FROM head").fetchone()[0]
    return found


def one_line(record: Stored) -> str:
    """An event in a line: when, who, what, and what was decided."""
    event, decision = record.event, record.decision
    what = told_in_full(record)
    shown = f"{what[:_WIDTH]}…" if len(what) > _WIDTH else what
    ending = f"  {decision.outcome}: {decision.reason or ''}" if decision is not None and decision.outcome else ""
    return visible(f"{(event.received or event.time)[11:19]}  {event.agent:<13}  {event.type:<20}  {shown}{ending}")


def watch(live: Live, is_over: Callable[[], bool], title: str) -> None:
    """Show what happens until it is over."""
    if sys.stdout.isatty():
        _screen(live, is_over, title)
        return
    while True:
        over = is_over()
        for line in live.look():
            print(line, flush=True)
        if over:
            return
        sleep(_POLL)


def _screen(live: Live, is_over: Callable[[], bool], title: str) -> None:
    from rich.live import Live as Screen

    with Screen(_drawn(live, title), refresh_per_second=5, transient=True) as screen:
        while True:
            over = is_over()
            live.look()
            screen.update(_drawn(live, title))
            if over:
                return
            sleep(_POLL)


def _drawn(live: Live, title: str) -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    by = "  ".join(f"{name} {count}" for name, count in live.agents.most_common(8))
    seen = counted(live.seen, "event")
    top = f"{seen}  {live.rate():.1f}/s  {len(live.refused)} refused  {live.failed} failed   {by}"
    body = Text("\n".join(live.lines) or "waiting for an agent to call …", no_wrap=True, overflow="ellipsis")
    alarms = [Panel(Text("\n".join(live.alarms), style="bold red"), title="alarms")] if live.alarms else []
    return Group(Panel(Text(top), title=title), Panel(body, title="events"), *alarms)
