"""hookonce up: start the daemon, then a live view of events; `--demo` replays bundled sessions in a sandbox home."""

import re
import sys
import threading
from argparse import ArgumentParser, Namespace
from argparse import ArgumentTypeError as Wrong
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from hookonce.base import paths
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.local_time import add_utc_option
from hookonce.cli._ui.messages import pluralize
from hookonce.cli.daemon.live_view import LiveView, print_summary, show_live_view
from hookonce.client.installation import install_client
from hookonce.client.sandbox_home import SandboxHome
from hookonce.configure.locations import current_roots
from hookonce.configure.status import find_agents, install_status
from hookonce.daemon import control
from hookonce.demo.replay import list_recordings, load_steps, replay_steps
from hookonce.diagnose.agent_check import find_blocked_scopes, scope_states
from hookonce.model import Object
from hookonce.store import database
from hookonce.store.status import load_store_summary

_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d{1,6})([smh]?)")
_DEMO_S = 20.0  # seconds of a demonstration that nobody has asked for
_MAX_SETTLE_S = 5.0  # seconds in which what was answered last is kept
_SETTLE_S = 0.5  # in which the events derived from it follow
_STEP_INTERVAL_S = 0.05  # seconds between two steps of the demonstration
_DEMO_HOOK_COMMAND = "grep -q 'rm -rf' && { echo 'whole folders are removed by people' >&2; exit 2; } || exit 0"
_EXAMPLES = """examples:
  hookonce up
  hookonce up --demo --for 20s"""


def configure(parser: ArgumentParser) -> None:
    """The options of `up`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add_flag(parser, "--demo", "replay bundled sessions of several agents in a temporary home")
    add_flag(parser, "--or-demo", "like --demo --for 20s if there is no terminal, or no agent on this machine")
    add("--for", dest="seconds", type=_parse_duration_s, metavar="TIME", help="end after this time: 20s, 5m, 1h")
    add_utc_option(parser)


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
        return _run_demo(deadline, utc=options.utc)
    _print_agents()
    install_client()
    daemon_status = control.start_daemon()
    record_text = load_store_summary().problem or f"events are recorded in {database.database_file()}"
    print(f"the daemon is running (process {daemon_status['pid']}); {record_text}")
    live = LiveView(database.database_file(), utc=options.utc)
    try:
        show_live_view(live, lambda: monotonic() >= deadline, "hookonce")
    except KeyboardInterrupt:
        print()
    print_summary(live)
    print("the daemon keeps running; hookonce daemon stop ends it")
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
        print(f"not installed for {', '.join(absent)}: hookonce install --dry-run shows what would change")
    if not statuses:
        print("no agent was found on this machine; hookonce up --demo shows recorded sessions")


def _run_demo(deadline: float, *, utc: bool) -> int:
    with TemporaryDirectory(prefix="hookonce-demo-") as folder:
        handler: Object = {"type": "command", "command": _DEMO_HOOK_COMMAND}
        hook: Object = {"name": "no-rm-rf", "event": "before_tool_execute", "matcher": "shell", "handler": handler}
        home = SandboxHome(Path(folder) / "home", [{**hook, "blocking": True}], tuple(list_recordings()))
        try:
            return _play_demo(home, deadline, utc=utc)
        except KeyboardInterrupt:
            home.delete(force=True)
            raise
        finally:
            home.delete()


def _play_demo(home: SandboxHome, deadline: float, *, utc: bool) -> int:
    steps, times = load_steps(), list[float]()
    stop = threading.Event()
    replay = replay_steps(home, steps, _STEP_INTERVAL_S, deadline, stop)
    player = threading.Thread(target=lambda: times.extend(replay), daemon=True)
    live = LiveView(home.path / ".local/share/hookonce/events.db", 0, utc=utc)
    agent_count = pluralize(len(list_recordings()), "agent")
    print(f"replaying {pluralize(len(steps), 'step')} of {agent_count} through hookonce's client and daemon")
    player.start()
    end_times: list[float] = []

    def is_over() -> bool:
        if not player.is_alive() and not end_times:
            end_times.append(monotonic())
        if not end_times:
            return False
        is_complete = live.call_count >= len(times) and live.is_quiet(_SETTLE_S)
        return is_complete or monotonic() - end_times[0] > _MAX_SETTLE_S

    try:
        show_live_view(live, is_over, "hookonce, a demonstration")
    finally:  # a call that came later would start a daemon, which nobody ends
        stop.set()
        player.join()
    print_summary(live)
    if times:
        half = sorted(times)[len(times) // 2]
        print(f"half of {pluralize(len(times), 'call')} took at most {half * 1000:.1f} ms,")
        print("measured from the start of the client to its end, with hooks and record, as an agent waits")
    print("Next: hookonce agents · hookonce install --dry-run · hookonce prove")
    return int(live.total["events"] < len(times))
