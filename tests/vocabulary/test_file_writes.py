"""A patch that came through the shell has written its files."""

from hookonce.agents import decode, load
from hookonce.vocabulary.file_writes import build_file_events

COMMAND = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.txt\n*** End Patch\nEOF\n"


def files(command, event="PostToolUse"):
    payload = {"hook_event_name": event, "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}, "tool_response": ""}
    events = build_file_events(decode(load("codex"), payload, event, id="1", received="2026-11-16T00:00:00Z"))
    return [(one.type, one.data["path"]) for one in events]


def test_a_patch_in_a_command_lists_its_files():
    """
    Codex carries it out itself; a command that only prints one, or has not run yet, writes nothing.
    """
    assert [("file_created", "a.txt"), ("file_deleted", "b.txt")] == files(COMMAND)
    assert [("file_created", "/x/a.txt"), ("file_deleted", "/x/b.txt")] == files(f'cd "/x" && {COMMAND}')
    assert [] == files("cat <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\nEOF\n")
    assert [] == files(COMMAND, "PreToolUse")
