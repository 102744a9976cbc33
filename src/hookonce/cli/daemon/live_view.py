"""Live view of a store: counts of each agent, alarms, and as many events as the terminal has lines for."""

import sqlite3
import sys
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from hookonce.base.terminal_text import escape_unprintable, unescaped_stream
from hookonce.cli._ui.layout import Column, fit_columns, format_row, format_titles, measure_cells, wrap_words
from hookonce.cli._ui.local_time import format_clock, zone_name
from hookonce.cli._ui.messages import pluralize
from hookonce.cli._ui.tables import print_table
from hookonce.cli.observe.event_table import event_cells, event_columns, format_folded
from hookonce.inspect.summary import says_nothing, summarize_in_line
from hookonce.model import Stored
from hookonce.store import database
from hookonce.store.entry import decode_entry
from hookonce.store.query import RecordFilter, select_rows
from hookonce.store.writer import read_chain_head
from hookonce.vocabulary.events import EVENTS

_POLL_INTERVAL_S = 0.2  # seconds
_MAX_ROWS = 200  # of events that a screen may have room for
_MAX_AGENTS = 8  # whose counts have a row each
_RATE_WINDOW_S = 10.0  # seconds over which rates are told
_SUMMARY_CHARS = 70
_ALARM_TYPES = ("policy_violation", "retry_loop_detected")
_WAIT_TEXT = "waiting for the first event of an agent …"
_PANEL_EDGE_CHARS, _PANEL_EDGE_LINES = 4, 2
_MIN_EVENT_LINES = 3
_COUNT_TITLES = ("events", "tool calls", "refused", "asked", "failed")


class LiveView:
    """Live view of a store: counters, last rows, alarms, and the sequence number to poll from."""

    def __init__(self, path: Path, after: int | None = None, *, utc: bool = False) -> None:
        """Look at a database from now on, or from a row on."""
        self._path = path
        self._last_seq = after or 0
        if after is None and path.exists():
            with closing(database.connect_reader(path)) as connection:
                self._last_seq = read_chain_head(connection).seq
        self.utc = utc
        self.rows: deque[list[Stored]] = deque(maxlen=_MAX_ROWS)  # of each row one, or several that say nothing
        self.counts: dict[str, Counter[str]] = {}  # of each agent
        self.refusals: list[Stored] = []
        self.alarms: deque[str] = deque(maxlen=3)
        self.sessions: set[str] = set()
        self.call_count = 0  # events that a call brought, and no other event
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
        new_rows.sort(key=lambda row: row.seq)
        self._last_seq = max([self._last_seq, *(row.seq for row in new_rows)])
        return [self.add_record(decode_entry(row.body).record) for row in new_rows if not row.is_erased]

    def add_record(self, record: Stored) -> str:
        """Count a record and keep its row; return its line."""
        event, counts = record.event, self.counts.setdefault(record.event.agent, Counter())
        outcome = None if record.decision is None or event.derived_from else record.decision.outcome
        has_failed = event.tool is not None and event.tool.result is not None and event.tool.result.ok is False
        facts = (True, event.type == "before_tool_execute", outcome == "deny", outcome == "ask", has_failed)
        counts.update(dict(zip(_COUNT_TITLES, facts, strict=True)))
        self.sessions |= {event.session} if event.session else set()
        self.call_count += not event.derived_from
        self._times.append(monotonic())
        if outcome == "deny":
            self.refusals.append(record)
        line = format_event_line(record, utc=self.utc)
        if event.type in _ALARM_TYPES:
            self.alarms.append(_format_alarm(record, utc=self.utc))
        self._add_row(record)
        return line

    def _add_row(self, record: Stored) -> None:
        if self.rows and _is_silent(record) and _is_silent(self.rows[-1][0]):
            self.rows[-1].append(record)
        else:
            self.rows.append([record])

    @property
    def total(self) -> Counter[str]:
        """The counts of all agents together."""
        return sum(self.counts.values(), Counter())

    def is_quiet(self, seconds: float) -> bool:
        """Whether no event came in these last seconds."""
        return not self._times or monotonic() - self._times[-1] > seconds

    def events_per_second(self) -> float:
        """Events in a second, of late."""
        while self._times and monotonic() - self._times[0] > _RATE_WINDOW_S:
            self._times.popleft()
        return len(self._times) / _RATE_WINDOW_S

    def headline(self) -> str:
        """All in a line."""
        total = self.total
        counts = f"{pluralize(total['events'], 'event')} of {pluralize(len(self.sessions), 'session')}"
        failures = pluralize(total["failed"], "failed call")
        calls = pluralize(total["tool calls"], "tool call")
        return f"{counts}: {calls}, {total['refused']} refused, {total['asked']} asked, {failures}"

    def agent_rows(self) -> list[tuple[str, ...]]:
        """The counts of each agent, those with the most events first."""
        agents = sorted(self.counts.items(), key=lambda item: (-item[1]["events"], item[0]))
        return [(name, *(f"{counts[title]:,}" for title in _COUNT_TITLES)) for name, counts in agents]


def _is_silent(record: Stored) -> bool:
    return record.event.type not in _ALARM_TYPES and says_nothing(record)


def format_event_line(record: Stored, *, utc: bool) -> str:
    """Format an event in one line: time, agent, type, action, decision."""
    event, decision = record.event, record.decision
    summary = summarize_in_line(record)
    clipped_summary = f"{summary[:_SUMMARY_CHARS]}…" if len(summary) > _SUMMARY_CHARS else summary
    ending = f"  {decision.outcome}: {decision.reason or ''}" if decision is not None and decision.outcome else ""
    time = format_clock(event.received or event.time, utc=utc)
    return escape_unprintable(f"{time}  {event.agent:<13}  {event.type:<20}  {clipped_summary}{ending}")


