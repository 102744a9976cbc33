"""Real agents, offline, to their ends: what is recorded of them is what happened, once, with the model's own counts."""

import json
import shutil
from collections import Counter

import pytest
from msgspec.structs import replace

from hookonce.lab import drivers
from hookonce.lab.fakes import apis
from hookonce.lab.prove.bench import Bench
from tests.cli.command import run
from tests.integration.real import agent

pytestmark = pytest.mark.integration
USAGE = {"claude-code": apis._ANTHROPIC_USAGE, "codex": apis._RESPONSES_USAGE, "gemini-cli": apis._GEMINI_USAGE}
ONCE = ("session_start", "before_prompt", "agent_stop", "session_end")  # of the main agent, in a session of one prompt


class Recorded:
    """A run of a real agent, and what is kept of it."""

    def __init__(self, name, scenario, tmp_path, **changes):
        stage = Bench(replace(drivers.load_driver(name), **changes), agent(name), tmp_path / "cache")
        self.home = tmp_path / "home"
        self.run = stage.play(scenario, hooks=stage.hooks_for_all_events, change_home=lambda home, _: self._keep(home, self.home))
        self.events = [one["event"] for one in self.asked("events", "--json").documents()]
        self.native = [one for one in self.events if "derived_from" not in one and "transcript" not in self._via(one)]
        self.answers = [one for one in self.events if "transcript" in self._via(one) and one["type"] == "after_model"]

    def _keep(self, home, place):
        """Let the home outlive the run: what the daemon has written when it is gone is looked at."""
        leave = home.stop_daemon

        def left():
            leave()
            for folder in (".local", ".codex/sessions"):
                shutil.copytree(home.path / folder, place / folder) if (home.path / folder).exists() else None

        home.stop_daemon = left

    def asked(self, *words):
        return run(*words, cwd=self.home, HOME=str(self.home))

    def _via(self, event):
        return event.get("origin", {}).get("via", [])

    def requests(self, *, tools):
        """What the model was asked: with tools on offer by an agent at work, without them on the side."""
        return [one for one in self.run.requests if one.conversation is not None and bool(one.conversation.tools) is tools]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Each agent plays the tour once for all tests."""
    known = {}

    def find(name):
        if name not in known:
            known[name] = Recorded(name, "tour", tmp_path_factory.mktemp(name))
        return known[name]

    return find


def counted(name, number):
    """Input and output tokens that the scripted model has told for so many answers."""
    told = USAGE[name]
    pairs = (("input_tokens", "output_tokens"), ("promptTokenCount", "candidatesTokenCount"))
    given, made = next((told[given], told[made]) for given, made in pairs if given in told)
    return number * given, number * made


def sums(found):
    return tuple(sum(one["usage"][name] for one in found) for name in ("input_tokens", "output_tokens"))


@pytest.mark.covers("AH-32")
@pytest.mark.parametrize("name", USAGE)
def test_tokens_are_those_that_the_model_has_told(recorded, name, record_property):
    """
    For every request with tools, sub-agents' among them, wherever one looks; what is asked on the side is not in it.
    """
    found = recorded(name)
    asked, aside = found.requests(tools=True), found.requests(tools=False)
    expected = counted(name, len(asked))
    (session,) = found.asked("sessions", "--json").documents()
    told = json.loads(found.asked("show", session["session"], "--json").out)["usage"]
    spent = json.loads(found.asked("cost", "--json").out)["total"]
    (end,) = [one for one in found.native if one["type"] == "session_end"]

    assert 0 == found.run.code, found.run.err
    record_property("requests on the side", len(aside))
    assert (len(asked), expected) == (len(found.answers), sums(found.answers))
    assert [expected] * 3 == [(one["input_tokens"], one["output_tokens"]) for one in (session, told, spent)]
    assert expected == (end["usage"]["input_tokens"], end["usage"]["output_tokens"])
    assert {"latency_ms", "model_call_id"} <= {key for one in found.answers for key in one["data"]}


@pytest.mark.parametrize("name", USAGE)
def test_answers_to_a_sub_agent_are_linked_to_it(recorded, name):
    """
    By its id, and to the call that started it.
    """
    theirs = [one for one in recorded(name).answers if "subagent" in one]

    assert 2 <= len(theirs) < len(recorded(name).answers)
    assert 1 == len({(one["subagent"]["id"], one["data"]["parent_call_id"]) for one in theirs})


@pytest.mark.covers("OH-5")
@pytest.mark.parametrize("name", USAGE)
def test_every_event_is_there_once(recorded, name):
    """
    By its id: all that the lab's own hook has heard, and nothing else. By its meaning: no call, prompt or end twice.
    """
    found = recorded(name)
    heard = {one["id"]: one["type"] for one in found.run.hook_events if "derived_from" not in one}
    ids = Counter(one["id"] for one in found.events)
    calls = Counter((one["type"], one["tool"]["call_id"]) for one in found.native if one.get("tool", {}).get("call_id"))
    moments = Counter(one["type"] for one in found.events if one["type"] in ONCE and "subagent" not in one)

    assert heard == {one["id"]: one["type"] for one in found.native}
    assert {1} == set(ids.values()) | set(calls.values())
    assert dict.fromkeys(ONCE, 1) == moments


@pytest.mark.parametrize("name", USAGE)
def test_the_record_of_a_run_is_sound(recorded, name):
    """
    Nothing is lost, nothing waits, and every link of the chain holds.
    """
    found = recorded(name)

    assert 0 == found.asked("audit", "verify").code
    assert 0 == json.loads(found.asked("status", "--json").out)["lost_records"]
