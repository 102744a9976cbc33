"""New input: put back into the form in which the agent has sent the old one, or refused."""

import json

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.dispatch.rewrite import apply_rewrite
from hookonce.model import Decision
from tests.dispatch.pipeline_cases import asked, goldens, recorded

CALLS = [
    pytest.param(agent, native, payload, id=name)
    for agent, native, payload, name in (*goldens(), *recorded())
    if (event := agents.decode(agents.load(agent), payload, native)).type == "before_tool_execute" and event.tool is not None
]
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"


@pytest.mark.parametrize(("agent", "native", "payload"), CALLS)
def test_each_argument_is_changed_alone_or_not_at_all(agent, native, payload):
    """
    For every call that was recorded and every text in it: what is read again is what the hook wrote, beside what was
    recorded before; the payload that later hooks see says the same.
    """
    one = asked(agent, native, payload)
    for key in [key for key, value in one.event.tool.input.items() if type(value) is str]:
        new = one.event.tool.input | {key: "something else"}

        decision, event, gaps = apply_rewrite(Decision(updated_input=new), one.event)

        if decision.outcome == "deny":
            assert (one.event, ["input_rewrite"]) == (event, [gap.capability for gap in gaps])
            continue
        assert decision.updated_input == event.tool.input
        assert event.tool.input[key] == "something else"
        again = agents.rewrite_input(one.agent, event.tool, event.tool.input)
        assert again == event.tool
        assert agents.decode(one.agent, event.native, native).tool.input == event.tool.input


def changed(agent, tool, given, **new):
    """The agent's own input after a hook has changed some of it, or None."""
    shapes = {
        "cline": {"clineVersion": "3", "hookName": "tool_call", "taskId": "t", "tool_call": {"id": "1", "name": tool, "input": given}},
        "codex": {"hook_event_name": "PreToolUse", "turn_id": "t", "model": "m", "session_id": "s", "tool_name": tool, "tool_input": given},
        "gemini-cli": {"hook_event_name": "BeforeTool", "transcript_path": "/h/.gemini/x", "session_id": "s", "tool_name": tool, "tool_input": given},
    }
    one = agents.decode(agents.load(agent), shapes[agent], None)
    kept = {key: value for key, value in one.tool.input.items() if new.get(key, value) is not None}
    found = agents.rewrite_input(agents.load(agent), one.tool, kept | {key: value for key, value in new.items() if value is not None})
    return found and found.native_input


@pytest.mark.parametrize(
    ("agent", "tool", "given", "new", "expected"),
    [
        # a list of commands is shown as one text too
        ("cline", "run_commands", {"commands": ["rm x"]}, {"command": "ls"}, {"commands": ["ls"]}),
        ("cline", "run_commands", {"commands": ["rm x", "rm y"]}, {"command": "ls"}, {"commands": ["ls"]}),
        ("cline", "run_commands", {"commands": ["rm x"]}, {"commands": ["ls"]}, {"commands": ["ls"]}),
        ("cline", "run_commands", {"commands": ["rm x"]}, {"command": "ls", "commands": ["ls"]}, {"commands": ["ls"]}),
        ("cline", "run_commands", {"commands": ["rm x"]}, {"command": "ls", "commands": None}, {"commands": ["ls"]}),
        ("cline", "run_commands", {"commands": ["rm x"]}, {"command": "ls", "commands": ["pwd"]}, None),
        ("cline", "run_commands", {"commands": ["rm x"], "timeout": 5}, {"command": "ls", "timeout": None}, {"commands": ["ls"]}),
        ("cline", "run_commands", {"commands": [{"command": "git", "args": ["push"]}]}, {"command": "ls"}, None),
        ("cline", "run_commands", {"command": "git", "args": ["push"]}, {"command": "ls"}, None),
        ("cline", "read_files", {"files": [{"path": "a", "start_line": 3}]}, {"path": "b"}, {"files": [{"path": "b", "start_line": 3}]}),
        ("cline", "read_files", {"files": [{"path": "a"}, {"path": "b"}]}, {"path": "c"}, None),
        ("cline", "editor", {"path": "a", "new_text": "x"}, {"content": "y"}, {"path": "a", "new_text": "y"}),
        ("cline", "fetch_web_content", {"requests": [{"url": "x", "prompt": "x"}]}, {"url": "y"}, None),
        ("cline", "fetch_web_content", {"requests": [{"url": "x", "prompt": "p"}]}, {"url": "y"}, {"requests": [{"url": "y", "prompt": "p"}]}),
        # the files of a patch are read out of it
        ("codex", "apply_patch", {"command": PATCH}, {"patch": PATCH.replace("two", "three")}, {"command": PATCH.replace("two", "three")}),
        ("codex", "apply_patch", {"command": PATCH}, {"patch": PATCH.replace("a.txt", "b.txt")}, {"command": PATCH.replace("a.txt", "b.txt")}),
        ("codex", "apply_patch", {"command": PATCH}, {"path": "b.txt"}, None),
        ("codex", "apply_patch", {"command": PATCH}, {"files": []}, None),
        ("codex", "apply_patch", {"command": PATCH}, {"patch": PATCH.replace("a.txt", "b.txt"), "path": "b.txt", "files": [{"path": "b.txt", "operation": "update"}]}, {"command": PATCH.replace("a.txt", "b.txt")}),
        ("codex", "apply_patch", {"command": PATCH}, {"patch": PATCH.replace("two", "three"), "path": "b.txt"}, None),
        # an address in the middle of a prompt is no argument of its own
        ("gemini-cli", "web_fetch", {"prompt": "read https://a.example now"}, {"url": "https://b.example"}, None),
        ("gemini-cli", "web_fetch", {"prompt": "https://a.example"}, {"url": "https://b.example"}, {"prompt": "https://b.example"}),
        ("gemini-cli", "web_fetch", {"prompt": "https://a.example"}, {"url": "no address"}, None),
        ("gemini-cli", "web_fetch", {"prompt": "read https://a.example"}, {"prompt": "read https://b.example"}, {"prompt": "read https://b.example"}),
        ("gemini-cli", "write_file", {"file_path": "a", "content": "x"}, {"path": "b"}, {"file_path": "b", "content": "x"}),
        ("gemini-cli", "write_file", {"file_path": "a", "content": "x"}, {"content": None}, {"file_path": "a"}),
    ],
)
def test_what_is_shown_in_another_shape_is_put_back_or_refused(agent, tool, given, new, expected):
    """
    Nothing is sent that the agent would read differently than the hook wrote it.
    """
    assert expected == changed(agent, tool, given, **new)


