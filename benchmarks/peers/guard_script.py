"""The README's guard as a script of one's own, with nothing but Python's library."""

import json
import sys

call = json.load(sys.stdin)
if call["tool_name"] == "Bash" and "rm -rf" in call["tool_input"]["command"]:
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "not here",
    }
    print(json.dumps({"hookSpecificOutput": decision}))
