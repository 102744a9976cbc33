"""Agent Hooks: the data of each event type."""

from hashlib import sha256

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.errors import DocumentError
from hookonce.model import Decision, Result, Subagent, Tool, Usage
from hookonce.store.privacy.redact import redact
from hookonce.vocabulary.names import AGENT_HOOKS_START_REASONS
from tests.formats.agent_hooks.test_envelope import (
    AGENT_HOOKS,
    ID,
    blocks,
    envelope,
    event,
    problems,
    rewritten,
    warnings,
    written,
)
from tests.formats.agent_hooks.test_event_types import golden
from tests.formats.material import documents, records, walk

SHELL = Tool(name="shell", native="Bash", input={"command": "ls -la /tmp"})
SPENT = {"input_tokens": 4123, "output_tokens": 987}


def hashed(text):
    return "sha256:" + sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("kind", "data", "given"),
    [
        pytest.param("session_start", {"start_reason": "new"}, {"data": {"source": "startup"}}, marks=pytest.mark.covers("AH-23")),
        pytest.param("session_start", {"start_reason": "resume"}, {"data": {"source": "resume"}}, marks=pytest.mark.covers("AH-23")),
        pytest.param("session_start", {"start_reason": "restart"}, {"data": {"source": "clear"}}, marks=pytest.mark.covers("AH-23")),
        pytest.param("session_start", None, {"data": {"source": "by magic"}}, marks=pytest.mark.covers("AH-23", "AH-12")),
        pytest.param("plan_end", None, {}, marks=pytest.mark.covers("AH-12")),
        pytest.param("plan_start", {"plan_type": "explore", "step_count": 5}, {"data": {"plan_type": "explore", "step_count": 5}}, marks=pytest.mark.covers("AH-27")),
        pytest.param("subagent_start", {"plan_type": "plan"}, {"subagent": Subagent(type="Plan")}, marks=pytest.mark.covers("AH-27", "AH-74")),
        pytest.param("subagent_start", {"plan_type": "explore"}, {"subagent": Subagent(type="Explore")}, marks=pytest.mark.covers("AH-27")),
        pytest.param("subagent_start", {"plan_type": "default"}, {"subagent": Subagent(type="reviewer")}, marks=pytest.mark.covers("AH-27")),
        pytest.param("plan_start", {"plan_type": "default"}, {"data": {"plan_type": "wild", "step_count": "x"}}, marks=pytest.mark.covers("AH-27")),
        pytest.param("before_model", {"model_id": "google/gemini-3-pro"}, {"model": "gemini-3-pro"}, marks=pytest.mark.covers("AH-31", "AH-18")),
        pytest.param(
            "before_model",
            {"model_id": "anthropic/claude-sonnet-4-20250514", "latency_ms": 1840, "retry_count": 0} | SPENT,
            {"model": "claude-sonnet-4-20250514", "usage": Usage(**SPENT), "data": {"latency_ms": 1840.2, "retry_count": 0}},
            marks=pytest.mark.covers("AH-31", "AH-18"),
        ),
        pytest.param("after_model", {"model_id": "openai/gpt-5"}, {"model": "openai/gpt-5"}, marks=pytest.mark.covers("AH-18")),
        pytest.param("after_model", {"model_id": "homemade"}, {"model": "homemade"}, marks=pytest.mark.covers("AH-18")),
        pytest.param(
            "before_compact",
            {"trigger": "manual", "tokens_before": 128000, "tokens_after": 64000, "tokens_removed": 64000, "strategy": "summarize"},
            {"data": {"trigger": "manual", "tokens_before": 128000, "tokens_after": 64000, "tokens_removed": 64000, "strategy": "summarize"}},
            marks=pytest.mark.covers("AH-17", "AH-X9"),
        ),
        pytest.param("before_compact", None, {}, marks=pytest.mark.covers("AH-X8", "AH-17")),
        pytest.param(
            "context_until_compaction",
            {"trigger": "system", "tokens_used": 96000, "tokens_limit": 128000, "tokens_remaining": 32000, "percentage_used": 75.0},
            {"data": {"trigger": "system", "tokens_used": 96000, "tokens_limit": 128000, "tokens_remaining": 32000, "percentage_used": 75.0}},
            marks=pytest.mark.covers("AH-17", "AH-X9"),
        ),
        pytest.param("context_until_compaction", {"percentage_used": 100}, {"data": {"percentage_used": 104.5, "trigger": "moon"}}, marks=pytest.mark.covers("AH-17")),
        pytest.param("notification", {"type": "IdleTimeout", "message": "Waiting"}, {"data": {"notification_type": "idle_prompt", "message": "Waiting"}}, marks=pytest.mark.covers("AH-44")),
        pytest.param("notification", {"message": "Hello", "details": {"a": 1}}, {"data": {"message": "Hello", "details": {"a": 1}}}, marks=pytest.mark.covers("AH-44")),
        pytest.param(
            "permission_request",
            {"type": "ToolPermission", "details": {"action": {"name": "shell", "input": {"command": "ls -la /tmp"}}}},
            {"tool": SHELL},
            marks=pytest.mark.covers("AH-44", "AH-82"),
        ),
        pytest.param(
            "error_occurred",
            {"error_type": "HookError", "error_message": "Command timed out after 30s", "origin_event": "Action.Before"},
            {"data": {"error_type": "HookError", "error": "Command timed out after 30s", "origin_event": "Action.Before"}},
            marks=pytest.mark.covers("AH-45"),
        ),
        pytest.param("error_occurred", {"error_type": "ModelError", "error_message": "no"}, {"data": {"error_context": "model_call", "error": {"message": "no", "stack": "x"}}}, marks=pytest.mark.covers("AH-45", "AH-83")),
        pytest.param("error_occurred", {"error_type": "UnhandledException", "error_message": "rate_limit"}, {"data": {"error": "rate_limit"}}, marks=pytest.mark.covers("AH-45")),
        pytest.param("before_tool_execute", {"action": {"name": "shell", "input": {"command": "ls -la /tmp"}}}, {"tool": SHELL}, marks=pytest.mark.covers("AH-15")),
        pytest.param(
            "after_tool_execute",
            {"action": {"name": "shell", "input": {"command": "ls -la /tmp"}, "result": {"success": True, "exit_code": 0, "output": "a b"}}},
            {"tool": replace(SHELL, result=Result(ok=True, exit_code=0, output="a b"))},
            marks=pytest.mark.covers("AH-15", "AH-35"),
        ),
        pytest.param(
            "after_tool_execute",
            {"action": {"name": "shell", "input": {"command": "ls -la /tmp"}, "result": {"success": False, "error_message": "gone", "output": '{"a":1}'}}},
            {"tool": replace(SHELL, result=Result(ok=False, error="gone", output={"a": 1}))},
            marks=pytest.mark.covers("AH-15", "AH-35"),
        ),
    ],
)  # fmt: skip
def test_data_of_a_type(kind, data, given):
    """
    The data of an event tells what its type promises, in the types that the schemas demand, and reads back whole.
    """
    given = event(kind, **given)

    document = written(given)[0]

    assert data == document.get("data")
    assert [] == problems(document, strict=True)
    assert given == AGENT_HOOKS.read(document).event


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        pytest.param("Session.Start", {"start_reason": "resume"}, marks=pytest.mark.covers("AH-23")),
        pytest.param("Agent.Plan.Start", {"plan_type": "explore", "step_count": 5}, marks=pytest.mark.covers("AH-27")),
        pytest.param("Agent.Response", {"response_length": 1240, "response_hash": "sha256:d4", "final": True}, marks=pytest.mark.covers("AH-30")),
        pytest.param("Agent.Response", {"response_length": 1240, "response_hash": "sha256:d4", "final": False}, marks=pytest.mark.covers("AH-30")),
        pytest.param("Model.Requested", {"model_id": "anthropic/x", "latency_ms": 3, "retry_count": 1} | SPENT, marks=pytest.mark.covers("AH-31", "AH-18")),
        pytest.param("Prompt.Submitted", {"prompt_hash": "sha256:a1", "prompt_length": 342, "is_followup": False}, marks=pytest.mark.covers("AH-52")),
        pytest.param("Prompt.Submitted", {"prompt_length": 3, "prompt_hash": "sha256:a1", "decision": {"outcome": "deny", "reason": "no"}}, marks=pytest.mark.covers("AH-X12")),
        pytest.param("Action.Before", {"action": {"name": "shell", "input": {"command": "ls"}}, "decision": {"outcome": "ask"}}, marks=pytest.mark.covers("AH-15", "AH-16")),
        pytest.param("Action.After", {"action": {"name": "shell", "input": {"command": "ls"}, "result": {"success": True, "exit_code": 0}}}, marks=pytest.mark.covers("AH-35")),
        pytest.param("Action.Before", {"action": {"name": "code_edit", "input": {"path": "a.py"}}}, marks=pytest.mark.covers("AH-50")),
        pytest.param("Context.Compaction", {"trigger": "system", "tokens_remaining": 1, "strategy": "cut"}, marks=pytest.mark.covers("AH-17", "AH-X9")),
        pytest.param("Agent.Notification", {"type": "ErrorAlert", "details": {"n": 1}}, marks=pytest.mark.covers("AH-44")),
        pytest.param("Agent.Error", {"error_type": "HookError", "origin_event": "Action.Before"}, marks=pytest.mark.covers("AH-45")),
        pytest.param("Retry.Loop.Detected", {"action_name": "shell", "iteration_count": 7, "tokens_consumed": 9, "elapsed_ms": 4}, marks=pytest.mark.covers("AH-69")),
    ],
)  # fmt: skip
def test_data_that_others_wrote_is_understood(kind, data):
    """
    What somebody else's event tells is in the record, for it is there again when only the record is written.
    """
    made = rewritten(envelope(kind, data=data), "minimal")[0]
    assert (kind, data) == (made["event_type"], made["data"])


