"""The canon: every name of every specification has its place, and every table has its way back."""

import re
from typing import get_args

import pytest
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.formats.schema import load_schema
from hookonce.model import Actor, Event, Mode, Record, Tool
from hookonce.vocabulary import events, names, tools
from hookonce.vocabulary.events import CANONICAL_EVENTS, EVENTS, FROM_AGENT_HOOKS, FROM_AMPLIFIER, FROM_OPENHOOK
from hookonce.vocabulary.names import AGENT_ALIASES
from hookonce.vocabulary.tools import ARGUMENTS
from tests.formats.agent_hooks.test_envelope import envelope, event, problems, written
from tests.shared import seed_text

CATEGORIES = ("Session", "Prompt", "Agent", "Action", "Model", "Context", "Retry", "Policy")
TYPES = {
    "Session.Start", "Session.End", "Session.Abort", "Prompt.Submitted", "Agent.Plan.Start", "Agent.Plan.End",
    "Agent.Decision", "Agent.Response", "Model.Requested", "Model.Responded", "Model.Failed", "Action.Before",
    "Action.After", "Retry.Triggered", "Retry.Loop.Detected", "Retry.Loop.Aborted", "Context.UntilCompaction",
    "Context.Compaction", "Policy.Violation", "Policy.Blocked", "Policy.Override", "Agent.Notification", "Agent.Error",
}  # fmt: skip
FURTHER = [
    "tool_use_failure", "tool_batch", "after_compact", "permission_denied", "file_changed", "cwd_changed",
    "instructions_loaded", "task_created", "task_completed", "worktree_create", "worktree_remove", "elicitation",
    "elicitation_result", "message_display", "setup", "model_switch_before", "model_switch_after", "prompt_expansion",
    "prompt_transformed", "directory_added", "teammate_idle", "agent_response", "agent_thought", "interrupt",
]  # fmt: skip
DERIVED = [
    "retry_triggered", "retry_loop_detected", "retry_loop_aborted", "policy_violation", "policy_blocked",
    "policy_override", "context_until_compaction", "session_abort", "plan_start", "plan_end", "agent_decision",
    "model_failed",
]  # fmt: skip
SHELL = Tool(name="shell", native="Bash", input={"command": "ls"})


def between(number, start, end):
    """The part of a specification between two headings."""
    return seed_text(number).partition(start)[2].partition(end)[0]


@pytest.mark.parametrize(
    ("group", "names", "source"),
    [
        pytest.param("core", ["before_tool_execute"], None, marks=pytest.mark.covers("HIF-33")),
        pytest.param("core", ["after_tool_execute"], None, marks=pytest.mark.covers("HIF-34")),
        pytest.param("core", ["session_start"], None, marks=pytest.mark.covers("HIF-35")),
        pytest.param("core", ["session_end"], None, marks=pytest.mark.covers("HIF-36")),
        pytest.param("core", ["before_prompt"], None, marks=pytest.mark.covers("HIF-37")),
        pytest.param("core", ["agent_stop"], None, marks=pytest.mark.covers("HIF-38")),
        pytest.param(
            "extended",
            ["before_compact", "notification", "error_occurred", "subagent_start", "subagent_stop", "permission_request"],
            "claude-code",
            marks=pytest.mark.covers("HIF-39"),
        ),
        pytest.param(
            "extended",
            ["before_model", "after_model", "before_tool_selection"],
            "gemini-cli",
            marks=pytest.mark.covers("HIF-40", "HIF-X3"),
        ),
        pytest.param("exclusive", ["config_change"], "claude-code", marks=pytest.mark.covers("HIF-41")),
        pytest.param(
            "exclusive",
            ["file_created", "file_saved", "file_deleted", "before_task", "after_task"],
            "kiro",
            marks=pytest.mark.covers("HIF-42"),
        ),
    ],
)
def test_events_of_the_interchange_format(group, names, source):
    """
    Each of its events is canonical, in its group, and comes from the agent that it is said to come from.
    """
    assert [group] * len(names) == [EVENTS[name].group for name in names]
    everybody = [source] if source else ["claude-code", "gemini-cli", "cursor", "copilot-cli"]
    assert [] == [(who, name) for who in everybody for name in names if name not in agents.load(who).events.values()]


