"""Closed hooks behind our wrapper: what an agent is told when its script fails, on every agent that can refuse."""

import json
import shlex
from itertools import cycle

import pytest

from hookonce import agents
from hookonce.agents import config_event_of, point_of
from hookonce.base.invocation import format_command, is_closed_wrapper, parse_command
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.diagnose.trial import sample_event
from hookonce.dispatch import dispatcher, fail_mode
from hookonce.dispatch.context import oneshot_context
from hookonce.handlers.operation import OperationResult
from tests.convert.test_launcher import texts
from tests.dispatch.pipeline_cases import PLAIN

EVENT = "before_tool_execute"
ABLE = [name for name in agents.AGENTS if (native := config_event_of(agents.load(name), EVENT)) and "prevent" in point_of(agents.load(name), native).capabilities]
FAILURES = {
    "a crash": (OperationResult(code=1, stderr=b"Traceback"), "exit code 1"),
    "no script": (OperationResult(code=127, stderr=b"sh: ./guard.sh: not found"), "exit code 127"),
    "a signal": (OperationResult(code=-9), "exit code -9"),
    "too late": (OperationResult(failure="timeout"), "did not answer in time"),
    "no answer": (OperationResult(code=0, stdout=b'{"decision": "den'), "failed"),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def wrapper(agent, mode="closed", scope="user", **fields):
    """The words that an agent calls for a converted hook, and the file that it has them from."""
    hook = {"event": EVENT, "blocking": True, "handler": {"type": "command", "command": "./guard.sh", "timeout": 5}, "on_failure": mode} | fields
    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, agent, adapt=WrapperOptions("/mine/hookonce-on", scope))
    calls = [call for text in texts(made.document) if (call := parse_command(text)) is not None]
    assert calls
    return shlex.split(format_command(calls[0]))[1:], made


def answer_tool_call(agent, words, result):
    """The reply to a tool call, where the script ends in that way."""
    payload = json.dumps(sample_event(agent, EVENT, "shell", {"command": "rm -rf /"}).native).encode()
    return dispatcher.answer_call(words, payload, PLAIN, run_operation=lambda _: result)


@pytest.mark.part(2)
@pytest.mark.parametrize("name", ABLE)
def test_a_closed_script_that_fails_refuses_and_says_why(name):
    """
    In the agent's own form of a refusal; the same script in an open wrapper lets the call pass, and both do if it works.
    """
    agent = agents.load(name)
    entries = [wrapper(agent, dialect=dialect)[0] for dialect in ("canonical", "codex" if name == "claude-code" else "claude-code")]
    for (result, reason), words in zip(FAILURES.values(), cycle(entries), strict=False):
        reply = answer_tool_call(agent, words, result)
        decision = agent.read_reply(words[1], reply) if agent.read_reply is not None else None
        assert decision is None or ("deny", True, True) == (decision.outcome, reason in decision.reason, "./guard.sh" in decision.reason)
        assert reason in reply.stdout + reply.stderr
    assert fail_mode.open_reply(agent) == answer_tool_call(agent, wrapper(agent, "open")[0], OperationResult(code=1))
    assert fail_mode.open_reply(agent) == answer_tool_call(agent, entries[0], OperationResult(code=0))


@pytest.mark.part(2)
@pytest.mark.parametrize("name", ABLE)
def test_a_closed_wrapper_refuses_where_hookonce_itself_fails(name, monkeypatch):
    """
    Whether it cannot run hooks, cannot read the payload or comes too late; an open one goes on.
    """
    agent = agents.load(name)
    for words, is_closed in ((wrapper(agent)[0], True), (wrapper(agent, "open")[0], False)):
        payload = json.dumps(sample_event(agent, EVENT, "shell", {"command": "ls"}).native).encode()
        context = oneshot_context(PLAIN)
        late = dispatcher.late_reply(dispatcher.receive_call(words, payload, context, "0192c0de-0000-7000-8000-000000000000"))
        garbled = dispatcher.answer_call(words, b"{garbage", PLAIN)
        unknown_words = dispatcher.answer_call([*words, "--of-tomorrow", "x"], payload, PLAIN)
        with monkeypatch.context() as patch:
            patch.setattr(dispatcher, "process_request", lambda *_: 1 / 0)
            broken = dispatcher.answer_call(words, payload, PLAIN)
        assert [is_closed] * 4 == [reply != fail_mode.open_reply(agent) for reply in (late, garbled, unknown_words, broken)]


@pytest.mark.parametrize("name", ABLE)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_closed_wrapper_is_parsed_as_a_closed_hook(name, scope):
    """
    What is converted once is closed on the next agent too, and an open one stays open.
    """
    agent = agents.load(name)
    for mode in ("closed", "open"):
        words, made = wrapper(agent, mode, scope)
        (hook,), _ = agent.config.parse(agent, made.document)
        assert (mode == "closed", mode == "closed") == (hook.must_answer, "--on-failure" in words)
        assert [mode == "closed"] == list({is_closed_wrapper(text) for text in texts(made.document) if parse_command(text)})


def test_a_pause_holds_for_a_closed_wrapper(monkeypatch):
    """
    Then nobody is asked, and nobody is missed.
    """
    agent = agents.load("claude-code")
    monkeypatch.setattr(dispatcher.pause, "is_paused", lambda: True)

    assert fail_mode.open_reply(agent) == answer_tool_call(agent, wrapper(agent)[0], OperationResult(code=1))