@pytest.mark.parametrize(
    ("kind", "path", "data"),
    [
        ("Session.Start", "$.data.start_reason", {"start_reason": "again"}),
        ("Session.End", "$.data.end_reason", {"end_reason": "bored"}),
        ("Session.End", "$.data.usage.total_tokens", {"usage": {"total_tokens": "many"}}),
        ("Prompt.Submitted", "$.data.prompt_length", {"prompt_length": "long"}),
        ("Prompt.Submitted", "$.data.decision.outcome", {"decision": {"outcome": "block"}}),
        ("Agent.Plan.Start", "$.data.plan_type", {"plan_type": "wild"}),
        ("Agent.Plan.Start", "$.data.step_count", {"step_count": 1.5}),
        ("Agent.Response", "$.data.final", {"final": "yes"}),
        ("Model.Requested", "$.data.model_id", {"model_id": 5}),
        ("Model.Responded", "$.data.input_tokens", {"input_tokens": "4123"}),
        ("Model.Failed", "$.data.retry_count", {"retry_count": "x"}),
        ("Action.Before", "$.data.action.name", {"action": {"name": 5}}),
        ("Action.Before", "$.data.decision.outcome", {"decision": {"outcome": "block"}}),
        ("Action.Before", "$.data.decision.reason", {"decision": {"outcome": "deny", "reason": 5}}),
        ("Action.After", "$.data.action.input", {"action": {"name": "shell", "input": "ls"}}),
        ("Action.After", "$.data.action.result.success", {"action": {"name": "shell", "result": {"success": "yes"}}}),
        ("Action.After", "$.data.action.result.exit_code", {"action": {"name": "shell", "result": {"exit_code": "0"}}}),
        ("Context.UntilCompaction", "$.data.percentage_used", {"percentage_used": 101}),
        ("Context.Compaction", "$.data.trigger", {"trigger": "moon"}),
        ("Context.Compaction", "$.data.tokens_after", {"tokens_after": 1.5}),
        ("Agent.Notification", "$.data.type", {"type": "Ping"}),
        ("Agent.Notification", "$.data.details", {"details": "x"}),
        ("Agent.Error", "$.data.error_type", {"error_type": "Oops"}),
        ("Retry.Loop.Detected", "$.data.iteration_count", {"iteration_count": "7"}),
    ],
)  # fmt: skip
@pytest.mark.covers("AH-X10", "AH-12", "AH-15", "AH-16", "AH-17", "AH-18", "AH-44", "AH-45", "AH-X12")
def test_each_type_has_a_schema_for_its_data(kind, path, data):
    """
    A wrong value in the data is a problem of the type that defines it, and no problem of a type that does not.
    """
    assert [path] == problems(envelope(kind, data=data))
    assert [] == problems(envelope("Policy.Override", data=data))


