"""OpenTelemetry: log records that come back, spans that do not."""

import json

import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.formats.otel.log_records import FORMAT, REST_ATTRIBUTE
from hookonce.formats.schema import load_schema
from hookonce.model import Decision, Event, HookRun, Record, Result, Risk, Subagent, Tool, Usage, User

SCHEMA = Draft202012Validator(load_schema("otel"))
ID = "fbab11b6-f981-5b24-9c5b-bde85a2272f0"
SHELL = Tool(name="shell", native="Bash", input={"command": "ls", "timeout": 5, "deep": [None, 1.5]}, call_id="c1")
DONE = replace(SHELL, result=Result(ok=False, exit_code=2, error="no such file", duration_ms=1500, output="x"))
EVENT = Event(
    id=ID,
    schema="hookonce/1",
    type="after_tool_execute",
    agent="claude-code",
    agent_version="2.1",
    session="S",
    turn="T",
    time="2026-02-23T10:15:30.250+02:00",
    time_source="agent",
    received="2026-02-23T08:15:31Z",
    cwd="/home/dev/project",
    tool=DONE,
    model="gemini-3-pro",
    usage=Usage(input_tokens=2**60, cache_read_tokens=3, total_tokens=9),
    user=User(id="u", name="U"),
)
FOREIGN = {
    "resourceLogs": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "gemini"}}]},
            "scopeLogs": [
                {
                    "scope": {"name": "somebody"},
                    "logRecords": [
                        {
                            "timeUnixNano": 1544712660300000000,
                            "severityText": "Information",
                            "body": {"stringValue": "hello"},
                            "attributes": [
                                {"key": "event.name", "value": {"stringValue": "user_prompt"}},
                                {"key": "session.id", "value": {"stringValue": "s1"}},
                                {"key": "length", "value": {"intValue": "5"}},
                                {"key": "list", "value": {"arrayValue": {"values": [{"boolValue": True}, {}]}}},
                                {"key": "map", "value": {"kvlistValue": {"values": [{"key": "a"}]}}},
                                {"key": "odd", "value": {"doubleValue": "NaN"}},
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}


def written(event=EVENT, **more):
    return json.loads(json.dumps(to_builtins(FORMAT.write(Record(event=event, **more)))))[0]


def log_of(doc):
    return doc["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]


def told(part):
    return {item["key"]: next(iter(item["value"].values())) for item in part["attributes"]}


def spans(event, **more):
    made = to_builtins(FORMAT.variants["spans"](Record(event=event, **more)))
    for doc in made:
        SCHEMA.validate(doc)
    return [doc["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for doc in made]


def test_an_event_is_a_log_record_with_the_names_of_the_conventions():
    """
    Tool, model, tokens and session stand under their names in the conventions for generative AI.
    """
    doc = written()
    attributes = told(log_of(doc))
    SCHEMA.validate(doc)
    assert {
        "log.record.uid": ID,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.agent.name": "claude-code",
        "gen_ai.agent.version": "2.1",
        "gen_ai.conversation.id": "S",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-3-pro",
        "gen_ai.tool.name": "Bash",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.usage.input_tokens": str(2**60),
        "gen_ai.usage.cache_read.input_tokens": "3",
        "error.type": "_OTHER",
        "user.id": "u",
    }.items() <= attributes.items()
    assert told(doc["resourceLogs"][0]["resource"]) == {"service.name": "claude-code", "service.version": "2.1"}


def test_times_are_nanoseconds_as_text_and_ids_are_hexadecimal():
    """
    64-bit numbers are text in OTLP/JSON, and all events of a session share a trace, those of a call a span.
    """
    log, before = log_of(written()), log_of(written(replace(EVENT, type="before_tool_execute", tool=SHELL)))
    assert log["timeUnixNano"] == "1771834530250000000"
    assert log["observedTimeUnixNano"] == "1771834531000000000"
    assert (len(log["traceId"]), len(log["spanId"])) == (32, 16)
    assert (log["traceId"], log["spanId"]) == (before["traceId"], before["spanId"])
    assert log["spanId"] != log_of(written(replace(EVENT, tool=None)))["spanId"]
    assert "traceId" not in log_of(written(replace(EVENT, session=None)))


def test_severity_tells_failures_and_refusals():
    """
    A failure is an error, a refusal a warning, the rest information.
    """
    kinds = {"before_prompt": 9, "permission_denied": 13, "tool_use_failure": 17}
    assert kinds == {kind: log_of(written(replace(EVENT, type=kind, tool=None)))["severityNumber"] for kind in kinds}
    assert log_of(written())["severityNumber"] == 17


@pytest.mark.parametrize(
    "decision",
    [
        None,
        Decision(),
        Decision(outcome="deny", reason="no", by="guard"),
        Decision(
            outcome="allow", updated_input={"a": [1, None]}, updated_output="x", proceed=False, suppress_output=True
        ),
    ],
)
@pytest.mark.parametrize("risk", [None, Risk(), Risk(score=70, level="high", factors=["a", "b"])])
def test_decision_risk_user_and_runs_come_back(decision, risk):
    """
    What was decided is part of the payload, and no opinion stays no opinion.
    """
    runs = [HookRun(hook="h", exit=2, outcome="deny", duration_ms=1.5)]
    doc = written(decision=decision, risk=risk, runs=runs)
    again = FORMAT.read(doc)
    SCHEMA.validate(doc)
    assert (again.event, again.decision, again.risk, again.runs) == (EVENT, decision, risk, runs)


@pytest.mark.parametrize(
    "event",
    [
        replace(EVENT, type="vendor.claude-code.setup"),
        replace(EVENT, type="unheard", agent="claude"),
        replace(EVENT, time="1970-01-01T00:00:00Z", time_source="none", received=None, session="", usage=Usage()),
        replace(EVENT, prompt="do it", subagent=Subagent(id="a", type="explore"), mode="plan"),
    ],
)
def test_unusual_events_come_back(event):
    """
    Types and agents that would read as something else, unknown times and empty texts survive.
    """
    assert FORMAT.read(written(event)).event == event


def test_a_prompt_is_a_message():
    """
    A prompt that may be shown is an input message in structured form.
    """
    log = log_of(written(replace(EVENT, type="before_prompt", tool=None, prompt="do it")))
    assert "do it" in json.dumps(told(log)["gen_ai.input.messages"])


def test_the_remainder_cannot_contradict_the_envelope():
    """
    A remainder that would give another envelope is not believed.
    """
    doc = written()
    item = next(item for item in log_of(doc)["attributes"] if item["key"] == REST_ATTRIBUTE)
    item["value"]["stringValue"] = json.dumps({"agent": "codex", "data": {"x": 1}})
    event = FORMAT.read(doc).event
    assert (event.agent, event.native, event.origin.format) == ("claude-code", doc, "otel")


def test_a_foreign_record_is_kept_whole():
    """
    A log record of somebody else is a vendor event with its attributes, and walks through us unchanged.
    """
    SCHEMA.validate(FOREIGN)
    record = FORMAT.read(FOREIGN)
    event = record.event
    assert (event.type, event.agent, event.session) == ("vendor.otel.user_prompt", "gemini-cli", "s1")
    assert (event.time, event.time_source, event.native) == ("2018-12-13T14:51:00.300Z", "agent", FOREIGN)
    assert event.data == {
        "length": 5,
        "list": [True, None],
        "map": {"a": None},
        "odd": "NaN",
        "body": "hello",
        "severity": "Information",
    }
    assert FORMAT.read(written(event)).event == event


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hookonce.before_prompt", "before_prompt"),
        ("vendor.codex.before_prompt", "before_prompt"),
        ("vendor.codex.Else", "vendor.codex.Else"),
        ("gen_ai.evaluation.result", "vendor.otel.gen_ai.evaluation.result"),
    ],
)
def test_the_name_of_an_event_gives_its_type(name, kind):
    """
    Our names read as canonical types, all others as types of their vendor.
    """
    doc = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"eventName": name, "later": 1}]}]}]}
    record = FORMAT.read(doc)
    assert (record.event.type, record.event.agent, record.event.time_source) == (kind, "unknown", "none")
    assert [gap.where for gap in record.gaps] == ["$.resourceLogs[0].scopeLogs[0].logRecords[0].later"]


