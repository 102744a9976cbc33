"""What is Qwen Code's own: how the report of a command is read."""

import pytest

from hookonce import agents

QWEN = agents.load("qwen-code")
REPORT = "Command: true\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: {}\nSignal: {}\nProcess Group PGID: 7"


@pytest.mark.parametrize(
    ("code", "signal", "ok", "error"),
    [("0", "(none)", True, None), ("0", "0", True, None), ("3", "(none)", False, None), ("(none)", "9", False, "ended by 9")],
)
def test_a_command_is_ended_by_a_signal_only_if_there_is_one(code, signal, ok, error):
    """
    Newer versions write (none) where 0.15.10 writes 0.
    """
    said = {"llmContent": REPORT.format(code, signal)}
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "true"},
        "tool_response": said,
    }

    result = agents.decode(QWEN, payload, "PostToolUse").tool.result

    assert (ok, error) == (result.ok, result.error)
