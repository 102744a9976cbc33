"""A daemon that is killed while many call: everybody gets the right answer, and no hook runs twice for one call."""

import os
import random
import threading
from collections import Counter

import pytest

from hookonce.dispatch.fail_mode import FAIL_CLOSED_REASON
from tests.daemon.installed_home import SILENT, TOOL, command, payload, refused

CALLS = int(os.environ.get("HOOKONCE_KILLED_CALLS", "64"))
AT_ONCE = min(64, CALLS // 2)
# Says which call it is about, sleeps a little, and refuses.
RUNS = 'echo $NUMBER >>"$HOME/ran"; sleep 0.0$((NUMBER % 9)); echo no >&2; exit 2'


class Killer(threading.Thread):
    """Somebody who kills the daemon of a home again and again, at random moments."""

    def __init__(self, home, seed):
        super().__init__()
        self.home, self.random, self.kills, self.over = home, random.Random(seed), 0, threading.Event()  # noqa: S311

    def run(self):
        """As soon as a hook runs, and until it is over."""
        while not (self.home.lines("ran") or self.over.wait(0.005)):
            continue
        self.kills += self.home.kill()
        while not self.over.wait(self.random.uniform(0.05, 1)):
            self.kills += self.home.kill()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def is_fail_mode(ending, mode):
    """What is heard when whoever ran the hooks was killed."""
    return refused(ending, FAIL_CLOSED_REASON) if mode == "closed" else ending == SILENT


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["open", "closed"])
def test_killed_again_and_again_it_answers_right_and_runs_no_hook_twice(warm, mode, show):
    """
    The right answer is what the hook says; or the fail mode, where whoever ran it was killed.
    """
    warm.hooks(command(RUNS, on_failure=mode))
    asked = [(TOOL, payload(session=f"s{number}")) for number in range(CALLS)]
    with Killer(warm, seed=mode) as killer:
        endings = warm.crowd(asked, AT_ONCE)
    ran = Counter(map(int, warm.lines("ran")))
    said = {number for number, ending in enumerate(endings) if refused(ending, "no")}
    lost = set(range(CALLS)) - said
    show(f"{mode}: {CALLS} calls, {killer.kills} kills, {len(said)} hooks heard, {len(lost)} fail modes")

    assert killer.kills
    assert [] == [endings[number] for number in lost if not is_fail_mode(endings[number], mode)]
    assert {1} == set(ran.values())
    assert said <= set(ran)
    assert said, "nobody was answered by the hook"


@pytest.mark.slow
def test_calls_after_the_last_kill_are_answered_by_hooks(warm):
    """
    A killed daemon costs the calls that it had begun, and nothing afterwards.
    """
    warm.hooks(command(RUNS))
    assert warm.kill()
    asked = [(TOOL, payload(session=f"s{number}")) for number in range(AT_ONCE)]

    assert all(refused(ending, "no") for ending in warm.crowd(asked))
    assert sorted(map(str, range(AT_ONCE))) == sorted(warm.lines("ran"))
    assert len(warm.daemons()) <= 1
    assert warm.warm()
