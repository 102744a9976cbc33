"""Hook script for Claude Code, in its format alone: it refuses `rm -rf`. Runs as `python -I -S claude_hook.py`."""

import json
import sys

REASON = "this script was written for Claude Code, and removes nothing"


def main() -> None:
    """Refuse what removes whole folders."""
    payload = json.load(sys.stdin)
    if "rm -rf" in payload.get("tool_input", {}).get("command", ""):
        answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": REASON}
        print(json.dumps({"hookSpecificOutput": answer}))


if __name__ == "__main__":
    main()
