"""The specifications' tables of agents beside ours: what the running agents do wins, and every difference has its reason."""

import re

import pytest

from hookonce import agents, formats
from hookonce.convert.conversion import convert
from hookonce.model import Record
from tests.shared import seed_text

COLUMNS = {"Cursor": "cursor", "Windsurf Cascade": "windsurf", "Claude Code": "claude-code", "Gemini CLI": "gemini-cli", "GitHub Copilot": "copilot-cli"}
# Agent Hooks, section 8: the native events of each column. What stands in brackets there names no event.
TABLE = {
    "Session.Start": ("", "post_setup_worktree", "SessionStart", "SessionStart", "SessionStart"),
    "Session.End": ("stop", "", "SessionEnd", "SessionEnd", "SessionEnd"),
    "Prompt.Submitted": ("beforeSubmitPrompt", "PreUserPrompt", "UserPromptSubmit", "BeforeAgent", "userPromptSubmitted"),
    "Agent.Plan.Start": ("", "", "SubagentStart", "BeforeAgent", ""),
    "Agent.Response": ("afterAgentResponse", "PostCascadeResponse", "Stop", "AfterAgent", ""),
    "Model.Requested": ("", "", "", "BeforeModel", ""),
    "Model.Responded": ("afterAgentThought", "", "", "AfterModel", ""),
    "Action.Before": ("beforeShellExecution, beforeReadFile, beforeMCPExecution", "PreRunCommand, PreReadCode, PreWriteCode, PreMCPToolUse", "PreToolUse", "BeforeTool", "preToolUse"),
    "Action.After": ("afterShellExecution, afterFileEdit, afterMCPExecution", "PostRunCommand, PostWriteCode, PostReadCode", "PostToolUse, PostToolUseFailure", "AfterTool", "postToolUse"),
    "Context.UntilCompaction": ("", "", "", "", ""),
    "Context.Compaction": ("", "", "PreCompact", "PreCompress", ""),
    "Agent.Notification": ("", "", "Notification, PermissionRequest", "Notification", ""),
    "Agent.Error": ("", "", "PostToolUseFailure", "", "errorOccurred"),
}  # fmt: skip
# Cells that say something else than the agent does.
REASONS = {
    ("cursor", "stop"): "it ends a turn; a session ends with sessionEnd",
    ("windsurf", "post_setup_worktree"): "it tells of a worktree; the begin of a session has no event",
}
# Cells that the table leaves empty, although the agent has such an event today.
LATER = {
    ("cursor", "Session.Start"): {"sessionStart"},
    ("cursor", "Agent.Plan.Start"): {"subagentStart"},
    ("cursor", "Context.Compaction"): {"preCompact"},
    ("cursor", "Agent.Error"): {"postToolUseFailure"},
    ("copilot-cli", "Agent.Plan.Start"): {"subagentStart", "SubagentStart"},
    ("copilot-cli", "Agent.Response"): {"agentStop", "Stop"},
    ("copilot-cli", "Context.Compaction"): {"preCompact", "PreCompact"},
    ("copilot-cli", "Agent.Notification"): {"notification", "Notification", "permissionRequest", "PermissionRequest"},
}
WORDS = re.compile(r", ")


def types(name, native, variant=None):
    """The Agent Hooks types that a native event becomes, first the one that it is."""
    agent, fmt = agents.load(name), formats.load("agent-hooks")
    event = agents.decode(agent, {}, native)
    write = fmt.variants[variant] if variant else fmt.write
    return [document["event_type"] for document in write(Record(event=event))]


def cells(kind):
    """Agent and native events of each cell of a row that names any."""
    row = zip(COLUMNS.values(), TABLE[kind], strict=True)
    return [(name, native) for name, cell in row for native in WORDS.split(cell) if native]


def printed(start, end, number="002"):
    return seed_text(number).partition(start)[2].partition(end)[0]


