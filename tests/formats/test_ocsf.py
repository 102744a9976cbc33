"""OCSF: the right class, activity and numbers for each event."""

import json

import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.ocsf import FORMAT, VERSION
from hookonce.formats.schema import load_schema
from hookonce.model import Decision, Event, HookRun, Record, Result, Risk, Subagent, Tool, Usage, User

SCHEMA = Draft202012Validator(load_schema("ocsf"))
EVENT = Event(
    id="fbab11b6-f981-5b24-9c5b-bde85a2272f0",
    schema="hookonce/1",
    type="before_tool_execute",
    agent="claude-code",
    agent_version="2.1",
    session="S",
    time="2026-02-23T10:15:30.250+02:00",
    time_source="agent",
    cwd="/home/dev/project",
    model="claude-opus",
)
SHELL = Tool(name="shell", native="Bash", input={"command": "rm -rf x"}, call_id="c1")


def written(event=EVENT, **more):
    made = json.loads(json.dumps(to_builtins(FORMAT.write(Record(event=event, **more)))))
    for doc in made:
        SCHEMA.validate(doc)
        assert FORMAT.check(doc, True) == ([], [])
    return made


def with_tool(name, **given):
    return replace(EVENT, tool=Tool(name=name, native=name.title(), input=given))


def test_a_command_is_launched_and_terminates():
    """
    A shell call is Process Activity: Launch before it runs, Terminate with its exit code after.
    """
    (before,) = written(replace(EVENT, tool=SHELL))
    result = Result(ok=False, exit_code=1, error="Exit code 1", duration_ms=5)
    (after,) = written(replace(EVENT, type="tool_use_failure", tool=replace(SHELL, result=result)))
    assert (before["class_uid"], before["type_uid"], before["time"]) == (1007, 100701, 1771834530250)
    assert before["process"] == {"cmd_line": "rm -rf x", "uid": "c1", "working_directory": "/home/dev/project"}
    assert (after["type_uid"], after["exit_code"], after["severity_id"]) == (100702, 1, 2)
    assert (after["status_id"], after["status_code"], after["status_detail"]) == (2, "1", "Exit code 1")


@pytest.mark.parametrize(
    ("event", "type_uid"),
    [
        (with_tool("file_read", path="a.txt"), 100102),
        (with_tool("file_write", path="a.txt"), 100103),
        (with_tool("search", pattern="x"), 100102),
        (replace(EVENT, type="file_deleted", data={"path": "a.txt"}), 100104),
        (replace(EVENT, type="file_changed", data={"path": "a.txt"}), 100100),
        (replace(EVENT, type="config_change", data={"path": "a.txt"}), 100103),
        (with_tool("web_fetch", url="https://example.com:8443/a?b=c"), 400203),
        (with_tool("web_fetch", url="no address"), 600399),
        (with_tool("web_fetch", url="http://[x"), 600399),
        (with_tool("web_search", query="x"), 600105),
        (replace(EVENT, type="session_start"), 600203),
        (replace(EVENT, type="session_abort"), 600204),
        (replace(EVENT, type="subagent_stop", subagent=Subagent(id="a", type="explore")), 600204),
        (with_tool("mcp:linear/create"), 600399),
        (with_tool("file_edit"), 600399),
        (replace(EVENT, type="after_model"), 600399),
        (replace(EVENT, type="error_occurred", data={"error": "boom"}), 600801),
        (replace(EVENT, type="before_prompt", prompt="x"), 99),
        (replace(EVENT, type="vendor.codex.Else"), 99),
    ],
)
def test_every_event_has_its_class_and_activity(event, type_uid):
    """
    type_uid is class_uid times 100 plus activity_id, of the class that fits the event.
    """
    (doc,) = written(event)
    assert doc["type_uid"] == type_uid
    assert doc["metadata"]["event_code"] == event.type


def test_a_call_that_touches_several_files_is_one_event_for_each():
    """
    Only the first has the event's id; the others are derived from it.
    """
    files = [{"path": "a.txt", "operation": "create"}, {"path": "/b.txt", "operation": "delete"}]
    first, second = written(with_tool("file_edit", files=files))
    assert (first["type_uid"], first["file"]["path"], first["metadata"]["uid"]) == (
        100101,
        "/home/dev/project/a.txt",
        EVENT.id,
    )
    assert (second["type_uid"], second["file"]["name"]) == (100104, "b.txt")
    assert second["unmapped"][EXTENSION_KEY]["derived_from"] == EVENT.id != second["metadata"]["uid"]