@pytest.mark.parametrize(
    ("doc", "path"),
    [
        ({}, "$"),
        ({"resourceLogs": 1}, "$.resourceLogs"),
        ({"resourceLogs": []}, "$.resourceLogs"),
        ({"resourceLogs": [1]}, "$.resourceLogs[0]"),
        ({"resourceSpans": []}, "$.resourceSpans"),
        ({"resourceLogs": [{"scopeLogs": [{"logRecords": [{}, {}]}]}]}, "$.resourceLogs"),
    ],
)
def test_what_is_no_single_log_record_is_refused(doc, path):
    """
    A request must hold one log record; others are refused with their place.
    """
    with pytest.raises(DocumentError) as problem:
        FORMAT.read(doc)
    assert problem.value.path == path


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("timeUnixNano", "soon", ".timeUnixNano"),
        ("timeUnixNano", -1, ".timeUnixNano"),
        ("timeUnixNano", "99999999999999999999", ".timeUnixNano"),
        ("eventName", 1, ".eventName"),
        ("attributes", [{"value": {}}], ".attributes[0]"),
        ("attributes", [{"key": "a", "value": {"intValue": "x"}}], ".attributes[0].value.intValue"),
        (
            "attributes",
            [{"key": "hookonce.decision.outcome", "value": {"stringValue": "maybe"}}],
            ".attributes.hookonce.decision",
        ),
        ("attributes", [{"key": "hookonce.runs", "value": {"stringValue": "["}}], ".attributes.hookonce.runs"),
    ],
)
def test_wrong_values_are_refused_with_their_place(field, value, path):
    """
    Wrong types and impossible numbers are named by a JSON path.
    """
    with pytest.raises(DocumentError) as problem:
        FORMAT.read({"resourceLogs": [{"scopeLogs": [{"logRecords": [{field: value}]}]}]})
    assert problem.value.path == "$.resourceLogs[0].scopeLogs[0].logRecords[0]" + path


