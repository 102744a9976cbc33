"""Turns in open formats: a trace for each, or a cycle with its events."""

from collections import Counter

import pytest

from hookonce.base.json_stream import StreamLine
from hookonce.base.jsontext import dump
from hookonce.diagnose.document_check import check_documents
from hookonce.inspect.turn_documents import TURN_FORMATS, write_turns
from hookonce.model import Usage
from tests.inspect.test_turns import DENY, MODEL, PROMPT, STOP, record, stream, tool

RECORDS = [
    record(1, "session_start"),
    PROMPT,
    record(11, "before_tool_execute", tool=tool(call_id="1", command="ls")),
    record(13, "after_tool_execute", tool=tool(call_id="1", ok=False, command="ls")),
    record(14, "before_tool_execute", DENY, tool=tool(call_id="2", command="rm")),
    record(15, "after_model", model=MODEL, usage=Usage(input_tokens=7, output_tokens=2), data={"finish_reason": "x"}),
    STOP,
]


def written(records, name):
    unwritten = Counter()
    return list(write_turns(records, frozenset({"model"}), lambda *_: None, name, unwritten)), unwritten


def test_a_turn_is_a_span_above_its_actions_and_model_calls():
    _, document = written(RECORDS, "otel")[0]
    turn, *children = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    named = {one["name"]: one for one in children}
    assert ["invoke_agent codex", "execute_tool shell", "execute_tool shell", f"chat {MODEL}"] == [turn["name"], *(one["name"] for one in children)]
    assert {turn["spanId"]} == {one["parentSpanId"] for one in children}
    assert {turn["traceId"]} == {one["traceId"] for one in children}
    assert 10_000_000_000 == int(turn["endTimeUnixNano"]) - int(turn["startTimeUnixNano"])
    told = {one["key"]: one["value"] for one in turn["attributes"]}
    assert ({"intValue": "1"}, {"stringValue": "response"}, {"intValue": "7"}) == tuple(told[name] for name in ("hookonce.turn.refusals", "hookonce.turn.end", "gen_ai.usage.input_tokens"))
    first, second = children[:2]
    assert ({"code": 2}, 2_000_000_000) == (first["status"], int(first["endTimeUnixNano"]) - int(first["startTimeUnixNano"]))
    assert {"key": "hookonce.decision.outcome", "value": {"stringValue": "deny"}} in second["attributes"]
    assert 3 == named[f"chat {MODEL}"]["kind"]


def test_a_cycle_has_its_agent_hooks_events():
    (before, cycle), unwritten = written(RECORDS, "agent-hooks")
    assert ([0, 1], "response") == ([before["cycle"]["number"], cycle["cycle"]["number"]], cycle["cycle"]["end"])
    assert (["Session.Start"], "Prompt.Submitted") == ([one["event_type"] for one in before["events"]], cycle["events"][0]["event_type"])
    report = check_documents("x", [StreamLine(number, dump(one)) for number, one in enumerate(before["events"] + cycle["events"], 1)], source="agent-hooks", strict=True)
    assert {"$.event_id"} >= {problem.path for problem in report.problems}  # ours are no UUIDs
    assert not unwritten


@pytest.mark.parametrize("name", TURN_FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_every_turn_is_a_document_and_every_id_of_a_span_its_own(seed, name):
    documents, _ = written(list(stream(seed, 120)), name)
    if name == "otel":
        spans = [span for one in documents for span in one["resourceSpans"][0]["scopeSpans"][0]["spans"]]
        assert len(documents) == sum(span["name"] == "invoke_agent codex" for span in spans)
        assert len({span["spanId"] for span in spans}) == len(spans)
    else:
        ids = [event["event_id"] for one in documents for event in one["events"]]
        assert len(ids) == len(set(ids))