def test_an_mcp_call_names_server_and_tool():
    """
    The server is the service of the API, the tool its operation, the input its request.
    """
    tool = Tool(
        name="mcp:linear/create", native="mcp__linear__create", mcp_server="linear", input={"a": 1}, call_id="c"
    )
    (doc,) = written(replace(EVENT, tool=tool))
    assert doc["api"] == {
        "operation": "create",
        "service": {"name": "linear"},
        "request": {"uid": "c", "data": {"a": 1}},
    }


def test_the_agent_is_told_where_the_class_has_a_place():
    """
    The profile for AI operations names agent, model and tokens; the base event keeps them unmapped.
    """
    event = replace(EVENT, type="after_model", usage=Usage(input_tokens=3, cache_read_tokens=2), user=User(id="u"))
    (doc,) = written(event)
    (base,) = written(replace(event, type="before_prompt", turn="T"))
    assert doc["ai_agent"]["ai_model"] == {"name": "claude-opus", "ai_provider": "anthropic"}
    assert (doc["ai_agent"]["uid"], doc["message_context"]["prompt_tokens"]) == ("claude-code", 3)
    assert doc["actor"]["user"] == {"uid": "u"}
    assert doc["metadata"]["profiles"] == ["host", "ai_operation"]
    assert ("ai_agent" in base, base["metadata"]["profiles"], base["unmapped"][EXTENSION_KEY]["turn"]) == (False, ["host"], "T")


@pytest.mark.parametrize(
    ("decision", "numbers"),
    [
        (Decision(outcome="allow"), (1, 1)),
        (Decision(outcome="deny", by="guard", reason="no"), (2, 2)),
        (Decision(outcome="ask"), (0, 23)),
        (Decision(updated_input={"a": 1}), (4, 11)),
    ],
)
def test_a_decision_is_an_action_with_a_disposition(decision, numbers):
    """
    The security control profile says what was decided, and only where something was.
    """
    (doc,) = written(decision=decision, runs=[HookRun(hook="h")])
    (silent,) = written(decision=Decision())
    assert (doc["action_id"], doc["disposition_id"]) == numbers
    assert doc["metadata"]["profiles"][-1] == "security_control"
    assert doc.get("policy") == ({"name": "guard", "desc": "no"} if decision.by else None)
    assert ("action_id" in silent, doc["unmapped"][EXTENSION_KEY]["runs"]) == (False, [{"hook": "h"}])


def test_risk_sets_the_severity():
    """
    Risk is told by the profile, and an event is as severe as its risk.
    """
    (doc,) = written(risk=Risk(score=95, level="critical", factors=["DESTRUCTIVE_OP", "OTHER"]))
    (denied,) = written(replace(EVENT, type="permission_denied"))
    assert (doc["risk_score"], doc["risk_level_id"], doc["severity_id"]) == (95, 4, 5)
    assert doc["risk_details"] == "DESTRUCTIVE_OP, OTHER"
    assert (denied["action_id"], denied["severity_id"]) == (2, 3)


def test_check_finds_numbers_that_do_not_follow():
    """
    type_uid and category_uid follow from class and activity, and an activity of 99 has a name.
    """
    (doc,) = written(with_tool("mcp:a/b"))
    wrong = doc | {"type_uid": 1, "category_uid": 1, "activity_name": "", "metadata": {"version": "1.0.0"}}
    problems, notes = FORMAT.check(wrong, True)
    assert [path for path, _ in problems] == ["$.type_uid", "$.category_uid", "$.activity_name"]
    assert [path for path, _ in notes] == ["$.metadata.version"]
    for missing in ("api", "actor", "metadata", "time"):
        assert not SCHEMA.is_valid({key: value for key, value in doc.items() if key != missing})


def test_it_is_written_and_never_read():
    """
    There is no reader, and the table of gaps says so; repeats are left out.
    """
    assert FORMAT.read is None
    assert FORMAT.versions == (VERSION,)
    assert "write only" in {gap.strategy for gap in FORMAT.gaps}
    assert written(replace(EVENT, data={"repeat": True})) == []
