"""What an agent leaves unsaid about its sessions and turns."""

import pytest

from hookonce.agents import reports_session_start
from hookonce.model import Usage
from hookonce.sessions.derive.state import complete_event, derive_events
from hookonce.sessions.derive.turns import derive_end
from tests.sessions.derive.records import Story, kinds, only, walk

LATER = "2026-01-01T00:10:00Z"
MUCH_LATER = "2026-01-01T01:00:00Z"


def end(state, now=LATER, *, gone=True):
    return derive_end(state.turns, state.spending, now=now, is_process_gone=gone, has_open_call=False)


def test_a_session_that_nobody_began_begins_with_its_first_work():
    """
    Once, and with the first event's time.
    """
    story = Story("windsurf")
    records = [story.tell("notification"), story.tell("before_prompt"), *story.call()]
    _, found = walk(records)
    (start,) = only(found, "session_start")

    assert ("before_prompt-1", records[1].event.time) == (start.derived_from, start.time)
    assert start.id == only(walk(records)[1], "session_start")[0].id


def test_a_beginning_that_its_agent_tells_may_come_in_late():
    """
    It is told for the agent only after a while, or at the end; if it comes even later it is nothing new.
    """
    story = Story("gemini-cli")
    first, late = story.tell("before_prompt"), story.tell("session_start", data={"source": "startup"})
    waiting, found = walk([first])
    told, more = walk([story.tell("session_end", after=2)], waiting)
    after_a_while, again = walk([story.tell("before_prompt", after=60)], waiting)
    known, nothing = walk([late, story.tell("session_end")], waiting)
    _, soon = walk([story.before(after=9)], waiting)

    assert [[], [first.event.id], [first.event.id], [], []] == [
        [event.derived_from for event in only(records, "session_start")] for records in (found, more, again, nothing, soon)
    ]
    assert [None, True, None] == [
        complete_event(state, late.event).data.get("repeat") for state in (waiting, after_a_while, known)
    ]
    assert told.turns.has_ended


def test_a_session_that_its_agent_begins_needs_no_other_beginning():
    """
    Nor do its sub-agents.
    """
    story = Story()
    _, found = walk([story.tell("session_start"), story.tell("before_prompt"), *story.call(sub="a")])

    assert [] == only(found, "session_start")


def test_an_end_without_a_beginning_begins_nothing():
    """
    Copilot tells the end of a session that was never there.
    """
    assert [] == walk([Story().tell("session_end")])[1]


def test_whoever_works_after_the_end_has_resumed():
    """
    Also after an end that we have told ourselves.
    """
    story = Story()
    state, _ = walk([story.tell("session_start"), story.tell("before_prompt"), story.tell("agent_stop")])
    ended = end(state, MUCH_LATER)
    state, _ = derive_events(state, ended, reports_start=reports_session_start)
    _, found = derive_events(state, story.tell("before_prompt"), reports_start=reports_session_start)

    assert ["resume"] == [event.data["source"] for event in only(found, "session_start")]


def test_a_session_that_begins_again_without_a_reason_is_a_repeat():
    """
    Cline says at each turn that a task starts; with a reason, or after an end, it is news.
    """
    story = Story("cline")
    state, _ = walk([story.tell("session_start")])
    ended, _ = derive_events(state, story.tell("session_end"), reports_start=reports_session_start)
    plain, resumed = story.event("session_start"), story.event("session_start", data={"source": "resume"})

    assert [True, None, None] == [
        complete_event(one, event).data.get("repeat") for one, event in ((state, plain), (state, resumed), (ended, plain))
    ]


def test_calls_inside_an_agent_call_of_gemini_are_its_sub_agents():
    """
    Until that call ends, its session does, or it was refused to begin with.
    """
    story = Story("gemini-cli")
    given = {"type": "helper", "prompt": "do"}
    begun, refused = story.before(given, tool="agent"), story.before(given, tool="agent", outcome="deny")
    inner, done = story.before().event, story.done(given, tool="agent")
    states = [walk(records)[0] for records in ([begun], [refused], [begun, done], [begun, story.tell("session_end")])]

    assert ["helper", None, None, None] == [
        sub and sub.type for sub in (complete_event(state, inner).subagent for state in states)
    ]
    assert complete_event(states[0], done.event).subagent is None


def test_what_comes_in_late_resumes_nothing():
    """
    A background call may end after its session.
    """
    story = Story()
    state, found = walk([story.tell("session_start"), story.before(), story.tell("session_end"), story.done()])

    assert ([], True) == (found, state.turns.has_ended)


@pytest.mark.covers("AH-26")
def test_a_prompt_knows_whether_it_follows_another():
    """
    Sub-agents' prompts and repeats do not count.
    """
    story = Story()
    asides = [story.tell("before_prompt", data={"repeat": True}), story.before(sub="a")]
    first, second = story.tell("before_prompt"), story.tell("before_prompt")
    state, _ = walk([story.tell("session_start"), *asides])
    told = complete_event(state, first.event)
    state, _ = derive_events(state, first, reports_start=reports_session_start)

    assert [False, True] == [told.data["is_followup"], complete_event(state, second.event).data["is_followup"]]