@pytest.mark.covers("AH-X10", "AH-12", "AH-69")
def test_the_printed_fragments_fit_their_schemas():
    """
    Every fragment of data that the specification prints, its alternatives aside, is valid under its type's schema.
    """
    found = [block for block in blocks() if "event_type" in block and " | " not in str(block)]
    assert 7 == len([block for block in found if "spec_version" not in block])
    assert [[]] * len(found) == [problems(envelope() | block, strict=True) for block in found]


@pytest.mark.parametrize("outcome", ["allow", "deny", "ask"])
@pytest.mark.parametrize("kind", ["before_tool_execute", "before_prompt"])
@pytest.mark.covers("AH-16", "AH-X12")
def test_a_decision_stands_on_actions_and_prompts(kind, outcome):
    """
    Both events that a hook can deny carry its decision, which is read again as such.
    """
    decision = Decision(outcome=outcome, reason="Destructive command blocked by hook")
    document = written(event(kind), "minimal", decision=decision)[0]
    assert {"outcome": outcome, "reason": decision.reason} == document["data"]["decision"]
    assert decision == AGENT_HOOKS.read(document).decision
    assert [] == problems(document, strict=True)
    with pytest.raises(DocumentError, match="allow, deny or ask"):
        AGENT_HOOKS.read(envelope(document["event_type"], data={"decision": {"outcome": "block"}}))