def test_the_table_is_the_printed_one():
    """
    Our copy of the table says, cell by cell, what the specification prints.
    """
    lines = [line.strip() for line in printed("8. Vendor Alignment", "(n/a) indicates").splitlines() if line.strip()]
    lines = [line for line in lines[1:] if line != "(Plan)"]  # SubagentStart of that kind, on a line of its own
    rows = {lines[at]: lines[at + 1 : at + 6] for at in range(0, len(lines), 6)}
    assert list(COLUMNS) == rows.pop("Agent Hooks Event")
    spoken = {"(on worktree setup)": "post_setup_worktree", "(via BeforeAgent)": "BeforeAgent"}
    empty = dict.fromkeys(("(n/a)", "(none)", "(implicit)"), "")
    assert TABLE == {kind: tuple((spoken | empty).get(cell, cell) for cell in row) for kind, row in rows.items()}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("Session.Start", marks=pytest.mark.covers("AH-71")),
        pytest.param("Session.End", marks=pytest.mark.covers("AH-72", "AH-X5")),
        pytest.param("Prompt.Submitted", marks=pytest.mark.covers("AH-73")),
        pytest.param("Agent.Plan.Start", marks=pytest.mark.covers("AH-74")),
        pytest.param("Agent.Response", marks=pytest.mark.covers("AH-75")),
        pytest.param("Model.Requested", marks=pytest.mark.covers("AH-76")),
        pytest.param("Model.Responded", marks=pytest.mark.covers("AH-77")),
        pytest.param("Action.Before", marks=pytest.mark.covers("AH-78")),
        pytest.param("Action.After", marks=pytest.mark.covers("AH-79")),
        pytest.param("Context.UntilCompaction", marks=pytest.mark.covers("AH-80")),
        pytest.param("Context.Compaction", marks=pytest.mark.covers("AH-81")),
        pytest.param("Agent.Notification", marks=pytest.mark.covers("AH-82")),
        pytest.param("Agent.Error", marks=pytest.mark.covers("AH-83")),
    ],
)
def test_a_row_of_the_table(kind):
    """
    Each native event of a row becomes the row's type, but for the named exceptions, and no other agent has one.
    """
    others = [(name, native) for name, native in cells(kind) if kind not in types(name, native)]
    assert [cell for cell in cells(kind) if cell in REASONS] == others
    named = {name for name, _ in cells(kind)} - {name for name, _ in others}
    ours = {name: {native for native in agents.load(name).events if kind in types(name, native)} for name in COLUMNS.values()}
    more = {(name, kind): natives for name, natives in ours.items() if natives and name not in named}
    expected = {cell: natives for cell, natives in LATER.items() if cell[1] == kind}
    expected |= {("cursor", kind): {"sessionEnd"}} if kind == "Session.End" else {}
    assert expected == more


@pytest.mark.covers("AH-80")
def test_nobody_announces_how_full_the_context_is():
    """
    No native event of any agent is a Context.UntilCompaction: it can only be derived.
    """
    assert [] == [
        (name, native)
        for name in agents.AGENTS
        for native, kind in agents.load(name).events.items()
        if kind == "context_until_compaction"
    ]


@pytest.mark.covers("AH-X5", "AH-72")
def test_a_stop_ends_a_turn():
    """
    Cursor's stop is a final Agent.Response and its sessionEnd the Session.End, as with Claude Code.
    """
    pairs = [("cursor", "stop"), ("cursor", "sessionEnd"), ("claude-code", "Stop"), ("claude-code", "SessionEnd")]
    assert ["Agent.Response", "Session.End"] * 2 == [types(*pair)[0] for pair in pairs]


@pytest.mark.parametrize("kind", TABLE)
@pytest.mark.covers("AH-X5", "AH-72", "AH-71")
def test_the_printed_table_is_a_profile(kind):
    """
    Under the profile strict_table every cell holds, the exceptions included, and nothing else changes.
    """
    assert all(kind in types(name, native, "strict_table") for name, native in cells(kind))
    others = [cell for cell in cells(kind) if cell not in REASONS]
    assert [types(*cell) for cell in others] == [types(*cell, "strict_table") for cell in others]


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        pytest.param("copilot-cli", ("preToolUse", "PreToolUse", "pre_tool_use", "pre-tool-use"), marks=pytest.mark.covers("AH-X2")),
        pytest.param("copilot-cli", ("sessionStart", "SessionStart"), marks=pytest.mark.covers("AH-X2")),
        pytest.param("copilot-cli", ("sessionEnd", "SessionEnd"), marks=pytest.mark.covers("AH-X2")),
        pytest.param("copilot-cli", ("userPromptSubmitted", "UserPromptSubmitted", "UserPromptSubmit"), marks=pytest.mark.covers("AH-X2")),
        pytest.param("copilot-cli", ("errorOccurred", "ErrorOccurred"), marks=pytest.mark.covers("AH-X2")),
        pytest.param("claude-code", ("StopFailure", "ErrorOccurred"), marks=pytest.mark.covers("HIF-X17")),
        *(
            pytest.param("windsurf", (camel, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", camel.replace("MCP", "Mcp")).lower()), marks=pytest.mark.covers("AH-X3"))
            for kind in ("Prompt.Submitted", "Agent.Response", "Action.Before", "Action.After")
            for camel in WORDS.split(TABLE[kind][1])
        ),
    ],
)  # fmt: skip
def test_spellings_of_one_event(name, spellings):
    """
    However an event is spelt, it is the one that the agent has.
    """
    agent = agents.load(name)
    found = {agents.normalize(agent, spelling) for spelling in spellings}
    assert 1 == len(found)
    assert found <= set(agent.events.values())


