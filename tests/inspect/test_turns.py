"""Turns of a session: every event in one of them, and their sums are the session's."""

import os
import tracemalloc
from random import Random
from time import monotonic

import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins

from hookonce.formats.schema import load_schema
from hookonce.inspect.turns import assign_turns, build_turns
from hookonce.model import Decision, Digest, Event, Origin, Record, Result, Subagent, Tool, Usage
from hookonce.sessions.derive.summary import summarize_session
from hookonce.sessions.derive.token_usage import token_count
from hookonce.store.usage import prices
from hookonce.vocabulary.usage_sources import counting_sources

TABLE = prices.load_prices()
MODEL = "claude-sonnet-4-6"
DENY = Decision(outcome="deny", reason="no", by="guard")
EVENTS = int(os.environ.get("HOOKONCE_TURN_EVENTS", "1000"))


def record(number, kind, decision=None, **more):
    fields = {"id": f"e{number}", "schema": "hookonce/1", "type": kind, "agent": "codex", "session": "S", "time_source": "agent"}
    fields["time"] = f"2026-11-15T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return Record(event=Event(**(fields | more)), decision=decision)


def tool(name="shell", call_id=None, ok=None, **given):
    return Tool(name=name, native=name, input=given, call_id=call_id, result=None if ok is None else Result(ok=ok))


def turns(records, sources=None):
    session, _ = summarize_session(records)
    known = counting_sources(session.spending.sums | ({"model": None} if session.spending.partial_usage else {}))
    found = list(build_turns(iter(records), known if sources is None else sources, lambda model, day: prices.price_of(model, day=day, prices=TABLE)))
    schema = Draft202012Validator(load_schema("turns"))
    assert [] == [fault.message for turn in found for fault in schema.iter_errors(to_builtins(turn))]
    return found


def stream(seed, length):
    """Events as they may come, in any order, from any source."""
    chance = Random(seed)  # noqa: S311  no secret
    kinds = ("before_prompt", "before_tool_execute", "after_tool_execute", "tool_use_failure", "after_model", "agent_stop", "session_start", "session_end", "interrupt", "permission_request", "file_saved", "agent_response", "subagent_start", "vendor.codex.Odd")
    for number in range(length):
        kind = chance.choice(kinds)
        more = {}
        if chance.random() < 0.2:
            more["subagent"] = Subagent(id=chance.choice("ab"), type="explorer")
        if "tool" in kind or kind == "permission_request":
            ok = None if kind == "before_tool_execute" else kind == "after_tool_execute"
            name = chance.choice(("shell", "file_write", "file_read"))
            more["tool"] = tool(name, chance.choice((None, "1", "2", "3")), ok, path=f"/w/{chance.randrange(4)}", content="a\nb\n")
        if kind == "file_saved":
            more["data"] = {"path": f"/w/{chance.randrange(4)}"}
        if kind in {"after_model", "agent_stop", "session_end", "agent_response"} and chance.random() < 0.7:
            more |= {"usage": Usage(input_tokens=chance.randrange(1000), output_tokens=chance.randrange(100)), "model": chance.choice((MODEL, "nobody-knows", None))}
            if chance.random() < 0.5:
                more["data"] = {"finish_reason": "stop"}
        if kind == "after_model" and seed % 2 and chance.random() < 0.5:
            more["origin"] = Origin(via=["transcript"])
        if chance.random() < 0.05:
            more |= {"derived_from": "e0", "data": {"derived": True}} if chance.random() < 0.5 else {"data": {"repeat": True}}
        yield record(number, kind, DENY if chance.random() < 0.1 else None, **more)


def summed(counts):
    found = [one for one in counts if one is not None]
    return sum(found) if found else None


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_turns_are_the_session_s(seed):
    """
    Events, calls, failures, refusals, tokens of every kind, and what was done to each file.
    """
    records = list(stream(seed, 150))
    found = turns(records)
    session, _ = summarize_session(records)
    assert len(records) == sum(turn.events for turn in found)
    assert (session.calls, session.failed_calls) == (sum(turn.calls for turn in found), sum(turn.failures for turn in found))
    assert sum(one.decision is not None and one.event.derived_from is None for one in records) == sum(turn.refusals for turn in found)
    for name in Usage.__struct_fields__:
        expected = None if session.usage is None else getattr(session.usage, name)
        assert expected == summed(getattr(turn.usage, name) for turn in found if turn.usage is not None), name
    for path, file in session.files.items():
        writes = sum(count for turn in found if path in turn.files for kind, count in turn.files[path].operations.items() if kind != "read")
        added = sum(turn.files[path].added_lines for turn in found if path in turn.files)
        assert (file.writes, file.added) == (writes, added)
    assert session.turns == max(turn.number for turn in found)


