"""Agent Hooks: event types that one event becomes, that nobody knows, and what travels beside them."""

import json
import re

import pytest
from msgspec import to_builtins

from hookonce import agents, formats
from hookonce.base.ids import derive_id
from hookonce.model import Result, Subagent, Tool
from hookonce.vocabulary.events import CANONICAL_EVENTS, EVENTS
from tests.agents.test_decode_goldens import GOLDEN
from tests.formats.agent_hooks.test_envelope import (
    AGENT_HOOKS,
    ID,
    blocks,
    envelope,
    event,
    hookonce,
    problems,
    rewritten,
    warnings,
    written,
)
from tests.formats.material import EXACT, documents, records, walk

FAILED = event(
    "tool_use_failure",
    tool=Tool(
        name="shell",
        native="Bash",
        input={"command": "make"},
        result=Result(ok=False, exit_code=2, error="Exit code 2\nno rule"),
    ),
)
OURS = "dev.hookonce"


def golden(file):
    """The event of a recorded payload."""
    known = json.loads((GOLDEN / f"{file}.json").read_text(encoding="utf-8"))
    return agents.decode(agents.load(file.partition("/")[0]), known["payload"], known.get("event"), id=ID)


def kinds(made):
    return [document["event_type"] for document in made]


@pytest.mark.covers("AH-X4", "AH-83")
def test_a_failed_tool_is_an_action_and_an_error():
    """
    A failed tool gives Action.After first, and an Agent.Error that says what it was derived from.
    """
    first, second = written(FAILED)

    assert ["Action.After", "Agent.Error"] == kinds([first, second])
    assert first["data"]["action"]["result"]["success"] is False
    told = {"error_type": "ToolFailed", "error_message": "Exit code 2\nno rule", "origin_event": "Action.After"}
    assert told == second["data"]
    assert derive_id(ID, "Agent.Error", "0") == second["event_id"]
    assert {OURS: {"derived_from": ID, "data": {"index": 0}}} == second["metadata"]
    assert [] == problems(second, strict=True)


@pytest.mark.covers("AH-X6", "AH-73", "AH-74")
def test_a_prompt_opens_a_plan_on_gemini():
    """
    Gemini's BeforeAgent gives Prompt.Submitted first, and an Agent.Plan.Start that was derived from it.
    """
    first, second = written(golden("gemini-cli/BeforeAgent"))

    assert ["Prompt.Submitted", "Agent.Plan.Start"] == kinds([first, second])
    assert {"plan_type": "default"} == second["data"]
    assert {"derived_from": ID, "data": {"index": 0}} == second["metadata"][OURS]
    assert [] == problems(second, strict=True)


@pytest.mark.parametrize("level", ["minimal", "full"])
@pytest.mark.parametrize("given", [FAILED, golden("gemini-cli/BeforeAgent")], ids=lambda one: one.type)
@pytest.mark.covers("AH-X4", "AH-X6")
def test_what_was_derived_is_folded_again(given, level):
    """
    Reading a stream folds the second event into the first, so that one event stays one; alone it stands for itself.
    """
    pair = written(given, level)

    for via in EXACT:
        there, _ = walk("agent-hooks", via, pair)
        back, _ = walk(via, "agent-hooks", there)
        assert pair == back
    made, _ = walk("agent-hooks", "canonical", pair)
    assert [given.type] == [record["event"]["type"] for record in made]
    alone, _ = walk("agent-hooks", "canonical", pair[1:])
    assert [given.id] == [record["event"]["derived_from"] for record in alone]


@pytest.mark.parametrize("level", ["minimal", "full"])
@pytest.mark.parametrize(
    "document",
    [
        envelope("Action.After", data={"action": {"name": "shell", "input": {}, "result": {"success": False}}}),
        envelope("Prompt.Submitted", data={"prompt_length": 3, "plan_type": "plan"}),
    ],
    ids=["action", "prompt"],
)
@pytest.mark.covers("AH-X4", "AH-X6")
def test_nothing_is_derived_from_what_others_wrote_here(document, level):
    """
    One document of this format stays one, whatever it passes through: its author said what else it means.
    """
    for via in EXACT:
        there, _ = walk("agent-hooks", via, [document], level=level)
        back, _ = walk(via, "agent-hooks", there, level=level)
        assert [document["event_type"]] == kinds(back)