@pytest.mark.covers("AH-52", "AH-30")
def test_texts_are_hashes_unless_all_is_asked_for():
    """
    Prompts and answers are told by hash and length; the text itself stands there at full privacy only.
    """
    prompt = event("before_prompt", prompt="a secret plan", data={"is_followup": True})
    answer = event("agent_stop", data={"response": "a long tale"})
    told = {"prompt_hash": hashed("a secret plan"), "prompt_length": 13, "is_followup": True}
    spoken = {"response_hash": hashed("a long tale"), "response_length": 11, "final": True}
    assert (told, spoken) == (written(prompt, "minimal")[0]["data"], written(answer, "minimal")[0]["data"])
    assert told | {"prompt_text": "a secret plan"} == written(prompt)[0]["data"]
    assert spoken | {"response_text": "a long tale"} == written(answer)[0]["data"]
    assert "secret" not in str(written(prompt, "minimal"))


@pytest.mark.covers("AH-30")
def test_only_the_answer_that_ends_a_turn_is_final():
    """
    What the agent says within a turn is not final, in writing and in reading.
    """
    within = written(event("agent_response", data={"response": "wait"}))[0]
    assert ("Agent.Response", False) == (within["event_type"], within["data"]["final"])
    types = [AGENT_HOOKS.read(envelope("Agent.Response", data={"final": final})).event.type for final in (True, False)]
    assert ["agent_stop", "agent_response"] == types


