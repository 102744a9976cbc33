"""A daemon tells of broken hooks at the start of a session, with its own store open, and goes on answering."""

import json
import time
from contextlib import closing

from hookonce.store import database
from tests.manifest.projects import command


def started(home, session):
    """What Claude Code shows its user."""
    payload = {"hook_event_name": "SessionStart", "session_id": session, "cwd": str(home.where), "source": "startup"}
    code, out, _ = home.call("claude-code", "SessionStart", "--via", "claude-code/user", given=json.dumps(payload).encode())
    assert 0 == code
    return json.loads(out or b"{}").get("systemMessage", "")


def count_rows():
    """How many events the daemon has written."""
    with closing(database.open_reader()) as connection:
        return connection.execute("SELECT count FROM head").fetchone()[0]


def wait_for(condition):
    """Wait until it holds."""
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_the_daemon_tells_of_hooks_that_are_broken_or_keep_failing(warm):
    """
    Also when it has written what it knows of their runs; no session waits for it in vain.
    """
    warm.hooks(command("/nowhere/guard.sh", name="no-rm"), command("exit 7", event="after_tool_execute", name="fails"))
    call = {"hook_event_name": "PostToolUse", "cwd": str(warm.where), "tool_name": "Bash", "tool_input": {}, "tool_response": {}}
    first = started(warm, "s1")
    for number in range(3):
        given = json.dumps(call | {"session_id": "s1", "tool_use_id": str(number)}).encode()
        warm.call("claude-code", "PostToolUse", "--via", "claude-code/user", given=given)
    with warm.inside():
        wait_for(lambda: count_rows() >= 4)
    second, third = started(warm, "s2"), started(warm, "s3")

    assert "hookonce: 1 of your guards does not protect you: no-rm: cannot run: /nowhere/guard.sh does not exist. Next: hookonce doctor" == first
    assert "fails: keeps failing: 3 of its last 3 runs (exit code 7)" in second
    assert second == third
    assert warm.status()["answered"]  # a busy machine lets single calls go without it
