"""When a model was asked, and how often in vain: as far as two lines tell it."""

import pytest

from hookonce.agents import transcripts
from tests.agents.transcripts.material import at_once, golden, lines, session


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli"])
def test_every_answer_comes_after_what_it_answers(agent):
    """
    The prompt or the last result of a tool stands before it, with a time that is not later.
    """
    calls = session(golden(agent, "tour")).calls
    assert all(one.asked and one.time and one.asked <= one.time for one in calls)
    assert [None] * len(calls) == [one.retries for one in calls]


def test_an_answer_in_several_lines_was_asked_for_once():
    """
    A tool may end before all of the answer that has called it is written.
    """
    answer = {"type": "assistant", "sessionId": "s"}
    first, last = (
        answer | {"timestamp": f"2026-01-01T00:00:0{n}Z", "message": {"id": "m", "model": "x", "stop_reason": why, "usage": {"output_tokens": n}}}
        for n, why in ((2, None), (4, "end_turn"))
    )
    prompt, result = ({"type": "user", "sessionId": "s", "timestamp": f"2026-01-01T00:00:0{n}Z", "message": {}} for n in (1, 3))
    (call,) = at_once(transcripts.load("claude-code"), lines(prompt, first, result, last)).calls

    assert ("2026-01-01T00:00:01.000Z", "2026-01-01T00:00:04.000Z", 4) == (call.asked, call.time, call.usage.output_tokens)


def test_attempts_in_vain_are_counted_for_the_answer_that_came_of_them():
    """
    Claude Code notes each of them with its number.
    """
    failed = [{"type": "system", "subtype": "api_error", "retryAttempt": n, "maxRetries": 10} for n in (1, 2)]
    answers = [
        {"type": "assistant", "sessionId": "s", "message": {"id": name, "model": "x", "stop_reason": "end_turn", "usage": {"output_tokens": 1}}}
        for name in ("a", "b")
    ]
    calls = at_once(transcripts.load("claude-code"), lines(*failed, *answers)).calls

    assert [2, None] == [one.retries for one in calls]


def test_totals_that_come_after_what_follows_tell_no_time():
    """
    An older Codex counts a call when its tools are done: how long the model took, nobody can say.
    """
    meta = {"type": "session_meta", "payload": {"id": "t"}}
    usage = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    done = {"type": "response_item", "timestamp": "2026-01-01T00:00:05Z", "payload": {"type": "function_call_output", "call_id": "c"}}
    counts = {"type": "token_count", "info": {"last_token_usage": usage, "total_token_usage": usage}}
    counted = {"type": "event_msg", "timestamp": "2026-01-01T00:00:06Z", "payload": counts}
    (call,) = at_once(transcripts.load("codex"), lines(meta, done, counted)).calls

    assert (None, 3) == (call.asked, call.usage.input_tokens)
