"""A daemon that is killed at random moments under many callers: no verdict is wrong, and no hook runs twice."""

import os
import random
import threading
import time
from collections import Counter

import pytest

from tests.daemon.installed_home import HOOK, SILENT, TOOL, command, payload, refused
from tests.handlers.processes import eventually

KILLS = int(os.environ.get("HOOKONCE_KILLS", "4"))
CALLERS = 16
LONG = 60  # seconds that nothing takes, however busy the machine is
NAMES = ("open", "closed", "function")  # of the hooks; the first refuses every fourth call, the next the one after it
SHELL = 'echo {name} $NUMBER >>"$HOME/ran"; sleep 0.0$((NUMBER % 7)); [ $((NUMBER % 4)) -ne {turn} ] || {{ echo {name} >&2; exit 2; }}'
FUNCTION = """
import os, time
from hookonce import deny, hook
@hook("before_tool_execute")
def guard(event):
    number = int(os.environ["NUMBER"])
    fd = os.open(os.path.expanduser("~/ran"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"function {number}\\n".encode())
    os.close(fd)
    time.sleep(number % 5 / 100)
    return deny("function") if number % 4 == 2 else None
"""


class Killer(threading.Thread):
    """Somebody who kills the daemon of a home at random moments, until that was done often enough."""

    def __init__(self, home):
        super().__init__(daemon=True)
        self.home, self.kills = home, 0

    def run(self):
        """Whether it answers calls or is only about to."""
        while self.kills < KILLS:
            time.sleep(random.uniform(0, 0.8))  # noqa: S311
            self.kills += self.home.kill()
            (self.home.house / "daemon.failed").unlink(missing_ok=True)  # else nobody would start one for a while


@pytest.mark.slow
def test_killed_at_random_moments_it_changes_no_verdict_and_runs_no_hook_twice(warm, show):
    """
    Sixteen callers; an open, a closed and a function hook at each call, of which one refuses, or none.
    """
    hooks = [command(SHELL.format(name=name, turn=turn), name=name, on_failure=name) for turn, name in enumerate(NAMES[:2])]
    warm.hooks(*hooks, HOOK | {"name": "function", "handler": {"type": "function", "file": "guard.py"}})
    (warm.home / ".config" / "hookonce" / "guard.py").write_text(FUNCTION)
    killer, wrong, total = Killer(warm), {}, 0
    killer.start()
    while killer.is_alive():
        asked = [(TOOL, payload(session=f"s{total + number}")) for number in range(2 * CALLERS)]
        for number, ending in enumerate(warm.crowd(asked, CALLERS, first=total), total):
            reason = (*NAMES, None)[number % 4]
            if not (ending == SILENT if reason is None else refused(ending, reason)):
                wrong[number] = ending
        total += len(asked)
    ran = Counter(warm.lines("ran"))
    expected = {f"{name} {number}": 1 for name in NAMES for number in range(total)}
    counts = f"{killer.kills} kills, {total} calls, {sum(ran.values())} hook runs, {len(wrong)} wrong verdicts"
    show(f"{counts}, {sum(count > 1 for count in ran.values())} hooks run twice, {len(expected.keys() - ran)} never")

    assert {} == wrong
    assert expected == ran
    assert eventually(lambda: not [*(warm.house / "calls").glob("*.*")] and not warm.orphans(), LONG)


@pytest.mark.slow
def test_calls_after_a_kill_are_answered_by_hooks(warm):
    """
    A killed daemon costs no call anything.
    """
    warm.hooks(command(SHELL.format(name="open", turn=1)))
    assert warm.kill()
    asked = [(TOOL, payload(session=f"s{number}")) for number in range(CALLERS)]

    assert CALLERS // 4 == sum(refused(ending, "open") for ending in warm.crowd(asked))
    assert CALLERS == len({*warm.lines("ran")}) == len(warm.lines("ran"))
    assert len(warm.daemons()) <= 1
    assert warm.warm()
