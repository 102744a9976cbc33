"""A hook as people write them for Claude Code: it reads that agent's payload, and refuses `rm -rf` in its words.

Nothing in it knows of hookonce or of any other agent. It runs as `python -I -S no_removal.py`.
"""

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
