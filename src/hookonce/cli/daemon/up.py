"""hookonce up: start the daemon, then a live view of events; `--demo` replays bundled sessions in a sandbox home."""

import re
import sqlite3
import sys
import threading
from argparse import ArgumentParser, Namespace
from argparse import ArgumentTypeError as Wrong
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from hookonce.base import paths
from hookonce.base.terminal_streams import unescaped_stream
from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.messages import pluralize
from hookonce.client.installation import install_client
from hookonce.client.sandbox_home import SandboxHome
from hookonce.configure.locations import current_roots
from hookonce.configure.status import find_agents, install_status
from hookonce.daemon import control
from hookonce.demo.replay import list_recordings, load_steps, replay_steps
from hookonce.diagnose.agent_check import find_blocked_scopes, scope_states
from hookonce.inspect.summary import summarize_in_line
from hookonce.model import Object, Stored
from hookonce.store import database
from hookonce.store.entry import decode_entry
from hookonce.store.query import RecordFilter, select_rows
from hookonce.store.status import load_store_summary
from hookonce.store.writer import read_chain_head

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
        self._last_seq = after or 0
        if after is None and path.exists():
            with closing(database.connect_reader(path)) as connection:
                self._last_seq = read_chain_head(connection).seq
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
        new_rows.sort(key=lambda row: row.seq)
        self._last_seq = max([self._last_seq, *(row.seq for row in new_rows)])
        return [self._add_record(decode_entry(row.body).record) for row in new_rows if not row.is_erased]

    def _add_record(self, record: Stored) -> str:
        event = record.event
        self.event_count += 1
        self.agents[event.agent] += 1
        self.sessions |= {event.session} if event.session else set()
        self._times.append(monotonic())
        if record.decision is not None and record.decision.outcome == "deny" and event.derived_from is None:
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
        counts = f"{pluralize(self.event_count, 'event')} of {pluralize(len(self.sessions), 'session')}"
        lines = [f"{counts}: {agent_counts or 'nothing'}"]
        lines += [f"refused: {format_event_line(record)}" for record in self.refusals]
        lines += [f"{pluralize(self.failure_count, 'failed call')}"] if self.failure_count else []
        return lines + [f"alarm: {line}" for line in self.alarms]


def format_event_line(record: Stored) -> str:
    """Format an event in one line: time, agent, type, action, decision."""
    event, decision = record.event, record.decision
    summary = summarize_in_line(record)
    clipped_summary = f"{summary[:_SUMMARY_CHARS]}…" if len(summary) > _SUMMARY_CHARS else summary
    ending = f"  {decision.outcome}: {decision.reason or ''}" if decision is not None and decision.outcome else ""
    time = (event.received or event.time)[11:19]
    return escape_unprintable(f"{time}  {event.agent:<13}  {event.type:<20}  {clipped_summary}{ending}")


def show_live_view(live: LiveView, is_over: Callable[[], bool], title: str) -> None:
    """Show the live view until it is over: a screen on a terminal, else a line for each event."""
    if not sys.stdout.isatty():
        _poll_until(is_over, lambda: print(*(f"{line}\n" for line in live.poll()), sep="", end="", flush=True))
        return
    from rich.console import Console
    from rich.live import Live

    def update() -> None:
        live.poll()
        screen.update(_render_screen(live, title), refresh=True)

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


def _render_screen(live: LiveView, title: str) -> Any:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    agent_counts = "  ".join(f"{name} {count}" for name, count in live.agents.most_common(8))
    event_count = pluralize(live.event_count, "event")
    outcome_counts = f"{len(live.refusals)} refused  {live.failure_count} failed"
    totals = f"{event_count}  {live.events_per_second():.1f}/s  {outcome_counts}   {agent_counts}"
    body = Text("\n".join(live.lines) or "waiting for an agent to call …", no_wrap=True, overflow="ellipsis")
    alarms = [Panel(Text("\n".join(live.alarms), style="bold red"), title="alarms")] if live.alarms else []
    return Group(Panel(Text(escape_unprintable(totals)), title=title), Panel(body, title="events"), *alarms)


_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d{1,6})([smh]?)")
_DEMO_S = 20.0  # seconds of a demonstration that nobody has asked for
_SETTLE_S = 1.5  # seconds in which what was answered last is kept
_STEP_INTERVAL_S = 0.05  # seconds between two steps of the demonstration
_DEMO_HOOK_COMMAND = "grep -q 'rm -rf' && { echo 'whole folders are removed by people' >&2; exit 2; } || exit 0"
_EXAMPLES = """examples:
  hookonce up
  hookonce up --demo --for 20s"""


