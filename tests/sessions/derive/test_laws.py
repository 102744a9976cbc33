"""What holds for every session, whatever its agent tells."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.agents import reports_session_start
from hookonce.base.ids import is_uuid
from hookonce.model import Usage
from hookonce.sessions.derive.state import SessionState, complete_event, derive_events, rebuild_state
from hookonce.sessions.derive.summary import SessionAggregate, summarize_session
from hookonce.sessions.derive.summary import update_session as fold
from hookonce.store.privacy.redact import redact
from hookonce.vocabulary.call_fingerprint import add_fingerprint
from hookonce.vocabulary.events import is_redundant
from tests.sessions.derive.records import Story, walk

CALLS = {"before_tool_execute": "before", "after_tool_execute": "done"}
KINDS = [
    *CALLS,
    *CALLS,
    "before_prompt",
    "agent_stop",
    "session_start",
    "session_end",
    "after_model",
    "before_compact",
    "after_compact",
    "interrupt",
    "permission_request",
    "file_changed",
    "subagent_stop",
    "vendor.x.Y",
]
moments = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "call": st.sampled_from([None, None, "1", "2"]),
        "sub": st.sampled_from([None, None, None, "a"]),
        "given": st.sampled_from([{"command": "ls"}, {"command": "sleep 5"}, {"path": "a", "content": "x\ny"}]),
        "tool": st.sampled_from(["shell", "file_write", "agent"]),
        "outcome": st.sampled_from([None, None, None, "deny", "ask", "allow"]),
        "ok": st.booleans(),
        "tokens": st.none() | st.integers(0, 100),
    }
)


def tell(story, moment):
    """The record of a moment."""
    called = {name: moment[name] for name in ("call", "sub", "tool", "outcome")}
    begun = story.before(moment["given"], **called)
    if moment["kind"] == "before_tool_execute":
        return begun
    if moment["kind"] == "after_tool_execute":
        return story.done(moment["given"], ok=moment["ok"], output="10:00 done", **called)
    usage = None if moment["tokens"] is None else Usage(total_tokens=moment["tokens"])
    data = {"path": "a", "response": "text of somebody"}
    tool = begun.event.tool if moment["kind"] == "permission_request" else None
    return story.tell(
        moment["kind"], outcome=moment["outcome"], usage=usage, data=data, tool=tool, subagent=begun.event.subagent
    )


@st.composite
def sessions(draw):
    """The records of a session."""
    story = Story(draw(st.sampled_from(["claude-code", "gemini-cli"])))
    return [tell(story, moment) for moment in draw(st.lists(moments, max_size=40))]


@given(sessions(), st.integers(0, 40))
def test_the_state_can_be_written_down_and_made_again(records, cut):
    """
    Step by step, of the list, or from a state that was written down in the middle: it is the same.
    """
    half, first = walk(records[:cut])
    read = msgspec.json.decode(msgspec.json.encode(half), type=SessionState)
    whole, then = walk(records[cut:], read)

    assert rebuild_state(records, reports_session_start) == whole
    assert walk(records)[1] == first + then


@given(sessions())
def test_records_that_we_have_made_change_nothing(records):
    """
    The store holds them among the others.
    """
    state, mixed = SessionState(), []
    for record in records:
        state, more = derive_events(state, record, reports_start=reports_session_start)
        mixed += [record, *more]

    assert rebuild_state(mixed, reports_session_start) == state


@given(sessions())
def test_further_records_have_their_own_ids_and_name_their_parents(records):
    """
    No two are the same, and each follows from a record of the session.
    """
    _, found = walk(records, limit=50)
    ids = [record.event.id for record in found]

    assert len(ids) == len({*ids})
    assert all(map(is_uuid, ids))
    assert {record.event.derived_from for record in found} <= {record.event.id for record in records}


@given(sessions())
def test_what_follows_is_the_same_at_every_level_of_privacy(records):
    """
    Texts are left out, and loops, violations and ends are seen all the same.
    """
    told = [replace(record, event=add_fingerprint(record.event)) for record in records]

    def seen(level):
        _, found = walk([redact(record, level) for record in told])
        return [(record.event.id, record.event.type) for record in found]

    assert seen("full") == seen("standard") == seen("minimal")


@given(sessions())
def test_completing_an_event_keeps_what_it_told(records):
    """
    Something is added, and nothing that was there is changed.
    """
    for number, record in enumerate(records):
        told = complete_event(rebuild_state(records[:number], reports_session_start), record.event)

        assert record.event.data.items() <= told.data.items()
        plain = replace(told, data={}, usage=None, subagent=record.event.subagent)
        assert plain == replace(record.event, data={}, usage=None)


@given(sessions(), st.integers(0, 40))
def test_a_summary_is_the_same_in_pieces(records, cut):
    """
    A session that was written down in the middle comes to the same, and its sums are those of its parts.
    """
    whole, calls = summarize_session(records)
    session, over = SessionAggregate(), []
    for number, record in enumerate(records):
        if number == cut:
            session = msgspec.json.decode(msgspec.json.encode(session), type=SessionAggregate)
        session, more = fold(session, record)
        over += more

    assert whole == session
    assert session.calls == len(calls)
    assert session.failed_calls == sum(call.ok is False and not call.refused for call in over)
    prompts = [one.event for one in records if one.event.type == "before_prompt" and not is_redundant(one.event)]
    assert session.turns == sum(prompt.subagent is None for prompt in prompts)
