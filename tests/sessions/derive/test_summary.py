"""A session in short."""

import json
from types import SimpleNamespace

import pytest

from hookonce import agents
from hookonce.agents import decode
from hookonce.model import Record, Subagent, Usage
from hookonce.sessions.derive.summary import SessionCall, summarize_session
from hookonce.sessions.derive.turns import derive_end
from tests.sessions.derive.records import Story, walk
from tests.shared import ROOT

RECORDINGS = sorted((ROOT / "src/hookonce/recordings").glob("*.jsonl"))


def summarized(records):
    """What a time line is made of: the session, and its calls."""
    session, calls = summarize_session(records)
    return SimpleNamespace(session=session, calls=calls)


def test_every_prompt_of_the_user_begins_a_turn():
    """
    Whether it was answered or interrupted; prompts that sub-agents get are none.
    """
    story = Story()
    first = [story.tell("before_prompt"), *story.call(), story.tell("agent_stop")]
    told = [story.tell("before_prompt", subagent=Subagent(id="a")), story.tell("before_prompt"), story.tell("interrupt")]

    assert 2 == summarized([story.tell("session_start"), *first, *told]).session.turns


def test_calls_are_paired_by_their_id_whatever_their_order():
    """
    Two calls at once that end the other way round.
    """
    story = Story()
    records = [story.before(call="1"), story.before(call="2"), story.done(call="2"), story.done(call="1", ok=False)]
    told = summarized(records)

    assert [("before_tool_execute-0", "after_tool_execute-3", 3000), ("before_tool_execute-1", "after_tool_execute-2", 1000)] == [
        (call.id, call.end, call.duration_ms) for call in told.calls
    ]
    assert (2, 1) == (told.session.calls, told.session.failed_calls)


def test_without_an_id_the_oldest_open_call_has_ended():
    """
    A guess, and it says so.
    """
    story = Story("gemini-cli")
    told = summarized([story.before(), story.before(), story.done()])
    ended, waits = told.calls

    assert ("before_tool_execute-0", True) == (ended.id, ended.guessed)
    assert SessionCall(id="before_tool_execute-1", tool="shell", started=waits.started) == waits


def test_a_new_prompt_or_the_end_closes_calls_that_nobody_ends():
    """
    After a person's no there is no other word; a sub-agent's call may go on all the same.
    """
    story = Story()
    begun = [story.tell("before_prompt"), story.before(call="1"), story.before(call="2", sub="a")]
    for closing, still_open in (("before_prompt", ["2"]), ("session_end", [])):
        told = summarized([*begun, story.tell(closing)])

        assert [(None, None)] * 2 == [(call.end, call.ok) for call in told.calls]
        assert still_open == [call.call_id for calls in told.session.open_calls.open.values() for call in calls]


@pytest.mark.parametrize("numbered", [True, False])
def test_calls_that_make_room_for_others_are_not_forgotten(numbered):
    """
    However many are open at a time, each is listed once.
    """
    story = Story()
    told = summarized([story.before(call=str(number) if numbered else None) for number in range(200)])

    assert 200 == told.session.calls == len({call.id for call in told.calls}) == len(told.calls)


def test_refused_calls_are_calls_that_never_ran():
    """
    They are listed once, and are no failures; one that has run after all is listed with its end.
    """
    story = Story()
    denied = story.before(call="1", outcome="deny")
    told, ran = summarized([denied]), summarized([denied, story.done(call="1")])

    assert ([True], 0) == ([call.refused for call in told.calls], told.session.failed_calls)
    assert [(True, "after_tool_execute-1")] == [(call.refused, call.end) for call in ran.calls]


def test_a_call_that_is_refused_at_the_dialog_is_a_refused_call():
    """
    It had begun, and was taken back.
    """
    story = Story()
    begun = story.before(call="1")
    told = summarized([begun, story.tell("permission_request", outcome="deny", tool=begun.event.tool)])

    assert [True] == [call.refused for call in told.calls]


