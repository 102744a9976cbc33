"""Every agent hears the same, whoever answers: the daemon, a process for one call, or the client without C."""

import json
import shutil

import pytest

from hookonce import agents
from hookonce.dispatch import dispatcher
from hookonce.dispatch.fail_mode import encode_reply
from tests.daemon.installed_home import Home, command
from tests.dispatch.pipeline_cases import goldens
from tests.sample import EXHAUSTIVE, part
from tests.shared import ROOT

KINDS = sorted({kind for name in agents.AGENTS for kind in agents.load(name).events.values()})
SAYS = {
    "refuses": "printf '%s' '{\"decision\":\"deny\",\"reason\":\"n\\u00f6 \\\\ %s\"}'",
    "asks": 'echo \'{"decision":"ask","reason":"may it?"}\'',
    "rewrites": 'echo \'{"updated_input":{"command":"true"}}\'',
    "adds": 'echo \'{"context":"mind the gap","system_message":"hello"}\'',
    "ends": 'echo \'{"continue":false,"reason":"enough"}\'',
    "exits": "echo no >&2; exit 2",
    "fails": "echo text; exit 1",
}
TWIN = ROOT / "src" / "hookonce" / "client" / "native" / "hookonce-on.sh"


def hooks(says):
    """A hook for every kind of event; one that fails has to be asked."""
    mode = {"on_failure": "closed"} if says == "fails" else {}
    return [command(SAYS[says], event=kind, **mode) for kind in KINDS] if says else []


def calls():
    """Every payload that we have: a name, words and bytes."""
    for agent, native, payload, name in goldens():
        yield name, [agent, native, "--via", f"{agent}/user"], json.dumps(payload).encode()


def sample(first, of):
    """One payload of each agent and event; of those one in so many, beginning with this one."""
    found = {(words[0], words[1]): (name, words, raw) for name, words, raw in calls()}
    return [*calls()] if EXHAUSTIVE else part(found.values(), of, first)


@pytest.fixture
def promised(tmp_path_factory, monkeypatch, installed):
    """What the walk itself answers, in this process and in a home of its own, as long as it has the same hooks."""
    other = Home(tmp_path_factory.mktemp("promised"), installed)
    monkeypatch.chdir(other.where)

    def answer(words, raw):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(other.home))
            reply = dispatcher.answer_call(words, raw, other.env)
        return reply.code, encode_reply(reply), reply.stderr.encode()

    yield other, answer
    shutil.rmtree(other.house, ignore_errors=True)


@pytest.mark.part(2)
@pytest.mark.slow
@pytest.mark.parametrize("says", [None, *SAYS])
def test_the_daemon_answers_every_payload_as_the_walk_does(warm, promised, says):
    """
    The same bytes on both outputs and the same exit code, for every agent's payloads and whatever a hook says.
    """
    other, answer = promised
    for home in (warm, other):
        home.hooks(*hooks(says))
    before, heard = warm.status(), {}
    asked = sample(0, 8) if says in {None, "refuses"} else sample([*SAYS].index(says), 2 * len(SAYS))
    for name, words, raw in asked:
        if says == "fails" and "session_start" == agents.normalize(agents.load(words[0]), words[1]):
            continue  # its user is told which hooks have failed so far, and records are written after answers
        heard[name] = warm.call(*words, given=raw)
        assert answer(words, raw) == heard[name], name
    after = warm.status()

    assert before["pid"] == after["pid"]
    assert before["answered"] < after["answered"]
    assert (says is None) == (set(heard.values()) <= {(0, b"", b""), (0, b"{}\n", b"")})


@pytest.mark.part(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "says", "first"),
    [("cold", None, 1), ("cold", "refuses", 0), ("twin", None, 7), ("twin", "refuses", 3)],
)
def test_without_a_daemon_every_agent_hears_the_same(home, promised, way, says, first):
    """
    A process for each call, started by the client of C; and the client that is a script.
    """
    other, answer = promised
    for each in (home, other):
        each.hooks(*hooks(says))
    if way == "twin":
        shutil.copy(TWIN, home.client)
    asked = sample(first, 24)
    endings = home.crowd(((words, raw) for _, words, raw in asked), at_once=4, env=home.cold_env)

    for (name, words, raw), ending in zip(asked, endings, strict=True):
        assert answer(words, raw) == ending, name
    assert not home.daemons()