def test_arguments_that_came_as_a_text_cannot_be_changed():
    """
    The answer has room for an object only.
    """
    payload = {"sessionId": "s", "timestamp": 1, "cwd": "/", "toolName": "bash", "toolArgs": json.dumps({"command": "rm"})}
    one = asked("copilot-cli", "preToolUse", payload)

    decision, _, _ = apply_rewrite(Decision(updated_input={"command": "ls"}), one.event)

    assert "deny" == decision.outcome
    assert Decision(updated_input={"command": "rm"}) == apply_rewrite(Decision(updated_input={"command": "rm"}), one.event)[0]


def test_new_arguments_are_in_the_order_in_which_the_hook_gave_them():
    """
    The same answer has the same bytes in every process.
    """
    new = {"command": "ls"} | {f"word{number}": number for number in (5, 3, 8, 1, 7, 2, 6, 4)}
    one = asked("claude-code", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm"}})

    _, event, _ = apply_rewrite(Decision(updated_input=new), one.event)

    assert list(new) == list(event.tool.native_input)


def test_a_prompt_is_changed_by_its_name():
    """
    And whatever else is said of a prompt cannot be done.
    """
    payload = {"sessionId": "s", "timestamp": 1, "cwd": "/", "prompt": "old"}
    one = asked("copilot-cli", "userPromptSubmitted", payload)

    decision, event, _ = apply_rewrite(Decision(updated_input={"prompt": "new"}), one.event)

    assert ({"prompt": "new"}, "new", payload | {"prompt": "new"}) == (decision.updated_input, event.prompt, event.native)
    assert "deny" == apply_rewrite(Decision(updated_input={"text": "new"}), one.event)[0].outcome


def test_a_refused_rewrite_changes_nothing_for_the_next_hook():
    """
    It will not happen.
    """
    one = asked("codex", "PreToolUse", {"hook_event_name": "PreToolUse", "turn_id": "t", "model": "m", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm"}})

    decision, event, _ = apply_rewrite(Decision(outcome="deny", updated_input={"command": "ls"}), one.event)

    assert (Decision(outcome="deny"), one.event) == (decision, event)


def test_new_output_is_what_the_next_hook_sees():
    """
    As new input is.
    """
    payload = {"hook_event_name": "PostToolUse", "turn_id": "t", "model": "m", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "secret"}
    one = asked("codex", "PostToolUse", payload)

    _, event, _ = apply_rewrite(Decision(updated_output="nothing"), one.event)

    assert "nothing" == event.tool.result.output
    assert replace(event, tool=one.event.tool) == one.event