@pytest.mark.parametrize("via", EXACT)
@pytest.mark.covers("AH-20", "AH-62", "AH-14")
def test_unknown_fields_are_legal_everywhere(via):
    """
    A field that nobody knows, at any depth, is no problem in the strictest check and survives every format.
    """
    more = {"x_new": {"a": [1]}}
    document = envelope(
        "Action.Before",
        source={"tool": "cursor"} | more,
        user={"id": "u1"} | more,
        actor={"type": "ai_agent"} | more,
        data={"action": {"name": "shell", "input": more, "result": more} | more, "decision": {"outcome": "ask"} | more}
        | more,
        risk={"score": 5} | more,
        metadata=more,
    ) | more

    there, _ = walk("agent-hooks", via, [document])
    back, _ = walk(via, "agent-hooks", there)

    assert [] == problems(document, strict=True)
    assert [document] == back


@pytest.mark.parametrize(
    "kind",
    ["Future.Thing", "Model.Switched", "Action.Undone", "Prompt.Edited", "vendor.cursor.TabFileEdit", "vendor.x.Y"],
)
@pytest.mark.covers("AH-62", "AH-59", "AH-61")
def test_unknown_types_stop_nobody(kind):
    """
    An event of an unknown type is read without a word about its version, whatever its data holds, and handed on.
    """
    odd = {"model_id": 5, "action": "x", "decision": "maybe", "prompt_hash": 1, "error_message": {}, "final": False}
    document = envelope(kind, data=odd)

    record = AGENT_HOOKS.read(document)

    assert (odd, None, []) == (record.event.data, record.decision, record.gaps)
    assert record.event.type.startswith("vendor.")
    for via in EXACT:
        there, going = walk("agent-hooks", via, [document])
        back, _ = walk(via, "agent-hooks", there)
        assert ([], 1) == (back, going.unwritten_types.total()) if via == "openhook" else [document] == back


@pytest.mark.parametrize("kind", ["Agent.Decision", "Policy.Blocked", "Session.Start", "Context.Compaction"])
@pytest.mark.covers("AH-62")
def test_fields_of_other_types_mean_nothing(kind):
    """
    A field that belongs to another type is an unknown one here, and never a reason to refuse the event.
    """
    document = envelope(kind, data={"action": "x", "decision": "left", "model_id": 5, "prompt_hash": []})
    assert (EVENTS[AGENT_HOOKS.read(document).event.type].agent_hooks, []) == (kind, problems(document, strict=True))


@pytest.mark.part(2)
@pytest.mark.parametrize(("version", "told"), [("0.1.0", 0), ("0.1.9", 0), ("0.2.0", 1), ("0.10.0", 1), ("1.0.0", 1)])
@pytest.mark.covers("AH-59", "AH-2")
def test_newer_versions_are_read_with_a_warning(version, told):
    """
    A patch is nothing to speak of; a newer minor or major version is read, handed on, and warned of.
    """
    document = envelope(spec_version=version)

    done = hookonce("translate", "--to", "agent-hooks", "--privacy", "full", given=[document])

    assert (0, document) == (done.returncode, json.loads(done.stdout))
    assert told == done.stderr.count(f"version {version} is not known")
    assert ["$.spec_version"] * told == warnings(document)
    assert [] == problems(document, strict=True)


@pytest.mark.parametrize("row", [row for row in CANONICAL_EVENTS if row.group != "kernel"], ids=lambda row: row.name)
@pytest.mark.covers("AH-4", "AH-61")
def test_every_canonical_event_has_a_type(row):
    """
    Each canonical event is written under its type of two or three segments, else under a vendor's name, and read back.
    """
    document = written(event(row.name))[0]

    assert (row.agent_hooks or f"vendor.claude-code.{row.name}") == document["event_type"]
    assert re.fullmatch(r"[^.\s]+(\.[^.\s]+){1,2}", document["event_type"])
    assert row.name == AGENT_HOOKS.read(document).event.type
    del document["metadata"][OURS]
    first = next(other for other in CANONICAL_EVENTS if other.agent_hooks == row.agent_hooks) if row.agent_hooks else row
    if row.name not in {"after_compact", "agent_response"}:  # these two are told by more than their type
        assert first.name == AGENT_HOOKS.read(document).event.type