def _format_alarm(record: Stored, *, utc: bool) -> str:
    event = record.event
    time = format_clock(event.received or event.time, utc=utc)
    text = summarize_in_line(record)
    return escape_unprintable(f"{time} {event.agent}: {EVENTS[event.type].meaning}{f': {text}' if text else ''}")


def show_live_view(live: LiveView, is_over: Callable[[], bool], title: str) -> None:
    """Show the live view until it is over: a screen on a terminal, else a line for each event."""
    if not sys.stdout.isatty():
        _poll_until(is_over, lambda: print(*(f"{line}\n" for line in live.poll()), sep="", end="", flush=True))
        return
    from rich.console import Console
    from rich.live import Live

    def update() -> None:
        live.poll()
        screen.update(render_screen(live, title, console.width, console.height), refresh=True)

    # Rich would take over stdout and stderr, and write what is printed there as it is.
    console = Console(file=unescaped_stream(sys.stdout))
    screen = Live(console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
    with screen:
        _poll_until(is_over, update)


def _poll_until(is_over: Callable[[], bool], poll: Callable[[], None]) -> None:
    """Poll once more after it is over: what came last is shown too."""
    over = False
    while not over:
        over = is_over()
        poll()
        if not over:
            sleep(_POLL_INTERVAL_S)


def render_screen(live: LiveView, title: str, width: int, height: int) -> Any:
    """The screen in panels: counts, alarms if there are any, and below them as many events as have room."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    inner_width = width - _PANEL_EDGE_CHARS
    zone = f"time: {zone_name(utc=live.utc)}"
    heading = f"{live.headline()}, {live.events_per_second():.1f} events per second"
    counts = [*wrap_words(heading, inner_width), *_format_agents(live, inner_width)]
    panels = [Panel(Text("\n".join(counts)), title=title, subtitle=zone)]
    if live.alarms:
        alarms = [line for alarm in live.alarms for line in wrap_words(alarm, inner_width)]
        panels.append(Panel(Text("\n".join(alarms), style="bold red"), title="alarms"))
    line_count = len(counts) + _PANEL_EDGE_LINES + (len(alarms) + _PANEL_EDGE_LINES if live.alarms else 0)
    rows, note = _format_rows(live, inner_width, max(height - line_count - _PANEL_EDGE_LINES - 1, _MIN_EVENT_LINES))
    body = Text("\n").join(Text(line, style=style) for line, style in rows) if rows else Text(_WAIT_TEXT)
    return Group(*panels, Panel(body, title="events", subtitle=note))


def _format_agents(live: LiveView, width: int) -> list[str]:
    rows = live.agent_rows()
    if not rows:
        return []
    visible_rows, hidden_count = rows[:_MAX_AGENTS], len(rows) - _MAX_AGENTS
    columns = [Column("agent"), *(Column(title, right=True) for title in _COUNT_TITLES)]
    sizes = [measure_cells(row[index] for row in visible_rows) for index in range(len(columns))]
    layout = fit_columns(columns, sizes, width)
    lines = [*format_titles(columns, layout)]
    lines += [line for row in visible_rows for line in format_row(row, columns, layout)]
    return lines + ([f"and {pluralize(hidden_count, 'agent')} more"] if hidden_count > 0 else [])


def _format_rows(live: LiveView, width: int, max_lines: int) -> tuple[list[tuple[str, str]], str | None]:
    """The newest rows that have room, with their styles, below the titles of their columns; and which have none."""
    columns = event_columns(utc=live.utc)
    cells: list[tuple[str, ...] | str] = []
    for records in live.rows:
        if records[1:]:
            cells.append(format_folded(Counter(record.event.type for record in records), ""))
        else:
            time = format_clock(records[0].event.received or records[0].event.time, utc=live.utc)
            cells.append(tuple(escape_unprintable(" ".join(cell.split())) for cell in event_cells(records[0], time)))
    newest = cells[-max_lines:]
    sizes = [measure_cells(row[index] for row in newest if not isinstance(row, str)) for index in range(len(columns))]
    layout = fit_columns(columns, sizes, width)
    titles = format_titles(columns, layout) if newest else []
    lines: list[tuple[str, str]] = []
    for content, records in zip(reversed(newest), reversed(live.rows), strict=False):
        row_lines = [content] if isinstance(content, str) else format_row(content, columns, layout)
        if len(titles) + len(lines) + len(row_lines) > max_lines:
            break
        is_refused = records[0].decision is not None and records[0].decision.outcome == "deny"
        lines = [*((line, "red" if is_refused else "") for line in row_lines), *lines]
    titles_without_room = ", ".join(layout.dropped_titles(columns))
    return [
        *((line, "bold") for line in titles),
        *lines,
    ], f"columns not shown: {titles_without_room}" if titles_without_room else None


def print_summary(live: LiveView) -> None:
    """Print what a live view has counted, and what was refused."""
    sys.stdout.flush()
    print(live.headline())
    if live.counts:
        print_table([Column("agent"), *(Column(title, right=True) for title in _COUNT_TITLES)], live.agent_rows())
    for record in live.refusals:
        print(f"refused: {format_event_line(record, utc=live.utc)}")
    for alarm in live.alarms:
        print(f"alarm: {alarm}")