def configure(parser: ArgumentParser) -> None:
    """The options of `up`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add_flag(parser, "--demo", "play bundled sessions of several agents in a home of their own")
    add_flag(parser, "--or-demo", "--demo --for 20s where there is no terminal, or no agent on this machine")
    add("--for", dest="seconds", type=_parse_duration_s, metavar="TIME", help="leave after so long: 20s, 5m, 1h")


def _parse_duration_s(text: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise Wrong(f"a time such as 20s, 5m or 1h is needed, not {text}")
    return int(match[1]) * _UNIT_SECONDS[match[2]]


def run(options: Namespace) -> int:
    """Start what answers agents and keeps their events, and show what happens."""
    demo = options.demo or (options.or_demo and not (sys.stdin.isatty() and find_agents(current_roots())))
    deadline = monotonic() + (options.seconds or (_DEMO_S if options.or_demo and demo else float("inf")))
    if demo:
        return _run_demo(deadline)
    _print_agents()
    install_client()
    daemon_status = control.start_daemon()
    record_text = load_store_summary().problem or f"events are kept in {database.database_file()}"
    print(f"the daemon answers (process {daemon_status['pid']}); {record_text}")
    live = LiveView(database.database_file())
    try:
        show_live_view(live, lambda: monotonic() >= deadline, "hookonce")
    except KeyboardInterrupt:
        print()
    _print_summary(live)
    return 0


def _print_agents() -> None:
    """Which agents are here, and what would have to be done so that they call us."""
    locations, client = current_roots(), str(paths.client_path())
    present_agents = find_agents(locations)
    statuses = [install_status(agent, locations, client) for agent in present_agents]
    for agent, status in zip(present_agents, statuses, strict=True):
        hindrances = find_blocked_scopes(agent, status, locations, client)
        states = ", ".join(f"{scope}: {state}" for scope, state in scope_states(status, hindrances).items())
        print(f"{status.title}: {states}")
        for why in dict.fromkeys(why for part in hindrances for why in part.why):
            print(f"  {why}")
    if absent := [status.agent for status in statuses if all(scope.state == "absent" for scope in status.scopes)]:
        print(f"not called by {', '.join(absent)}: hookonce install --dry-run shows what would be written")
    if not statuses:
        print("no agent was found on this machine; hookonce up --demo shows what there would be to see")


def _run_demo(deadline: float) -> int:
    with TemporaryDirectory(prefix="hookonce-demo-") as folder:
        handler: Object = {"type": "command", "command": _DEMO_HOOK_COMMAND}
        hook: Object = {"name": "no-rm-rf", "event": "before_tool_execute", "matcher": "shell", "handler": handler}
        home = SandboxHome(Path(folder) / "home", [{**hook, "blocking": True}], tuple(list_recordings()))
        try:
            return _play_demo(home, deadline)
        finally:
            home.stop_daemon()


def _play_demo(home: SandboxHome, deadline: float) -> int:
    steps, times = load_steps(), list[float]()
    replay = replay_steps(home, steps, _STEP_INTERVAL_S, deadline)
    player = threading.Thread(target=lambda: times.extend(replay), daemon=True)
    live = LiveView(home.path / ".local/share/hookonce/events.db", 0)
    agent_count = pluralize(len(list_recordings()), "agent")
    print(f"playing {pluralize(len(steps), 'step')} of {agent_count} through our client and daemon")
    player.start()
    end_times: list[float] = []

    def is_over() -> bool:
        if not player.is_alive() and not end_times:
            end_times.append(monotonic())
        return bool(end_times) and (monotonic() - end_times[0] > _SETTLE_S or live.event_count >= len(times))

    show_live_view(live, is_over, "hookonce, a demonstration")
    player.join()
    _print_summary(live)
    if times:
        half = sorted(times)[len(times) // 2]
        print(f"an agent waited {half * 1000:.1f} ms for half of {pluralize(len(times), 'answer')}")
    print("Next: hookonce agents · hookonce install --dry-run · hookonce prove")
    return int(live.event_count < len(times))


def _print_summary(live: LiveView) -> None:
    sys.stdout.flush()
    for line in live.summary_lines():
        print(line)