@pytest.mark.covers("HIF-X17")
def test_a_turn_that_broke_off_is_an_error():
    """
    StopFailure is the canonical error_occurred, and so is the name that the other source gives it.
    """
    claude = agents.load("claude-code")
    assert ["error_occurred"] * 2 == [agents.normalize(claude, name) for name in ("StopFailure", "ErrorOccurred")]


@pytest.mark.covers("AH-67", "AH-X13")
def test_a_normaliser_for_every_agent():
    """
    Each agent of the list answers to its own slug and its aliases, turns native names into types, and guesses none.
    """
    for name in agents.AGENTS:
        agent = agents.load(name)
        assert name == agent.name
        assert dict(agent.events) == {native: agents.normalize(agent, native) for native in agent.events}
        assert f"vendor.{name}.NeverHeardOf" == agents.normalize(agent, "NeverHeardOf")
    spoken = {"claude": "claude-code", "gemini": "gemini-cli", "github-copilot": "copilot-cli", "cascade": "windsurf"}
    spoken |= {"copilot": "copilot-cli", "vscode-copilot": "vs-code-copilot", "droid": "factory-droid"}
    assert spoken == {alias: agents.load(alias).name for alias in spoken}


# The Hook Interchange Format's two tables: claude-code, gemini-cli, cursor, copilot-cli, kiro.
PROVIDERS = ("claude-code", "gemini-cli", "cursor", "copilot-cli", "kiro")
EVENTS = {
    "before_tool_execute": "PreToolUse BeforeTool beforeShellExecution preToolUse preToolUse",
    "after_tool_execute": "PostToolUse AfterTool afterFileEdit postToolUse postToolUse",
    "before_prompt": "UserPromptSubmit BeforeAgent beforeSubmitPrompt userPromptSubmitted userPromptSubmit",
    "agent_stop": "Stop AfterAgent stop — stop",
}
TOOLS = {
    "shell": "Bash run_shell_command run_terminal_cmd bash execute_bash",
    "file_read": "Read read_file read_file view fs_read",
    "file_write": "Write write_file edit_file create fs_write",
    "file_edit": "Edit replace edit_file edit fs_write",
    "search": "Grep grep_search grep_search grep grep",
    "find": "Glob glob file_search glob glob",
    "web_search": "WebSearch google_web_search web_search — web_search",
    "web_fetch": "WebFetch web_fetch — web_fetch web_fetch",
    "agent": "Agent — — task use_subagent",
}
# Cursor's column has the names of the model's functions; its hooks of today tell these.
CURSOR = {"shell": "Shell", "file_read": "Read", "file_write": "Write", "file_edit": "Write", "search": "Grep", "find": "List", "web_search": "WebSearch"}  # fmt: skip
# One native name for two tools: the arguments tell them apart.
TELLING = {
    ("kiro", "file_edit"): {"command": "str_replace", "old_str": "a", "new_str": "b"},
    ("kiro", "file_write"): {"command": "create", "file_text": "a"},
    ("cursor", "file_edit"): {"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}]},
    ("cursor", "file_write"): {"file_path": "a", "content": "b"},
}


@pytest.mark.parametrize(
    ("start", "end", "table"),
    [("Event Name Mapping", "7. Tool Vocabulary", EVENTS), ("7. Tool Vocabulary", "8. Capability", TOOLS)],
    ids=["events", "tools"],
)
def test_the_tables_of_the_interchange_format_are_the_printed_ones(start, end, table):
    """
    Our copy of its event and tool tables says what it prints.
    """
    rows = [row.split(" | ") for row in re.findall(r"\w+(?: \| \S+){5}(?= \|$)", printed(start, end, "003"), re.MULTILINE)]
    assert ["Canonical", *PROVIDERS] == rows[0]
    assert table == {row[0]: " ".join(row[1:]) for row in rows[1:]}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("before_tool_execute", marks=pytest.mark.covers("HIF-43")),
        pytest.param("after_tool_execute", marks=pytest.mark.covers("HIF-44")),
        pytest.param("before_prompt", marks=pytest.mark.covers("HIF-45")),
        pytest.param("agent_stop", marks=pytest.mark.covers("HIF-46")),
    ],
)
def test_an_event_in_the_words_of_five_agents(kind):
    """
    Every native name of the row becomes the canonical event.
    """
    words = [(name, word) for name, word in zip(PROVIDERS, EVENTS[kind].split(), strict=True) if word != "—"]
    assert [kind] * len(words) == [agents.normalize(agents.load(name), word) for name, word in words]


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param("shell", marks=pytest.mark.covers("HIF-47")),
        pytest.param("file_read", marks=pytest.mark.covers("HIF-48")),
        pytest.param("file_write", marks=pytest.mark.covers("HIF-49")),
        pytest.param("file_edit", marks=pytest.mark.covers("HIF-50")),
        pytest.param("search", marks=pytest.mark.covers("HIF-51")),
        pytest.param("find", marks=pytest.mark.covers("HIF-52")),
        pytest.param("web_search", marks=pytest.mark.covers("HIF-53")),
        pytest.param("web_fetch", marks=pytest.mark.covers("HIF-54")),
        pytest.param("agent", marks=pytest.mark.covers("HIF-55")),
    ],
)
def test_a_tool_in_the_words_of_five_agents(tool):
    """
    Every native name of the row as it is printed, and Cursor's in the words of its hooks too, becomes the canonical
    tool in payloads and in matchers, and the canonical tool becomes a name of the agent's that means it.
    """
    words = [(name, word) for name, word in zip(PROVIDERS, TOOLS[tool].split(), strict=True) if word != "—"]
    words += [("cursor", CURSOR[tool])] if tool in CURSOR else []
    assert [(tool, word) for _, word in words] == [called(name, word, tool) for name, word in words]
    for name, word in words:
        agent = agents.load(name)
        entry = {"event": "before_tool_execute", "matcher": tool, "handler": {"type": "command", "command": "./x"}}
        made = convert({"spec": "hooks/1.0", "hooks": [entry]}, None, agent).document
        literal = convert({"spec": "hooks/1.0", "hooks": [entry | {"matcher": [tool, word]}]}, None, agent).document
        meant = (
            {"file_write", "file_edit"}
            if word in {"Write", "edit_file", "fs_write"} and name != "claude-code"
            else {tool}
        )
        if name != "copilot-cli":  # whose hooks have no matchers
            assert meant == matched(agent, made, word)
            assert tool in matched(agent, made, None) <= matched(agent, literal, None) <= meant


