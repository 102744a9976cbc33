"""Claude Code's settings: what the agent accepts comes back, what it would never run is named.

The examples are made up after the handler types, fields and matchers of the 2.1.325 binary and its types.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents import point_of
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from tests.agents._config.node import plain_wording

CLAUDE = agents.load("claude-code")
COMMAND = {"type": "command", "command": "./check.sh"}


def round_trip(document):
    """A configuration that was read and written, and whatever was said about it."""
    hooks, gaps = CLAUDE.config.parse(CLAUDE, document)
    made, lost = CLAUDE.config.render(CLAUDE, list(enumerate(hooks)), plain_wording)
    return made, gaps + lost


def settings(*entries, event="PreToolUse", **group):
    """Settings with one group."""
    return {"hooks": {event: [group | {"hooks": list(entries)}]}}


@pytest.mark.parametrize(
    "entry",
    [
        COMMAND | {"if": "Bash(git push *)", "timeout": 10, "onFailure": "block", "statusMessage": "checking"},
        COMMAND | {"shell": "powershell", "once": True, "async": True, "asyncRewake": True, "onFailure": "continue"},
        COMMAND | {"rewakeMessage": "x", "cloud": True, "timeout": 0.5},
        {"type": "command", "command": "python3", "args": ["${CLAUDE_PROJECT_DIR}/.claude/g.py", "a b", '$x `y` "q" \\']},
        {"type": "command", "command": "/opt/my tools/check", "args": []},
        {"type": "http", "url": "https://hooks.example/x", "headers": {"Authorization": "Bearer $TOKEN"}, "allowedEnvVars": ["TOKEN"], "onFailure": "block", "once": True},
        {"type": "mcp_tool", "server": "gh", "tool": "check", "input": {"path": "${tool_input.file_path}"}, "timeout": 5},
        {"type": "prompt", "prompt": "is $ARGUMENTS safe?", "model": "haiku", "continueOnBlock": True, "if": "Edit(*.py)", "timeout": 30},
        {"type": "agent", "prompt": "look at $ARGUMENTS", "timeout": 60, "once": True},
        {"type": "script", "path": "x"},
    ],
)
def test_every_kind_of_entry_comes_back_as_it_was(entry):
    """
    All five types of handlers keep every field, also those that nobody else knows.
    """
    document = settings(entry, COMMAND, matcher="Bash|Edit")

    assert (document, []) == round_trip(document)


@pytest.mark.parametrize(
    ("event", "matcher"),
    [
        ("PreToolUse", "Edit, Write"),
        ("PreToolUse", "mcp__github__.*"),
        ("PreToolUse", "mcp__.*"),
        ("PreToolUse", "Notebook.*"),
        ("PreToolUse", "Task"),
        ("PreToolUse", "*"),
        ("PreToolUse", "TodoWrite|(?!Bash).*"),
        ("SessionStart", "startup|resume"),
        ("Notification", "permission_prompt"),
        ("FileChanged", ".envrc"),
    ],
)
def test_matchers_come_back_as_they_were_written(event, matcher):
    """
    Lists, patterns, old names and the words of events that are about no tool survive.
    """
    document = settings(COMMAND, event=event, matcher=matcher)

    assert (document, []) == round_trip(document)


def test_a_program_with_arguments_is_one_command_line_elsewhere():
    """
    Without the arguments another agent would run something else; the agent's own variables still mean something.
    """
    document = settings({"type": "command", "command": "python3", "args": ["${CLAUDE_PROJECT_DIR}/g.py", "a b"]})

    made = convert(document, CLAUDE, agents.load("gemini-cli")).document

    assert "python3 \"${CLAUDE_PROJECT_DIR}/g.py\" 'a b'" == made["hooks"]["BeforeTool"][0]["hooks"][0]["command"]


@given(st.text(min_size=1, max_size=8), st.lists(st.text(max_size=8) | st.just("${CLAUDE_PLUGIN_ROOT}/x y"), max_size=3))
def test_any_program_and_any_arguments_come_back(program, words):
    """
    Whatever stands in them, the same program runs with the same arguments.
    """
    document = settings({"type": "command", "command": program, "args": words})

    assert document == round_trip(document)[0]


@pytest.mark.parametrize("words", [["--evil"], ["x"], "x", [1], []])
def test_arguments_from_a_manifest_cannot_change_what_runs(words):
    """
    Only arguments that the command line ends with are written as such.
    """
    hook = {"event": "session_start", "handler": {"type": "command", "command": "./good.sh --flag"}, "provider_data": {"claude-code": {"args": words}}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CLAUDE).document

    assert [{"type": "command", "command": "./good.sh --flag"}] == made["hooks"]["SessionStart"][0]["hooks"]


def test_a_wrapped_program_loses_its_arguments_to_the_wrapper():
    """
    A script of another agent runs through our client, and nothing is added to that.
    """
    hook = {"event": "session_start", "dialect": "codex", "handler": {"type": "command", "command": "a b"}, "provider_data": {"claude-code": {"args": ["b"]}}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CLAUDE, adapt=WrapperOptions("/opt/hookonce-on", "user")).document

    (entry,) = made["hooks"]["SessionStart"][0]["hooks"]
    assert "args" not in entry
    assert "--run 'a b'" in entry["command"]


@pytest.mark.parametrize(("kind", "event"), [("http", "session_start"), ("http", "setup"), ("prompt", "session_start"), ("agent", "subagent_start")])
def test_a_handler_that_never_runs_at_its_event_is_lost_by_name(kind, event):
    """
    Claude Code drops these without a word; we do not.
    """
    handler = {"type": kind} | ({"url": "https://hooks.example/x"} if kind == "http" else {"prompt": "fine?"})

    made = convert({"spec": "hooks/1.0", "hooks": [{"event": event, "handler": handler}]}, None, CLAUDE)

    (gap,) = made.gaps
    assert ({}, "lost", "$.hooks[0]") == (made.document["hooks"], gap.effect, gap.where)
    assert f"Claude Code runs no {kind} hooks on" in gap.note


def test_failing_closed_is_the_agents_own_switch():
    """
    A hook that must not fail open says so in the entry, and is read so.
    """
    (hook,), _ = CLAUDE.config.parse(CLAUDE, settings(COMMAND | {"onFailure": "block"}))

    assert "closed" == hook.on_failure


def test_our_doors_leave_out_what_would_replace_the_agent():
    """
    Worktrees are made and removed by a hook in place of the agent; what is shown comes only on request.
    """
    taken = {hook.provider_data["claude-code"]["hookonce"]["event"] for hook in build_entries(CLAUDE, "user", "/opt/hookonce-on")}
    asked = {hook.provider_data["claude-code"]["hookonce"]["event"] for hook in build_entries(CLAUDE, "user", "/opt/hookonce-on", "all")}

    assert {"WorktreeCreate", "WorktreeRemove", "ErrorOccurred"}.isdisjoint(asked)
    assert {"MessageDisplay"} == asked - taken
    assert 30 == len(taken)
    assert all(point_of(CLAUDE, event).why for event in ("WorktreeCreate", "WorktreeRemove", "MessageDisplay"))


def test_managed_settings_are_a_file_and_a_folder():
    """
    An administrator's hooks may lie in a drop-in directory too, and may be the only ones.
    """
    config = CLAUDE.config

    assert "/etc/claude-code/managed-settings.d/*.json" in config.reads["managed"]
    assert {"user", "project", "local", "managed"} == set(config.files)
    assert ("/etc/claude-code/managed-settings.json", ("allowManagedHooksOnly",), True) in config.switches


def test_a_word_that_the_agent_takes_for_something_is_named():
    """
    A manifest speaks of canonical tools; what else it says is written as it is, and named if it means something here.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": ["Bash", "MyOwnTool", "mcp__a__b"], "handler": {"type": "command", "command": "./x.sh"}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CLAUDE)

    assert "Bash|MyOwnTool|mcp__a__b" == made.document["hooks"]["PreToolUse"][0]["matcher"]
    told = ["no tool MyOwnTool of Claude Code is known; without one it never runs", "mcp__a__b means something of its own to Claude Code"]
    assert [f"before_tool_execute ./x.sh: {why}" for why in told] == [gap.note for gap in made.gaps]
