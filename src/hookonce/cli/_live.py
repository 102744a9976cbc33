"""hookonce up: start the daemon, then a live view of events; `--demo` replays bundled sessions in a sandbox home."""

import sqlite3
import sys
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from hookonce.cli._words import pluralize
from hookonce.journeys.told import summarize_in_line
from hookonce.journeys.visible import escape_unprintable
from hookonce.model import Stored
from hookonce.store import database
from hookonce.store.entry import decode_entry
from hookonce.store.query import RecordFilter, select_rows

_POLL_INTERVAL_S = 0.2  # seconds
_MAX_LINES = 14
_RATE_WINDOW_S = 10.0  # seconds over which rates are told
_SUMMARY_CHARS = 70
_ALARM_TYPES = ("policy_violation", "retry_loop_detected")


class LiveView:
    """Live view of a store: counters, last lines, alarms, and the sequence number to poll from."""

    def __init__(self, path: Path, after: int | None = None) -> None:
        """Look at a database from now on, or from a row on."""
        self._path = path
        self._last_seq = _last_seq_of(path) if after is None else after
        self.lines: deque[str] = deque(maxlen=_MAX_LINES)
        self.agents: Counter[str] = Counter()
        self.refusals: list[Stored] = []
        self.alarms: deque[str] = deque(maxlen=3)
        self.failure_count = self.event_count = 0
        self.sessions: set[str] = set()
        self._times: deque[float] = deque()

    def poll(self) -> list[str]:
        """Poll the store; return a line for each new event."""
        if not self._path.exists():
            return []
        try:
            with closing(database.connect_reader(self._path)) as connection:
                new_rows = list(select_rows(connection, RecordFilter(after=self._last_seq)))
        except sqlite3.Error:
            return []  # just being made; the next look tells
        new = [self._add_record(decode_entry(row.body).record) for row in sorted(new_rows, key=lambda row: row.seq) if not row.is_erased]
        self._last_seq = max([self._last_seq, *(row.seq for row in new_rows)])
        return new

    def _add_record(self, record: Stored) -> str:
        event = record.event
        self.event_count += 1
        self.agents[event.agent] += 1
        self.sessions |= {event.session} if event.session else set()
        self._times.append(monotonic())
        is_denied = record.decision is not None and record.decision.outcome == "deny"
        if is_denied and event.derived_from is None:
            self.refusals.append(record)
        self.failure_count += event.tool is not None and event.tool.result is not None and event.tool.result.ok is False
        line = format_event_line(record)
        if event.type in _ALARM_TYPES:
            self.alarms.append(line)
        self.lines.append(line)
        return line

    def events_per_second(self) -> float:
        """Events in a second, of late."""
        while self._times and monotonic() - self._times[0] > _RATE_WINDOW_S:
            self._times.popleft()
        return len(self._times) / _RATE_WINDOW_S

    def summary_lines(self) -> list[str]:
        """All in a few lines."""
        agent_counts = ", ".join(f"{name} {count}" for name, count in self.agents.most_common())
        lines = [f"{pluralize(self.event_count, 'event')} of {pluralize(len(self.sessions), 'session')}: {agent_counts or 'nothing'}"]
        lines += [f"refused: {format_event_line(record)}" for record in self.refusals]
        lines += [f"{pluralize(self.failure_count, 'failed call')}"] if self.failure_count else []
        return lines + [f"alarm: {line}" for line in self.alarms]


def _last_seq_of(path: Path) -> int:
    if not path.exists():
        return 0
    with closing(database.connect_reader(path)) as connection:
        seq: int = connection.execute("SELECT seq FROM head").fetchone()[0]
    return seq


def format_event_line(record: Stored) -> str:
    """Format an event in one line: time, agent, type, action, decision."""
    event, decision = record.event, record.decision
    summary = summarize_in_line(record)
    clipped_summary = f"{summary[:_SUMMARY_CHARS]}…" if len(summary) > _SUMMARY_CHARS else summary
    ending = f"  {decision.outcome}: {decision.reason or ''}" if decision is not None and decision.outcome else ""
    return escape_unprintable(f"{(event.received or event.time)[11:19]}  {event.agent:<13}  {event.type:<20}  {clipped_summary}{ending}")


def show_live_view(live: LiveView, is_over: Callable[[], bool], title: str) -> None:
    """Show the live view until it is over: a screen on a terminal, else a line for each event."""
    if sys.stdout.isatty():
        _run_screen(live, is_over, title)
        return
    while True:
        over = is_over()
        for line in live.poll():
            print(line, flush=True)
        if over:
            return
        sleep(_POLL_INTERVAL_S)


def _run_screen(live: LiveView, is_over: Callable[[], bool], title: str) -> None:
    from rich.live import Live as Screen

    with Screen(_render_screen(live, title), refresh_per_second=5, transient=True) as screen:
        while True:
            over = is_over()
            live.poll()
            screen.update(_render_screen(live, title))
            if over:
                return
            sleep(_POLL_INTERVAL_S)


def _render_screen(live: LiveView, title: str) -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    agent_counts = "  ".join(f"{name} {count}" for name, count in live.agents.most_common(8))
    event_count = pluralize(live.event_count, "event")
    totals = f"{event_count}  {live.events_per_second():.1f}/s  {len(live.refusals)} refused  {live.failure_count} failed   {agent_counts}"
    body = Text("\n".join(live.lines) or "waiting for an agent to call …", no_wrap=True, overflow="ellipsis")
    alarms = [Panel(Text("\n".join(live.alarms), style="bold red"), title="alarms")] if live.alarms else []
    return Group(Panel(Text(totals), title=title), Panel(body, title="events"), *alarms)