@pytest.mark.parametrize(
    ("action", "native", "back"),
    [
        ("shell", "Bash", "shell"), ("read_file", "Read", "file_read"), ("write_file", "Write", "file_write"),
        ("write_file", "Edit", "file_write"), ("web_search", "WebSearch", "web_search"),
        ("web_search", "WebFetch", "web_search"), ("mcp:create_issue", "mcp__github__create_issue", "mcp:?/create_issue"),
        ("search", "Grep", "search"), ("find", "Glob", "find"), ("agent", "Agent", "agent"), ("ExitPlanMode", "ExitPlanMode", "ExitPlanMode"),
    ],
)  # fmt: skip
@pytest.mark.covers("AH-50")
def test_actions_have_standard_names(action, native, back):
    """
    A native tool is written under the standard action name, and that name alone leads back to a canonical tool.
    """
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": native, "tool_input": {}}
    document = written(agents.decode(agents.load("claude-code"), payload))[0]
    assert action == document["data"]["action"]["name"]
    del document["metadata"]
    assert back == AGENT_HOOKS.read(document).event.tool.name


@pytest.mark.parametrize(("kind", "phase"), [("before_compact", "before"), ("after_compact", "after")])
@pytest.mark.covers("AH-X8")
def test_compaction_tells_before_from_after(kind, phase):
    """
    One type speaks of both moments; metadata.phase tells which, also to a reader who knows nothing else of ours.
    """
    document = written(event(kind))[0]
    assert ("Context.Compaction", phase) == (document["event_type"], document["metadata"]["phase"])
    assert kind == AGENT_HOOKS.read(envelope("Context.Compaction", metadata={"phase": phase})).event.type


@pytest.mark.covers("AH-23")
def test_every_reason_to_start_is_one_of_three():
    """
    Whatever word an agent has for the begin of a session, the document says new, resume, restart or nothing.
    """
    made = [documents("agent-hooks", record) for record in records() if record.event.type == "session_start"]
    reasons = {document.get("data", {}).get("start_reason") for some in made for document in some}
    assert {"new", "resume"} <= reasons <= {"new", "resume", "restart", None}
    assert {"new", "resume", "restart"} == set(AGENT_HOOKS_START_REASONS.values())


@pytest.mark.covers("AH-52", "AH-30")
def test_leaving_out_twice_is_leaving_out_once():
    """
    A document whose texts were left out already passes unchanged: its hashes stay the hashes of those texts.
    """
    made = [one for record in records() for one in documents("agent-hooks", redact(record, "minimal", native=False))]
    again, _ = walk("agent-hooks", "agent-hooks", made, level="minimal")
    assert made == again


@pytest.mark.parametrize(("native", "told"), [("permission_prompt", "ToolPermission"), ("idle_prompt", "IdleTimeout"), ("auth_success", None)])
@pytest.mark.covers("AH-44", "AH-82")
def test_a_notification_of_claude_code_says_what_it_is_about(native, told):
    """
    A question for permission and a wait for the user in the words of Agent Hooks; what these lack is told without one.
    """
    payload = golden("claude-code/Notification").native | {"notification_type": native}

    document = written(agents.decode(agents.load("claude-code"), payload, id=ID))[0]

    assert ("Agent.Notification", told) == (document["event_type"], document["data"].get("type"))
    assert payload["message"] == document["data"]["message"]


@pytest.mark.covers("AH-44", "AH-82")
def test_a_notification_of_gemini_keeps_its_details():
    """
    What Gemini asks leave for is in the details of the notification.
    """
    data = written(golden("gemini-cli/Notification"))[0]["data"]
    assert ("ToolPermission", "exec") == (data["type"], data["details"]["type"])
    assert [] == warnings(written(golden("gemini-cli/Notification"), "minimal")[0])