@pytest.mark.covers("AH-61", "AH-4")
def test_native_events_without_a_word_go_under_the_vendor():
    """
    An event that only one agent has is named after it; odd characters in a native name do no harm.
    """
    tab = golden("cursor/afterTabFileEdit")
    odd = event("vendor.kiro.Manual  Trigger..")
    assert ["vendor.cursor.afterTabFileEdit"] == kinds(written(tab))
    assert ["vendor.kiro.Manual__Trigger__"] == kinds(written(odd))
    assert [] == problems(written(odd)[0], strict=True)
    assert (tab, odd) == tuple(AGENT_HOOKS.read(written(one)[0]).event for one in (tab, odd))
    assert "vendor.gemini-cli.ModelStream" == AGENT_HOOKS.read(envelope("vendor.gemini.ModelStream")).event.type


@pytest.mark.covers("AH-60", "AH-14")
def test_vendor_keys_are_reverse_domain_names():
    """
    All that we put into metadata is one key of our own domain, and the two that the specification speaks of.
    """
    made = [document for record in records() for document in documents("agent-hooks", record)]
    assert {OURS, "phase", "trace_record_id"} == {key for document in made for key in document["metadata"]}


@pytest.mark.covers("AH-60", "AH-14")
def test_metadata_of_other_vendors_survives():
    """
    The vendor keys that the specification prints are no problem, and come back from every format.
    """
    document = envelope(metadata=next(block["metadata"] for block in blocks() if block.keys() == {"metadata"}))
    for via in EXACT:
        there, _ = walk("agent-hooks", via, [document])
        assert ([document], []) == (walk(via, "agent-hooks", there)[0], problems(document, strict=True))


@pytest.mark.parametrize("given", [{"trace_record_id": "tr-1"}, {"metadata": {"trace_record_id": "tr-1"}}])
@pytest.mark.covers("AH-63")
def test_the_link_to_a_trace_is_read_in_two_places_and_written_in_one(given):
    """
    trace_record_id is understood at the top and in metadata, and written in metadata at every level of privacy.
    """
    made = rewritten(envelope(**given), "minimal")[0]
    assert "tr-1" == AGENT_HOOKS.read(envelope(**given)).event.data["trace_record_id"]
    assert ("tr-1", False) == (made["metadata"]["trace_record_id"], "trace_record_id" in made)


@pytest.mark.covers("AH-64")
def test_an_event_travels_in_a_cloudevents_envelope():
    """
    The specification's examples, wrapped as CloudEvents, are valid there, keep id, time and source, and unwrap exactly.
    """
    cloud = formats.load("cloudevents")
    examples = [block for block in blocks() if "spec_version" in block]

    there, _ = walk("agent-hooks", "cloudevents", examples)

    assert [(one["event_id"], one["timestamp"]) for one in examples] == [(one["id"], one["time"]) for one in there]
    assert all(one["source"].endswith(f":{example['source']['tool']}") for one, example in zip(there, examples, strict=True))
    assert [([], [])] * len(there) == [cloud.check(one, True) for one in there]
    assert examples == walk("cloudevents", "agent-hooks", there)[0]


@pytest.mark.parametrize("level", ["minimal", "full"])
@pytest.mark.covers("AH-X7", "AH-77")
def test_a_thought_keeps_its_native_name(level):
    """
    Cursor's afterAgentThought is a Model.Responded without usage that tells its native name, and is read as a thought.
    """
    made = written(golden("cursor/afterAgentThought"), level)[0]
    assert ("Model.Responded", "afterAgentThought") == (made["event_type"], made["metadata"][OURS]["data"]["native_event"])
    assert {"model_id": "anthropic/claude-sonnet-5"} == made["data"]
    assert "agent_thought" == AGENT_HOOKS.read(made).event.type


@pytest.mark.covers("AH-8")
def test_a_nested_session_names_its_parent():
    """
    The session of a sub-agent points to the session that started it.
    """
    nested = event("session_start", session="s2", parent_session="s1", subagent=Subagent(id="s2"))
    assert ("s2", "s1") == (written(nested)[0]["session_id"], written(nested)[0]["parent_session_id"])
    parents = {record.event.parent_session for record in records() if record.event.agent == "opencode"}
    assert parents - {None}
    assert to_builtins(nested) == to_builtins(AGENT_HOOKS.read(written(nested)[0]).event)