def test_sub_agents_are_linked_to_their_parents():
    """
    By their own ids, across as many generations as there are, and to sessions of their own.
    """
    story = Story()
    child, grandchild = Subagent(id="a", type="explore"), Subagent(id="b", parent="a")
    told = summarized(
        [
            story.tell("subagent_start", subagent=child, data={"child_session": "other"}),
            *story.call(sub="a"),
            story.tell("before_model", subagent=grandchild),
            story.tell("subagent_stop", subagent=child),
        ]
    ).session.children

    assert ("explore", None, "other", 1) == (told["a"].type, told["a"].parent, told["a"].session, told["a"].calls)
    assert ("a", None) == (told["b"].parent, told["b"].ended)
    assert told["a"].ended is not None


def test_files_are_counted_with_their_lines():
    """
    Of a write what was written, of an edit what came and went, of texts that were left out their lines.
    """
    story = Story()
    left_out = {"hash": "sha256:00", "length": 9, "lines": 4}
    written = story.call({"path": "a", "content": "1\n2\n"}, tool="file_write")
    edited = story.call({"path": "a", "old_text": "1", "new_text": left_out}, tool="file_edit")
    failed = story.call({"path": "b", "content": "1"}, tool="file_write", ok=False)
    files = summarized([*written, *edited, *failed]).session.files

    assert [("a", 2, 6, 1)] == [(path, file.writes, file.added, file.removed) for path, file in files.items()]


def test_usage_and_models_are_those_that_were_told():
    """
    Summed up, and unknown where nobody tells.
    """
    story = Story()
    calls = [
        story.tell("after_model", model="m", usage=Usage(total_tokens=n), data={"finish_reason": "x"}) for n in (3, 4)
    ]
    told = summarized([story.tell("session_start", model="n"), *calls]).session

    assert (["n", "m"], 7) == (list(told.models), told.usage and told.usage.total_tokens)
    assert summarized([story.tell("session_start")]).session.usage is None


def test_how_a_session_ended_is_what_its_agent_says_in_the_end():
    """
    A derived end gives way to the agent's own, a second one to the first, and work to none.
    """
    story = Story()
    records = [story.tell("before_prompt"), story.tell("agent_stop")]
    state, _ = walk(records)
    ours = derive_end(state.turns, state.spending, now="2026-01-01T01:00:00Z", is_process_gone=True, has_open_call=False)
    own, again = (story.tell("session_end", data={"reason": reason}) for reason in ("logout", "other"))

    derived = summarized([*records, ours]).session.end
    told = summarized([*records, ours, own, again, ours]).session.end

    assert (True, "exit") == (derived.is_derived, derived.reason)
    assert (False, "logout") == (told.is_derived, told.reason)
    assert summarized([*records, own, story.tell("before_prompt")]).session.end is None


def test_an_outcome_is_a_call_even_if_nothing_else_was_told_of_it():
    """
    The hook was installed in the middle, or its agent tells only outcomes.
    """
    told = summarized([Story().done(ok=False, exit_code=1)])

    assert (1, 1, [0]) == (told.session.calls, told.session.failed_calls, [call.duration_ms for call in told.calls])


@pytest.mark.parametrize("file", RECORDINGS, ids=lambda file: file.stem)
def test_recorded_sessions_of_real_agents_fold_into_whole_calls(file):
    """
    Every outcome finds its call, and no rule is broken.
    """
    agent = agents.load(file.stem)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    records = [
        Record(event=decode(agent, line["payload"], line["event"], id=f"i{number}", received="2026-01-01T00:00:00Z"))
        for number, line in enumerate(lines)
    ]
    told, (_, found) = summarized(records), walk(records)
    outcomes = [record for record in records if record.event.type in agents.TOOL_END_EVENTS]

    assert {record.event.id for record in outcomes} == {call.end for call in told.calls if call.end}
    assert [] == [record.event.type for record in found if record.event.type.startswith(("policy", "retry"))]