def matched(agent, document, word):
    """The canonical tools of the first matcher in a configuration, or of another word in its place."""
    key = "matcher"

    def spoken(value):
        if type(value) is dict:
            return {name: word if name == key and word else spoken(item) for name, item in value.items()}
        return [spoken(item) for item in value] if type(value) is list else value

    matcher = convert(spoken(document), agent, None).document["hooks"][0].get("matcher", [])
    return set(matcher if type(matcher) is list else [matcher])


@pytest.mark.parametrize(
    ("native", "arguments", "name", "canonical"),
    [
        ("run_terminal_cmd", {"command": "ls", "is_background": True}, "shell", {"command": "ls", "background": True}),
        ("read_file", {"target_file": "a"}, "file_read", {"path": "a"}),
        ("edit_file", {"target_file": "a", "code_edit": "b"}, "file_edit", {"path": "a", "new_text": "b"}),
        (
            "edit_file",
            {"file_path": "a", "old_string": "b", "new_string": "c"},
            "file_edit",
            {"path": "a", "old_text": "b", "new_text": "c"},
        ),
        ("edit_file", {"target_file": "a", "contents": "b"}, "file_write", {"path": "a", "content": "b"}),
        ("edit_file", {}, "file_write", {}),
        ("grep_search", {"query": "x"}, "search", {"pattern": "x"}),
        ("file_search", {"query": "x"}, "find", {"pattern": "x"}),
        ("web_search", {"search_term": "x"}, "web_search", {"query": "x"}),
    ],
)
def test_the_model_s_own_functions_of_cursor(native, arguments, name, canonical):
    """
    A call under the name that the interchange format prints has canonical arguments, and is told by what it gives.
    """
    payload = {"hook_event_name": "preToolUse", "cursor_version": "1", "tool_name": native, "tool_input": arguments}

    tool = agents.decode(agents.load("cursor"), payload).tool

    assert (name, native, canonical) == (tool.name, tool.native, tool.input)


def called(name, native, tool):
    """Canonical and native name of a call that an agent tells of."""
    names = ("toolName", "toolArgs") if name == "copilot-cli" else ("tool_name", "tool_input")
    payload = dict(zip(names, (native, TELLING.get((name, tool), {})), strict=True))
    found = agents.decode(agents.load(name), payload, "BeforeTool" if name == "gemini-cli" else "PreToolUse").tool
    return found.name, found.native