@pytest.mark.covers("HIF-33", "HIF-39", "HIF-40", "HIF-41", "HIF-42")
def test_no_event_of_the_interchange_format_is_missing():
    """
    The 21 event names that its registry prints are exactly our core, extended and exclusive ones.
    """
    registry = between("003", "6. Event Registry", "Event Name Mapping")
    printed = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|\bnotification\b", registry))
    assert 21 == len(printed)
    assert printed == {row.name for row in CANONICAL_EVENTS if row.group in {"core", "extended", "exclusive"}}


@pytest.mark.covers("HIF-X2")
def test_saved_and_changed_are_one_event():
    """
    file_saved and file_changed have the same name in every format; only the operation tells that the first is an update.
    """
    saved, changed = EVENTS["file_saved"], EVENTS["file_changed"]
    assert (saved.openhook, saved.agent_hooks, saved.amplifier) == (changed.openhook, changed.agent_hooks, changed.amplifier)
    assert {"file_saved"} == {agents.normalize(agents.load("kiro"), name) for name in ("PostFileSave", "fileEdited")}
    given = [Record(event=event(name, data={"path": "a"})) for name in ("file_saved", "file_changed")]
    made = [formats.load("openhook").write(record)[0] for record in given]
    assert [("file.write", "update"), ("file.write", None)] == [(one["type"], one["data"].get("operation")) for one in made]


@pytest.mark.covers("AH-X14", "AH-4")
def test_agent_hooks_has_23_types():
    """
    The appendix, not the shorter section 7, is the list of types, and the canon has a word for each and no other.
    """
    name = r"^[A-Z]\w+(?:\.[A-Z]\w+){1,2}$"
    appendix = re.findall(name, between("002", "A. Complete Event Type Reference", "B. Full Example"), re.MULTILINE)
    shorter = re.findall(name, between("002", "7. Event Taxonomy", "8. Vendor Alignment"), re.MULTILINE)
    assert (23, 17, TYPES) == (len(appendix), len(shorter), set(appendix))
    assert set(shorter) < set(appendix)
    assert TYPES == FROM_AGENT_HOOKS.keys()


@pytest.mark.parametrize("kind", sorted(TYPES))
@pytest.mark.covers("AH-X14", "AH-46")
def test_every_type_can_be_written_and_belongs_to_a_category(kind):
    """
    Each of the 23 types is written from its canonical event, passes the strict check, and has one of eight categories.
    """
    document = written(event(FROM_AGENT_HOOKS[kind]))[0]
    assert (kind, []) == (document["event_type"], problems(document, strict=True))
    assert kind.partition(".")[0] in CATEGORIES


@pytest.mark.covers("AH-46")
def test_the_categories_are_the_printed_ones():
    """
    The eight patterns of section 6.3 are the categories, none is empty, and a type outside them is not a known one.
    """
    printed = re.findall(r"^(\w+)\.\*$", between("002", "6.3 Event Naming Convention", "7. Event Taxonomy"), re.MULTILINE)
    assert list(CATEGORIES) == printed
    assert set(printed) == {kind.partition(".")[0] for kind in FROM_AGENT_HOOKS}
    assert ["$.event_type"] == problems(envelope("Weather.Rain"), strict=True)


def test_openhook_has_6_types():
    """
    The types of both texts are the six that the canon knows.
    """
    tables = between("000", "## Lifecycle Events", "Future members") + between("001", "### 3.1 Lifecycle", "### 3.2")
    assert set(re.findall(r"^\| `([a-z.]+)` \|", tables, re.MULTILINE)) == FROM_OPENHOOK.keys()
    assert 6 == len(FROM_OPENHOOK)


