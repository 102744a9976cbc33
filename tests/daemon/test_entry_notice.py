"""Entries that an agent has lost, told in the agent by the daemon."""

import json

from tests.daemon.installed_home import command


def test_lost_entries_are_told_where_a_session_starts(warm):
    """
    To the user alone, and together with any other fault; a file that nobody can read hides none.
    """
    warm.hooks(command("true"), command("/nowhere/guard.sh", name="no-rm"))
    settings = warm.home / ".claude/settings.json"
    settings.parent.mkdir()
    entry = {"type": "command", "command": f"{warm.client} claude-code SessionStart --via claude-code/user"}

    def start(text):
        settings.write_text(text, encoding="utf-8")
        payload = {"hook_event_name": "SessionStart", "source": "startup", "session_id": text[:9], "cwd": str(warm.where)}
        code, out, err = warm.call("claude-code", "SessionStart", "--via", "claude-code/user", given=json.dumps(payload).encode())
        assert (0, b"") == (code, err)
        reply = json.loads(out)
        assert {"systemMessage"} == reply.keys()
        return reply["systemMessage"]

    message = start(json.dumps({"hooks": {"SessionStart": [{"hooks": [entry]}]}}))
    assert "Claude Code does not call hookonce at ConfigChange, " in message
    assert "PreToolUse" in message
    assert "1 of your guards does not protect you: no-rm: " in message
    assert "no-rm: " in (broken := start("{"))
    assert "does not call hookonce" not in broken
