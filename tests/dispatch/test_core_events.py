"""The six core events of the interchange format: what a refusal, new words and new input do at each, on the five agents of its table."""

import pytest

from hookonce import agents
from hookonce.agents import config_event_of, point_of
from tests.dispatch.pipeline_cases import ask, asked, goldens, hook, said

FIVE = ("claude-code", "gemini-cli", "cursor", "copilot-cli", "kiro")
DENY = {"decision": "deny", "reason": "no"}


def call(name, kind):
    """A recorded payload of an agent for an event, as its default entry would tell it."""
    agent = agents.load(name)
    native = config_event_of(agent, kind)
    payloads = (payload for who, _, payload, _ in goldens() if who == name and agents.decode(agent, payload, native).type == kind)
    return asked(name, native, next(payloads, {"session_id": "s1", "cwd": "/", "hook_event_name": native}))


def heard(name, kind, answer):
    """What an agent hears when a hook on an event says something, and what of it is told to be lost."""
    decision, record = ask(call(name, kind), [hook("x", event=kind)], lambda *_: said(answer))
    return decision, {gap.capability: gap.effect for gap in record.gaps if gap.strategy == "weaken"}


@pytest.mark.covers("HIF-33")
@pytest.mark.parametrize("name", FIVE)
def test_a_tool_can_be_prevented(name):
    """
    before_tool_execute: a refusal is heard by everybody, with its reason.
    """
    decision, lost = heard(name, "before_tool_execute", DENY)

    assert ("deny", {}) == (decision.outcome, lost)
    assert "no" in decision.reason


@pytest.mark.covers("HIF-34")
@pytest.mark.parametrize(("name", "effect"), [("claude-code", "later"), ("cursor", "later"), ("kiro", "observes"), ("gemini-cli", None), ("copilot-cli", None)])
def test_what_a_tool_has_done_is_done(name, effect):
    """
    after_tool_execute: a refusal prevents nothing; two agents keep the result from the model, the others are told of it
    afterwards or not at all, which a gap says, and none takes new input.
    """
    decision, lost = heard(name, "after_tool_execute", DENY)
    rewritten, _ = heard(name, "after_tool_execute", {"updated_input": {"command": "true"}})

    assert ({} if effect is None else {"blocking": effect}) == lost
    assert ("deny" if effect is None else None) == decision.outcome
    assert effect != "later" or "no" in decision.context
    assert rewritten.updated_input is None


@pytest.mark.covers("HIF-35")
@pytest.mark.parametrize("name", FIVE)
def test_a_session_begins_whatever_is_said_but_may_be_told_something(name):
    """
    session_start: context reaches the model, and a refusal is only words.
    """
    spoken, nothing_lost = heard(name, "session_start", {"context": "remember"})
    refused, lost = heard(name, "session_start", DENY)

    assert ("remember", {}) == (spoken.context, nothing_lost)
    assert (None, {"blocking": "later"}) == (refused.outcome, lost)


@pytest.mark.covers("HIF-36")
@pytest.mark.parametrize("name", [name for name in FIVE if name != "kiro"])
def test_a_session_that_ends_has_ended(name):
    """
    session_end: nothing that a hook could say is heard; nobody waits for it.
    """
    agent = agents.load(name)

    assert frozenset() == point_of(agent, config_event_of(agent, "session_end")).capabilities
    decision, _ = heard(name, "session_end", DENY | {"context": "c"})
    assert (None, None) == (decision.outcome, decision.context)


@pytest.mark.covers("HIF-37")
@pytest.mark.parametrize("name", FIVE)
def test_a_prompt_can_be_refused_and_where_an_agent_takes_it_changed(name):
    """
    before_prompt: a refusal is heard by everybody, and a new prompt that is not taken is a refusal.
    """
    refused, lost = heard(name, "before_prompt", DENY)
    changed, why = heard(name, "before_prompt", {"updated_input": {"prompt": "something else"}})

    assert ("deny", {}) == (refused.outcome, lost)
    if name == "copilot-cli":
        assert ({"prompt": "something else"}, {}) == (changed.updated_input, why)
    else:
        assert ("deny", {"input_rewrite": "prevents"}) == (changed.outcome, why)


@pytest.mark.covers("HIF-38")
@pytest.mark.parametrize("name", FIVE)
def test_an_agent_that_stops_can_be_sent_back_to_work(name):
    """
    agent_stop: a refusal means to go on, with its reason; Kiro hears nothing there, which a gap says.
    """
    decision, lost = heard(name, "agent_stop", DENY)

    if name == "kiro":
        assert (None, {"blocking": "observes"}) == (decision and decision.outcome, lost)
    else:
        assert ("deny", {}) == (decision.outcome, lost)
        assert "no" in decision.reason
        assert "retry" in point_of(agents.load(name), config_event_of(agents.load(name), "agent_stop")).capabilities