def test_amplifier_has_14_stable_names():
    """
    Every name of its event taxonomy has a canonical event.
    """
    taxonomy = re.findall(r"^- `([a-z]+):([a-z_|]+)`", between("004", "**Event Taxonomy**", "## 4)"), re.MULTILINE)
    stable = {f"{family}:{name}" for family, names in taxonomy for name in names.split("|")}
    assert 14 == len(stable)
    assert stable <= FROM_AMPLIFIER.keys()


def test_names_beyond_the_interchange_format():
    """
    Our own names are those that were agreed upon, each once, with a meaning.
    """
    assert set(FURTHER) == {row.name for row in CANONICAL_EVENTS if row.group == "further"}
    assert set(DERIVED) == {row.name for row in CANONICAL_EVENTS if row.group == "derived"}
    assert len(CANONICAL_EVENTS) == len(EVENTS) == len({row.meaning for row in CANONICAL_EVENTS})
    assert all(row.name.startswith("vendor.amplifier.") for row in CANONICAL_EVENTS if row.group == "kernel")
    assert events.USER_EVENTS | events.SYSTEM_EVENTS <= EVENTS.keys()


@pytest.mark.parametrize("column", ["openhook", "agent_hooks", "amplifier"])
def test_every_name_leads_back(column):
    """
    A format's name leads to the first canonical event that carries it, and to one that carries it in any case.
    """
    back = {"openhook": FROM_OPENHOOK, "agent_hooks": FROM_AGENT_HOOKS, "amplifier": FROM_AMPLIFIER}[column]
    named = [(getattr(row, column), row.name) for row in CANONICAL_EVENTS if getattr(row, column)]
    assert {name for name, _ in named} == back.keys()
    assert {name: next(own for other, own in named if other == name) for name in back} == back


def test_every_agent_speaks_the_canon():
    """
    No agent's table names an event or a tool that the canon does not have, nor an alias an agent that does not exist.
    """
    known = [agents.load(name) for name in agents.AGENTS]
    vendors = tuple(f"vendor.{name}." for name in agents.AGENTS)
    used = {kind for agent in known for kind in agent.events.values() if not kind.startswith(vendors)}
    assert set() == used - EVENTS.keys()
    assert set() == {tool for agent in known for tool in agent.tools.values()} - ARGUMENTS.keys()
    assert set(AGENT_ALIASES.values()) <= agents.AGENTS.keys()
    assert set() == AGENT_ALIASES.keys() & agents.AGENTS.keys()


@pytest.mark.covers("HIF-47", "HIF-48", "HIF-49", "HIF-50", "HIF-51", "HIF-52", "HIF-53", "HIF-54", "HIF-55")
def test_the_tools_are_the_printed_ones():
    """
    The nine canonical tools are those of the interchange format, each with its arguments and its action name.
    """
    vocabulary = between("003", "7. Tool Vocabulary", "8. Capability Registry")
    printed = re.findall(r"^([a-z_]+) \|", vocabulary, re.MULTILINE)
    assert 9 == len(printed)
    assert printed == list(tools.AGENT_HOOKS_ACTIONS)
    assert set(printed) == ARGUMENTS.keys()


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("shell", "command commands description timeout background"), ("file_read", "path offset limit"),
        ("file_write", "path content"), ("file_edit", "path old_text new_text replace_all patch files"),
        ("search", "pattern path"), ("find", "pattern path"), ("web_fetch", "url prompt"), ("web_search", "query"),
        ("agent", "prompt description type"),
    ],
)  # fmt: skip
def test_arguments_have_canonical_names(tool, names):
    """
    Each tool has the agreed arguments, and what somebody wrote is never of a harmless class.
    """
    assert set(names.split()) <= ARGUMENTS[tool].keys()
    written_by_people = {"content", "old_text", "new_text", "patch", "prompt", "description"}
    assert {"text", "content"} >= {kind for name, kind in ARGUMENTS[tool].items() if name in written_by_people}