@pytest.mark.parametrize("closing", ["before_prompt", "session_end"])
def test_last_words_are_the_response_of_a_turn_that_nobody_ends(closing):
    """
    When the next prompt or the session's end shows that there will be no other.
    """
    story = Story()
    said = story.tell("after_model", data={"response": "done"})
    _, found = walk([story.tell("before_prompt"), said, story.tell(closing)])
    (stop,) = only(found, "agent_stop")

    assert (said.event.id, "done", said.event.time) == (stop.derived_from, stop.data["response"], stop.time)


@pytest.mark.parametrize("ends", ["agent_stop", "interrupt", "before_tool_execute"])
def test_a_turn_that_was_ended_or_went_on_has_no_other_response(ends):
    """
    A stop is the response; after an interruption or more work there is none.
    """
    story = Story()
    said = story.tell("agent_response", data={"response": "well"})
    more = story.before() if ends == "before_tool_execute" else story.tell(ends)
    _, found = walk([story.tell("before_prompt"), said, more, story.tell("before_prompt")])

    assert [] == only(found, "agent_stop")


@pytest.mark.covers("AH-24")
def test_the_end_of_a_session_carries_what_it_came_to():
    """
    Tokens, actions and time; what the agent says itself counts more.
    """
    story = Story()
    answer = story.tell("agent_stop", usage=Usage(input_tokens=10, output_tokens=5))
    state, _ = walk([story.tell("session_start"), *story.call(), answer])
    told = complete_event(state, story.event("session_end", data={"duration_ms": 1}))

    assert (15, 1, 1) == (told.usage and told.usage.total_tokens, told.data["total_actions"], told.data["duration_ms"])
    assert 4000 == complete_event(state, story.event("session_end", after=5)).data["duration_ms"]


@pytest.mark.covers("AH-24")
def test_a_session_whose_process_is_gone_after_a_stop_has_ended():
    """
    With its sums, once however often one asks, and never again.
    """
    story = Story("cline")
    answer = story.tell("agent_stop", usage=Usage(input_tokens=10, output_tokens=5))
    state, _ = walk([story.tell("before_prompt"), *story.call(), answer])
    ended = end(state)

    assert ("session_end", "exit", 15) == (ended.event.type, ended.event.data["reason"], ended.event.usage.total_tokens)
    assert (ended, answer.event.time) == (end(state, MUCH_LATER), ended.event.time)
    assert end(derive_events(state, ended, reports_start=reports_session_start)[0]) is None


@pytest.mark.covers("AH-25")
def test_a_session_whose_process_is_gone_in_mid_turn_was_aborted():
    """
    A prompt without an answer, or a stop that was refused.
    """
    story = Story()
    prompted = [story.tell("before_prompt")]
    kept = [*prompted, story.tell("agent_stop", outcome="deny")]

    assert ["session_abort"] * 2 == [end(walk(records)[0]).event.type for records in (prompted, kept)]


def test_an_end_is_the_sessions_whoever_has_spoken_last():
    """
    And by our own clock: a session that is played again has not rested for years.
    """
    story = Story()
    state, _ = walk([story.tell("before_prompt"), story.before(sub="a", received=LATER)])

    assert end(state, LATER).event.subagent is None
    assert end(state, LATER, gone=None) is None
    assert end(state, "2026-01-01T00:40:00Z", gone=None) is not None


def test_a_second_end_says_nothing_new():
    """
    Whoever has told the first.
    """
    story = Story("codex")
    state, _ = walk([story.tell("agent_stop")])
    told, _ = derive_events(state, story.tell("session_end"), reports_start=reports_session_start)
    made, _ = derive_events(state, end(state), reports_start=reports_session_start)

    assert [None, True, True] == [
        complete_event(one, story.event("session_end")).data.get("repeat") for one in (state, told, made)
    ]


@pytest.mark.parametrize("gone", [False, None])
def test_half_an_hour_of_rest_is_the_end(gone):
    """
    Whatever is known of the process; before that it rests.
    """
    state, _ = walk([Story().tell("agent_stop")])

    assert end(state, "2026-01-01T00:29:59Z", gone=gone) is None
    assert "idle_timeout" == end(state, "2026-01-01T00:30:00Z", gone=gone).event.data["reason"]


def test_nothing_ends_that_has_not_begun_or_has_ended():
    """
    No work, no session; and an end that was told is the end.
    """
    story = Story()

    assert end(walk([])[0]) is None
    assert end(walk([story.tell("notification")])[0]) is None
    assert end(walk([story.tell("agent_stop"), story.tell("session_end")])[0]) is None


def test_what_we_made_ourselves_is_not_taken_for_news():
    """
    Further records may come back from the store in any number.
    """
    story = Story()
    state, found = walk([story.tell("before_prompt", outcome="deny"), *story.call(ok=False), story.before()])

    assert ["policy_blocked", "retry_triggered"] == kinds(found)
    assert (state, []) == walk(found, state)
