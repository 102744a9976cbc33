"""A module beside everything else that a loop waits for: each answer reaches the one who asked, or nobody."""

import sys
from pathlib import Path
from time import monotonic

import pytest

from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import load
from hookonce.handlers.module import ModuleChannel, ModuleOperation
from hookonce.handlers.operation import run_to_completion
from hookonce.modules.protocol.descriptor import Descriptor, Transport

EACH = "import json, os, sys, time\ndef say(d): print(json.dumps(d), flush=True)\nfor line in sys.stdin:\n    r = json.loads(line); a = r['args']\n    "


def described(*command):
    transport = Transport(type="stdio", command=[*command])
    return Descriptor(name="x", kind="hook", transport=transport, capabilities=[])


class Asking:
    """A module in a loop, and what was said to each question."""

    def __init__(self, text, *command):
        self.loop, self.said = EventLoop(), {}
        self.talk = ModuleChannel(self.loop, described(*(command or (sys.executable, "-I", "-S", "-c", EACH + text))))

    def ask(self, name, timeout=5.0, **args):
        request = {"op": "on_event", "args": {"name": name} | args}
        self.talk.query(request, timeout, lambda ran: self.said.setdefault(name, ran))

    def wait(self, *names, seconds=10.0):
        until = monotonic() + seconds
        while monotonic() < until and not {*names} <= self.said.keys():
            self.loop.run_once(0.05)
        return [self.result(name) for name in names]

    def result(self, name):
        ran = self.said[name]
        if ran.failure is not None:
            return ran.failure.partition(":")[0]
        document = load(ran.stdout.decode())
        return document["result"] if document["ok"] else document["error"]["code"]

    def close(self):
        self.talk.end()
        until = monotonic() + 0.3
        while monotonic() < until:
            self.loop.run_once(0.05)
        self.loop.close()


@pytest.fixture
def asking():
    made = []

    def make(*words):
        made.append(Asking(*words))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_questions_that_we_take_back_are_no_fault_of_the_module(asking):
    """
    Another hook has refused the call before it answered, again and again; it goes on with what it has in memory.
    """
    one = asking("if a['name'].startswith('taken'): continue\n    say({'ok': True, 'result': os.getpid(), 'id': r['id']})")
    one.ask("first")
    (pid,) = one.wait("first")
    for number in range(5):
        one.talk.query({"op": "on_event", "args": {"name": f"taken {number}"}}, 5.0, lambda _: None).cancel()
    one.ask("last")
    assert [pid] == one.wait("last")


def test_answers_reach_those_who_asked_in_whatever_order_they_come(asking):
    one = asking(
        "if a['name'] == 'first':\n        say({'ok': True, 'result': 'first', 'id': r['id']}); kept = []; continue\n"
        "    kept.append(r)\n"
        "    if len(kept) == 3:\n        for k in reversed(kept): say({'ok': True, 'result': k['args']['name'], 'id': str(k['id'])})"
    )
    one.ask("first")
    assert ["first"] == one.wait("first")
    for name in "abc":
        one.ask(name)
    assert ["a", "b", "c"] == one.wait("a", "b", "c")


def test_a_module_without_ids_is_asked_one_thing_at_a_time(asking):
    one = asking("time.sleep(0.05); say({'ok': True, 'result': a['name']})")
    for name in "abc":
        one.ask(name)
    assert ["a", "b", "c"] == one.wait("a", "b", "c")


def test_a_late_answer_without_an_id_is_nobody_else_s(asking):
    one = asking("time.sleep(a.get('pause', 0)); say({'ok': True, 'result': a['name']})")
    one.ask("known")
    assert ["known"] == one.wait("known")
    one.ask("slow", timeout=0.1, pause=0.4)
    one.ask("next", timeout=2.0)
    slow, after = one.wait("slow", "next")
    assert "timeout" == slow
    assert after in {"next", "unreachable", "timeout"}


def test_a_first_answer_that_is_late_and_has_no_id_is_nobody_else_s(asking):
    one = asking("time.sleep(a.get('pause', 0)); say({'ok': True, 'result': a['name']})")
    one.ask("slow", timeout=0.2, pause=0.6)
    one.wait("slow")
    one.ask("next", timeout=2.0)
    assert "slow" not in one.wait("next")


def test_a_late_answer_with_its_id_is_passed_over(asking):
    one = asking("time.sleep(a.get('pause', 0)); say({'ok': True, 'result': a['name'], 'id': r['id']})")
    one.ask("slow", timeout=0.2, pause=0.5)
    one.wait("slow")
    one.ask("next", timeout=5.0)
    assert ["next"] == one.wait("next")


@pytest.mark.part(2)
@pytest.mark.parametrize("number", ["'somebody else'", "77", "[1]", "True", "1.5"])
def test_an_answer_to_somebody_else_is_no_answer(asking, number):
    one = asking(f"say({{'ok': True, 'result': {{'decision': 'allow'}}, 'id': {number}}})")
    one.ask("a")
    assert ["internal"] == one.wait("a")


def test_a_module_that_reads_nothing_does_not_fill_our_memory(asking):
    one = asking("", sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    for name in "abcd":
        one.ask(name, timeout=0.1, padding="x" * 200_000)
        one.wait(name)
    assert one.talk.is_over


def test_why_a_program_cannot_be_started_is_told(asking):
    one = asking("", "/nowhere/at/all")
    one.ask("a")
    one.wait("a")
    assert "No such file" in one.said["a"].failure


def test_how_a_module_ended_is_told(asking):
    one = asking("print('it hurts', file=sys.stderr, flush=True); os._exit(3)")
    one.ask("a")
    one.wait("a")
    assert ("code 3" in one.said["a"].failure, "it hurts" in one.said["a"].failure) == (True, True)


def test_nothing_stays_open():
    Asking("say({'ok': True, 'result': 1, 'id': r['id']})").close()
    before = len([*Path("/proc/self/fd").iterdir()])
    for _ in range(5):
        one = Asking("say({'ok': True, 'result': 1, 'id': r['id']})")
        one.ask("a")
        one.wait("a")
        one.close()
    assert len([*Path("/proc/self/fd").iterdir()]) <= before


LATER = """
import sys
from hookonce.modules import module
m = module(name="x", kind="hook")
@m.on_event
def on_event(event: dict):
    import time
    time.sleep(0.1)
    open(sys.argv[1], "w").write("done")
m.run([])
"""


@pytest.mark.covers("AMP-10")
def test_what_a_module_has_acknowledged_is_done_before_it_is_ended(tmp_path):
    file = tmp_path / "done"
    request = {"op": "on_event", "args": {"event": {"event": "x"}}}
    invocation = ModuleOperation(
        descriptor=described(sys.executable, "-c", LATER, str(file)), request=request, timeout=10.0
    )
    assert run_to_completion(invocation).failure is None
    assert "done" == file.read_text()


def test_a_failure_quotes_only_what_was_said_since_its_call_began(asking):
    """
    What went wrong in an earlier call explains nothing.
    """
    one = asking(
        "if a['name'] == 'bad': os._exit(7)\n"
        "    print('boom!', file=sys.stderr, flush=True); say({'ok': True, 'result': 1, 'id': r['id']})"
    )
    one.ask("good")
    one.wait("good")
    one.ask("bad")
    one.wait("bad")

    assert one.said["bad"].failure == "unreachable: it ended with code 7"