@pytest.mark.parametrize("seed", range(4))
def test_every_event_is_in_one_turn_and_a_prompt_begins_the_next(seed):
    records = list(stream(seed, 150))
    numbers = [number for number, _ in assign_turns(records)]
    assert records == [one for _, one in assign_turns(records)]
    assert numbers == sorted(numbers)
    assert [turn.number for turn in turns(records)] == sorted(set(numbers))
    assert {turn.id for turn in turns(records) if turn.number} == {one.event.id for (number, one), before in zip(assign_turns(records), [0, *numbers], strict=False) if number > before}


PROMPT = record(10, "before_prompt", prompt=Digest(hash="h", length=24, lines=1))
CALL = record(11, "before_tool_execute", tool=tool(call_id="1"))
STOP = record(20, "agent_stop", data={"response": {"hash": "r", "length": 3, "lines": 1}})
ENDS = {
    "a response": ([STOP], "response"),
    "a response without a stop": ([record(12, "agent_response", data={"response": "x"})], "response"),
    "a stop that was refused": ([record(20, "agent_stop", DENY)], "stop_refused"),
    "a stop that was refused, and work after it": ([record(20, "agent_stop", DENY), CALL, STOP], "response"),
    "a stop that was refused, and no end after it": ([record(20, "agent_stop", DENY), CALL], "unfinished"),
    "an interruption": ([CALL, record(20, "interrupt")], "interrupted"),
    "the session's end": ([CALL, record(20, "session_end")], "session_end"),
    "an abort": ([CALL, record(20, "session_abort", derived_from="e11", data={"derived": True})], "session_abort"),
    "a response and the session's end": ([STOP, record(21, "session_end")], "response"),
    "the next prompt": ([CALL, record(20, "before_prompt")], "next_prompt"),
    "nothing": ([CALL], "unfinished"),
    "the stop of a sub-agent": ([record(20, "agent_stop", subagent=Subagent(id="a"))], "unfinished"),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_a_turn_ended(name):
    records, end = ENDS[name]
    assert end == turns([PROMPT, *records])[0].end


def test_a_prompt_that_was_refused_is_the_end_of_its_turn():
    assert "prompt_refused" == turns([record(1, "before_prompt", DENY)])[0].end


def test_a_turn_tells_prompt_calls_decisions_files_tokens_cost_and_sub_agents():
    records = [
        record(1, "session_start"),
        PROMPT,
        record(11, "before_tool_execute", tool=tool("file_write", "1", path="/w/a", content="x")),
        record(13, "after_tool_execute", tool=tool("file_write", "1", ok=True, path="/w/a", content="x")),
        record(14, "before_tool_execute", DENY, tool=tool("shell", "2", command="rm -rf /")),
        record(15, "after_tool_execute", tool=tool("file_read", "3", ok=True, path="/w/b")),
        record(16, "before_tool_execute", tool=tool("shell", "4", command="ls"), subagent=Subagent(id="a1", type="explorer")),
        record(17, "tool_use_failure", tool=tool("shell", "4", ok=False, command="ls"), subagent=Subagent(id="a1", type="explorer")),
        record(18, "after_model", model=MODEL, usage=Usage(input_tokens=1_000_000, output_tokens=10), data={"finish_reason": "stop"}),
        STOP,
        record(30, "session_end"),
    ]
    before, turn = turns(records)
    assert (0, None, "next_prompt", 1) == (before.number, before.id, before.end, before.events)
    assert (1, "e10", "response", 10, 20_000) == (turn.number, turn.id, turn.end, turn.events, turn.duration_ms)
    assert (24, {"hash": "r", "length": 3, "lines": 1}) == (turn.prompt.length, turn.response)
    assert [("file_write", True, 2000), ("shell", None, None), ("file_read", True, 0), ("shell", False, 1000)] == [(one.tool, one.ok, one.duration_ms and round(one.duration_ms)) for one in turn.actions]
    assert ("deny", "no", "guard", True) == tuple(getattr(turn.actions[1], name) for name in ("decision", "reason", "by", "is_refused"))
    assert ({"write": 1}, {"read": 1}) == (turn.files["/w/a"].operations, turn.files["/w/b"].operations)
    assert (4, 1, 1) == (turn.calls, turn.failures, turn.refusals)
    assert ("explorer", 1) == (turn.subagents["a1"].type, turn.subagents["a1"].calls)
    assert ([MODEL], 1_000_010, 3_000_150, []) == (turn.models, token_count(turn.usage), turn.cost_micros, turn.models_without_price)
    assert [("e18", MODEL)] == [(one.id, one.model) for one in turn.model_calls]


def test_pieces_of_one_answer_are_one_call_of_the_model_and_cost_once():
    pieces = [record(11 + n, "after_model", model=MODEL, usage=Usage(input_tokens=1_000_000, output_tokens=n)) for n in range(3)]
    (turn,) = turns([PROMPT, *pieces, STOP])
    assert (1, 1_000_000, 2) == (len(turn.model_calls), turn.usage.input_tokens, turn.usage.output_tokens)
    assert 3_000_030 == turn.cost_micros


def test_what_turns_cost_is_together_what_the_session_costs():
    """
    A call of 22.5 millionths of a dollar is rounded with all others, not for itself.
    """
    call = {"model": "gpt-5", "usage": Usage(input_tokens=10, output_tokens=1), "data": {"finish_reason": "x"}}
    found = turns([one for number in range(3) for one in (record(2 * number, "before_prompt"), record(2 * number + 1, "after_model", **call))])
    assert [23, 22, 23] == [turn.cost_micros for turn in found]


def test_an_answer_after_something_else_is_another_call_of_the_model():
    answer = {"model": MODEL, "usage": Usage(input_tokens=1_000_000, output_tokens=1)}
    (turn,) = turns([PROMPT, record(11, "after_model", **answer), CALL, record(12, "after_model", **answer), STOP])
    assert (2, 2_000_000, 6_000_030) == (len(turn.model_calls), turn.usage.input_tokens, turn.cost_micros)


def test_a_refused_call_that_ran_all_the_same_and_failed_is_a_refusal_and_no_failure():
    (turn,) = turns([PROMPT, record(11, "before_tool_execute", DENY, tool=tool(call_id="1")), record(12, "tool_use_failure", tool=tool(call_id="1", ok=False))])
    assert (1, 0, 1) == (turn.calls, turn.failures, turn.refusals)
    assert (True, False) == (turn.actions[0].is_refused, turn.actions[0].ok)


def test_a_model_without_a_price_is_named():
    (turn,) = turns([PROMPT, record(11, "after_model", model="nobody-knows", usage=Usage(input_tokens=1, output_tokens=1))])
    assert (None, ["nobody-knows"]) == (turn.cost_micros, turn.models_without_price)


def test_a_call_that_ends_in_a_later_turn_is_told_there_too():
    inner = {"subagent": Subagent(id="a1")}
    records = [PROMPT, record(11, "before_tool_execute", tool=tool(call_id="1"), **inner), record(12, "before_prompt"), record(13, "after_tool_execute", tool=tool(call_id="1", ok=False), **inner)]
    first, second = turns(records)
    assert (None, 1) == (first.actions[0].ok, first.calls)
    assert ("e11", False, 1, 0, 1) == (second.actions[0].id, second.actions[0].ok, second.actions[0].began_in, second.calls, second.failures)


@pytest.mark.parametrize("prompts", [1, EVENTS // 4])
def test_memory_stays_small_and_time_short_however_long_a_session_is(prompts):
    """
    In one turn, or in many of them; HOOKONCE_TURN_EVENTS=100000 takes a longer session.
    """

    def endless():
        for number in range(EVENTS // 4):
            if number % max(1, EVENTS // 4 // prompts) == 0:
                yield record(number, "before_prompt", prompt="do it")
            yield record(number, "before_tool_execute", tool=tool("file_write", str(number), path=f"/w/{number}", content="x" * 100))
            yield record(number, "after_tool_execute", tool=tool("file_write", str(number), ok=True, path=f"/w/{number}", content="x" * 100))
            yield record(number, "after_model", model=MODEL, usage=Usage(input_tokens=10, output_tokens=1), data={"finish_reason": "x"})

    began = monotonic()
    tracemalloc.start()
    calls = sum(turn.calls for turn in build_turns(endless(), frozenset({"model"}), lambda _, __: None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert EVENTS // 4 == calls
    assert peak < 40_000_000
    assert monotonic() - began < 30 + EVENTS / 1000
