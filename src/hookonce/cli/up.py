"""hookonce up."""

import re
import sys
import threading
from argparse import ArgumentParser, Namespace
from argparse import ArgumentTypeError as Wrong
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from hookonce.cli._live import LiveView, show_live_view
from hookonce.cli._words import pluralize
from hookonce.config import paths
from hookonce.journeys.client import install_client as place_client
from hookonce.journeys.demo import list_recordings
from hookonce.journeys.hindered import find_blocked_scopes, scope_states
from hookonce.journeys.made_home import SandboxHome
from hookonce.journeys.places import current_roots
from hookonce.journeys.play import ReplayAnswer, replay_steps, load_steps
from hookonce.journeys.survey import find_agents, install_status as standing
from hookonce.model import Object
from hookonce.service import calling
from hookonce.store import database
from hookonce.store.summary import load_store_summary

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
    parser.add_argument(
        "--demo", action="store_true", help="play bundled sessions of several agents in a home of their own"
    )
    parser.add_argument(
        "--or-demo",
        action="store_true",
        help="--demo --for 20s where there is no terminal, or no agent on this machine",
    )
    parser.add_argument("--for", dest="seconds", type=_parse_duration_s, metavar="TIME", help="leave after so long: 20s, 5m, 1h")


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
    place_client()
    daemon_status = calling.start_daemon()
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
    statuses = [standing(agent, locations, client) for agent in present_agents]
    for agent, install_status in zip(present_agents, statuses, strict=True):
        hindrances = find_blocked_scopes(agent, install_status, locations, client)
        print(f"{install_status.title}: {', '.join(f'{scope}: {state}' for scope, state in scope_states(install_status, hindrances).items())}")
        for why in dict.fromkeys(why for part in hindrances for why in part.why):
            print(f"  {why}")
    agents_without_entries = [install_status.agent for install_status in statuses if all(scope.state == "absent" for scope in install_status.scopes)]
    if agents_without_entries:
        print(f"not called by {', '.join(agents_without_entries)}: hookonce install --dry-run shows what would be written")
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
    demo_steps = load_steps()
    answers: list[ReplayAnswer] = []
    player = threading.Thread(target=lambda: answers.extend(replay_steps(home, demo_steps, _STEP_INTERVAL_S, deadline)), daemon=True)
    live = LiveView(home.path / ".local/share/hookonce/events.db", 0)
    print(f"playing {pluralize(len(demo_steps), 'step')} of {pluralize(len(list_recordings()), 'agent')} through our client and daemon")
    player.start()
    end_times: list[float] = []

    def is_over() -> bool:
        if not player.is_alive() and not end_times:
            end_times.append(monotonic())
        return bool(end_times) and (monotonic() - end_times[0] > _SETTLE_S or live.event_count >= len(answers))

    show_live_view(live, is_over, "hookonce, a demonstration")
    player.join()
    _print_summary(live)
    times = sorted(answer.seconds for answer in answers)
    if times:
        print(f"an agent waited {times[len(times) // 2] * 1000:.1f} ms for half of {pluralize(len(times), 'answer')}")
    print("Next: hookonce agents · hookonce install --dry-run · hookonce prove")
    return int(live.event_count < len(answers))


def _print_summary(live: LiveView) -> None:
    sys.stdout.flush()
    for line in live.summary_lines():
        print(line)