def test_check_names_what_a_schema_cannot():
    """
    Keys that are there twice, ids of zeros and records without a name are found.
    """
    twice = {"key": "a", "value": {"stringValue": "b"}}
    log = {"traceId": "0" * 32, "attributes": [twice, twice]}
    problems, notes = FORMAT.check({"resourceLogs": [{"scopeLogs": [{"logRecords": [log, {}]}]}]}, False)
    assert [path.rpartition(".")[2] for path, _ in problems] == ["attributes", "traceId"]
    assert [path.rpartition(".")[2] for path, _ in notes] == ["resourceLogs", "eventName", "eventName"]
    assert FORMAT.check(written(), True) == ([], [])


def test_the_schema_refuses_the_names_of_the_protocol_buffers():
    """
    Keys are camel case in OTLP/JSON, and enumerations are numbers.
    """
    for field, value in (("time_unix_nano", "1"), ("severityNumber", "SEVERITY_NUMBER_INFO"), ("traceId", "x")):
        assert not SCHEMA.is_valid({"resourceLogs": [{"scopeLogs": [{"logRecords": [{field: value}]}]}]})
    assert not SCHEMA.is_valid({"resource_logs": []})


def test_a_finished_call_is_a_span_within_its_turn():
    """
    A span lasts as long as the call did, has the turn as its parent, and tells that it failed.
    """
    (call,) = spans(EVENT, decision=Decision(outcome="allow"))
    (turn,) = spans(replace(EVENT, type="agent_stop", tool=None))
    (session,) = spans(replace(EVENT, type="session_end", tool=None, turn=None))
    assert call["name"] == "execute_tool Bash"
    assert int(call["endTimeUnixNano"]) - int(call["startTimeUnixNano"]) == 1_500_000_000
    assert call["status"] == {"code": 2, "message": "no such file"}
    assert (call["spanId"], call["parentSpanId"]) == (log_of(written())["spanId"], turn["spanId"])
    assert (turn["parentSpanId"], turn["name"]) == (session["spanId"], "invoke_agent claude-code")
    assert "parentSpanId" not in session
    assert told(call)["hookonce.decision.outcome"] == "allow"


@pytest.mark.parametrize("kind", ["after_tool_execute", "agent_stop", "subagent_stop", "after_model"])
def test_a_span_is_never_its_own_parent(kind):
    """
    Where neither call nor turn nor sub-agent has a name, the event's own id makes the span.
    """
    (span,) = spans(replace(EVENT, type=kind, turn=None, tool=replace(DONE, call_id=None)))
    assert span["spanId"] != span["parentSpanId"]


def test_only_what_ends_at_a_known_time_is_a_span():
    """
    A beginning, a repeat and an event without a time are no spans; a repeat is no log record either.
    """
    repeat = replace(EVENT, data={"repeat": True})
    assert spans(replace(EVENT, type="before_tool_execute")) == []
    assert spans(replace(EVENT, time="1970-01-01T00:00:00Z")) == []
    assert spans(repeat) == FORMAT.write(Record(event=repeat)) == []
