"""hookonce up."""

import re
import sys
import threading
from argparse import ArgumentParser, Namespace
from argparse import ArgumentTypeError as Wrong
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from hookonce.cli._live import Live, watch
from hookonce.cli._words import counted
from hookonce.config import paths
from hookonce.journeys.client import place as place_client
from hookonce.journeys.demo import recorded
from hookonce.journeys.hindered import hindered, states
from hookonce.journeys.made_home import Home
from hookonce.journeys.places import here
from hookonce.journeys.play import Answer, play, steps
from hookonce.journeys.survey import present, standing
from hookonce.model import Object
from hookonce.service import calling
from hookonce.store import database
from hookonce.store.summary import summary

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_TIME = re.compile(r"(\d{1,6})([smh]?)")
_SHORT = 20.0  # seconds of a demonstration that nobody has asked for
_SETTLE = 1.5  # seconds in which what was answered last is kept
_PAUSE = 0.05  # seconds between two steps of the demonstration
_REFUSES = "grep -q 'rm -rf' && { echo 'whole folders are removed by people' >&2; exit 2; } || exit 0"
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
    parser.add_argument("--for", dest="seconds", type=_seconds, metavar="TIME", help="leave after so long: 20s, 5m, 1h")


def _seconds(text: str) -> float:
    found = _TIME.fullmatch(text)
    if found is None:
        raise Wrong(f"a time such as 20s, 5m or 1h is needed, not {text}")
    return int(found[1]) * _UNITS[found[2]]


def run(options: Namespace) -> int:
    """Start what answers agents and keeps their events, and show what happens."""
    demo = options.demo or (options.or_demo and not (sys.stdin.isatty() and present(here())))
    until = monotonic() + (options.seconds or (_SHORT if options.or_demo and demo else float("inf")))
    if demo:
        return _demo(until)
    _tell_agents()
    place_client()
    known = calling.start()
    kept = summary().problem or f"events are kept in {database.file()}"
    print(f"the daemon answers (process {known['pid']}); {kept}")
    live = Live(database.file())
    try:
        watch(live, lambda: monotonic() >= until, "hookonce")
    except KeyboardInterrupt:
        print()
    _sum_up(live)
    return 0


def _tell_agents() -> None:
    """Which agents are here, and what would have to be done so that they call us."""
    place, client = here(), str(paths.client())
    known = present(place)
    found = [standing(agent, place, client) for agent in known]
    for agent, one in zip(known, found, strict=True):
        held = hindered(agent, one, place, client)
        print(f"{one.title}: {', '.join(f'{scope}: {state}' for scope, state in states(one, held).items())}")
        for why in dict.fromkeys(why for part in held for why in part.why):
            print(f"  {why}")
    absent = [one.agent for one in found if all(scope.state == "absent" for scope in one.scopes)]
    if absent:
        print(f"not called by {', '.join(absent)}: hookonce install --dry-run shows what would be written")
    if not found:
        print("no agent was found on this machine; hookonce up --demo shows what there would be to see")


def _demo(until: float) -> int:
    with TemporaryDirectory(prefix="hookonce-demo-") as folder:
        handler: Object = {"type": "command", "command": _REFUSES}
        hook: Object = {"name": "no-rm-rf", "event": "before_tool_execute", "matcher": "shell", "handler": handler}
        home = Home(Path(folder) / "home", [{**hook, "blocking": True}], tuple(recorded()))
        try:
            return _played(home, until)
        finally:
            home.leave()


def _played(home: Home, until: float) -> int:
    todo = steps()
    answers: list[Answer] = []
    player = threading.Thread(target=lambda: answers.extend(play(home, todo, _PAUSE, until)), daemon=True)
    live = Live(home.path / ".local/share/hookonce/events.db", 0)
    print(f"playing {counted(len(todo), 'step')} of {counted(len(recorded()), 'agent')} through our client and daemon")
    player.start()
    ended: list[float] = []

    def is_over() -> bool:
        if not player.is_alive() and not ended:
            ended.append(monotonic())
        return bool(ended) and (monotonic() - ended[0] > _SETTLE or live.seen >= len(answers))

    watch(live, is_over, "hookonce, a demonstration")
    player.join()
    _sum_up(live)
    times = sorted(one.seconds for one in answers)
    if times:
        print(f"an agent waited {times[len(times) // 2] * 1000:.1f} ms for half of {counted(len(times), 'answer')}")
    print("Next: hookonce agents · hookonce install --dry-run · hookonce prove")
    return int(live.seen < len(answers))


def _sum_up(live: Live) -> None:
    sys.stdout.flush()
    for line in live.summary():
        print(line)