@pytest.mark.covers("AH-50")
def test_actions_lead_back():
    """
    The standard action names of the specification are known, and each leads to a tool that is written under it.
    """
    table = between("002", "Standard action names:", "7.6 Context Management")
    printed = set(re.findall(r"^([a-z]+(?:_[a-z]+|:<tool>)?)$", table, re.MULTILINE))
    assert {"shell", "read_file", "write_file", "mcp:<tool>", "web_search", "code_edit"} == printed
    assert printed - {"mcp:<tool>"} <= tools.TOOLS_BY_ACTION.keys()
    assert all(tools.AGENT_HOOKS_ACTIONS[tools.TOOLS_BY_ACTION[action]] == action for action in tools.AGENT_HOOKS_ACTIONS.values())
    assert "file_edit" == tools.TOOLS_BY_ACTION["code_edit"]


def test_reasons_are_words_of_the_formats():
    """
    Each table of reasons leads to words that the format's schema allows, and knows the format's own words.
    """
    data = {name: part.get("properties", {}) for name, part in load_schema("agent-hooks")["$defs"].items()}
    for table, allowed in (
        (names.AGENT_HOOKS_START_REASONS, data["session_start"]["start_reason"]["enum"]),
        (names.AGENT_HOOKS_END_REASONS, data["session_end"]["end_reason"]["enum"]),
        (names.NOTIFICATION_TYPES, data["notification"]["type"]["enum"]),
        (names.ERROR_TYPES, data["error"]["error_type"]["enum"]),
        (names.OPENHOOK_END_REASONS, ["user_exit", "timeout", "error", "completed"]),
    ):
        assert set(allowed) == set(table.values())
        assert {word: word for word in allowed} == {word: table.get(word) for word in allowed}


@pytest.mark.covers("AH-22")
def test_there_are_five_modes():
    """
    The modes of an event are the five that the specification describes.
    """
    table = between("002", "Agent Modes", "5. Architecture Overview")
    assert list(get_args(Mode)) == re.findall(r"^([a-z]+)$", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("agent", "native", "mode"),
    [
        ("claude-code", {"permission_mode": "bypassPermissions"}, "agent"), ("claude-code", {"permission_mode": "plan"}, "plan"),
        ("cursor", {"composer_mode": "ask"}, "chat"), ("cursor", {"composer_mode": "edit"}, "edit"),
        ("cursor", {"composer_mode": "agent"}, "agent"), ("cursor", {"composer_mode": "unheard of"}, None),
    ],
)  # fmt: skip
@pytest.mark.covers("AH-22", "AH-11")
def test_native_modes_are_told_by_what_they_mean(agent, native, mode):
    """
    Working alone is agent, planning is plan, conversation is chat, direct editing is edit; an unknown mode is none.
    """
    found = agents.decode(agents.load(agent), native | {"session_id": "s"}, "stop" if agent == "cursor" else "Stop")
    assert mode == written(replace(found, id=event("x").id))[0].get("agent_mode")


@pytest.mark.covers("AH-21")
def test_an_event_is_a_fact_that_never_changes():
    """
    Session, actor, action, mode, model and compaction each have one place in an event, and none can be changed.
    """
    given = event("before_compact", actor=Actor(type="system"), tool=SHELL, mode="plan", model="m", data={"trigger": "auto"})
    told = {"session": "s1", "actor": Actor(type="system"), "tool": SHELL, "mode": "plan", "model": "m", "type": "before_compact"}
    assert told == {field: getattr(given, field) for field in told}
    for noun, field in [(given, name) for name in Event.__struct_fields__] + [(given.actor, "type"), (SHELL, "name")]:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(noun, field, None)
