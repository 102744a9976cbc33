"""How full the context is, and when it was shrunk."""

import pytest
from msgspec.structs import replace

from hookonce.formats import load
from hookonce.model import Record, Usage
from hookonce.sessions.derive import context_window
from hookonce.sessions.derive.state import complete_event
from tests.sessions.derive.records import Story, kinds, only, walk


@pytest.mark.covers("AH-39", "AH-49")
def test_after_each_call_of_the_model_it_is_told_how_full_the_context_is():
    """
    Against the size at which it is shrunk, as the caller knows it.
    """
    story = Story("gemini-cli")
    calls = [story.tell("after_model", usage=Usage(input_tokens=n, output_tokens=10)) for n in (90, 140)]
    _, found = walk(calls, limit=200)
    first, second = only(found, "context_until_compaction")

    assert {
        "tokens_used": 100,
        "tokens_limit": 200,
        "percentage_used": 50.0,
        "tokens_remaining": 100,
        "derived": True,
    } == first.data
    assert 75.0 == second.data["percentage_used"]


def test_what_the_agent_counts_itself_is_better():
    """
    Its own size, or share of its own window; never more than all of what is left until it compacts.
    """
    story = Story("qwen-code")
    share = story.tell("agent_stop", data={"context_usage": 0.25, "context_limit": 200})
    later = story.tell("agent_stop", data={"context_usage": 0.5})
    size = story.tell("agent_stop", data={"context_tokens": 300, "context_limit": 200})
    state, found = walk([share, later, size], limit=160)
    names = ("tokens_used", "percentage_used", "tokens_remaining", "tokens_limit")

    assert 200 == state.context.window
    assert [(50, 31.2, 110, 160), (100, 62.5, 60, 160), (300, 100, 0, 160)] == [
        tuple(event.data[name] for name in names) for event in only(found, "context_until_compaction")
    ]


def test_without_a_limit_there_is_nothing_to_tell():
    """
    Unknown limit, no event; nor for a sub-agent, whose context is another.
    """
    story = Story()
    usage = Usage(total_tokens=10)
    sub = story.before(sub="a").event.subagent

    assert [] == kinds(walk([story.tell("after_model", usage=usage)])[1])
    assert [] == kinds(walk([story.tell("after_model", usage=usage, subagent=sub)], limit=100)[1])


@pytest.mark.covers("AH-40")
def test_a_compaction_is_told_with_the_size_before_it():
    """
    The agent tells that it happens, and the session how much there was.
    """
    story = Story()
    state, _ = walk([story.tell("after_model", usage=Usage(total_tokens=150))])
    before = complete_event(state, story.event("before_compact", data={"trigger": "auto"}))
    after = complete_event(state, story.event("after_compact", data={"tokens_after": 50}))

    assert {"trigger": "auto", "tokens_before": 150} == before.data
    assert {"tokens_after": 50, "tokens_before": 150, "tokens_removed": 100} == after.data


@pytest.mark.covers("AH-40")
def test_a_compaction_that_is_read_is_told_once():
    """
    It completes what the agent has told, ends what it has begun, and stands alone where it has said nothing.
    """
    story = Story()
    found = story.event("after_compact", data={"tokens_before": 150, "tokens_after": 50})
    alone = context_window.complete_transcript_compaction(walk([])[0].context, found)
    ends = context_window.complete_transcript_compaction(walk([story.tell("before_compact")])[0].context, found)
    native = story.tell("after_compact")
    completes = context_window.complete_transcript_compaction(walk([story.tell("before_compact"), native])[0].context, found)

    write = load("agent-hooks").write
    assert [1, 1, 0] == [len(write(Record(event=event))) for event in (alone, ends, completes)]
    assert (None, "before_compact-1") == (alone.caused_by, ends.caused_by)
    assert (native.event.id, 100) == (completes.derived_from, completes.data["tokens_removed"])


def test_after_the_next_call_of_the_model_a_compaction_is_another_one():
    """
    What was told belongs to the compaction before.
    """
    story = Story()
    state, _ = walk([story.tell("after_compact"), story.tell("after_model", usage=Usage(total_tokens=9))])
    event = context_window.complete_transcript_compaction(state.context, story.event("after_compact"))

    assert event.derived_from is None


@pytest.mark.covers("AH-36", "AH-37", "AH-38", "AH-39", "AH-41", "AH-42", "AH-43")
def test_every_further_record_is_an_event_of_agent_hooks():
    """
    Written under the format's own names, with its parent.
    """
    story = Story()
    loop = [one for _ in range(4) for one in story.call(ok=False, call=None)]
    more = [
        story.before({"command": "ls"}, call="1", outcome="deny"),
        story.done({"command": "ls"}, call="1"),
        story.before(call="2", outcome="ask"),
        story.done(call="2", ok=True, output="fine"),
        story.tell("after_model", usage=Usage(total_tokens=9)),
        story.tell("before_prompt"),
    ]
    again = [one for _ in range(4) for one in story.call(ok=False)]
    _, found = walk([*loop, *more, *again, story.tell("interrupt")], limit=100)
    documents = [document for record in found for document in load("agent-hooks").write(record)]

    assert {
        "Session.Start",
        "Retry.Triggered",
        "Retry.Loop.Detected",
        "Retry.Loop.Aborted",
        "Policy.Blocked",
        "Policy.Violation",
        "Policy.Override",
        "Context.UntilCompaction",
    } == {document["event_type"] for document in documents}
    assert len(documents) == len({document["event_id"] for document in documents})
    detected = next(document for document in documents if document["event_type"] == "Retry.Loop.Detected")
    assert {"iteration_count": 4, "action_name": "shell", "elapsed_ms": 6000} == detected["data"]


def test_a_record_keeps_what_its_parent_tells_of_the_session():
    """
    Agent, session, directory and moment are the parent's; its payload is not.
    """
    story = Story()
    parent = story.tell("before_prompt", outcome="deny", cwd="/w", native={"a": 1})
    blocked = only(walk([replace(parent)])[1], "policy_blocked")[0]

    assert ("/w", "s", parent.event.time, None) == (blocked.cwd, blocked.session, blocked.time, blocked.native)
