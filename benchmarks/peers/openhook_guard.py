"""The README's guard, written with openhook, which reads payloads and leaves the answer to the hook."""

import json
import sys

from openhook import from_legacy

event = from_legacy(json.load(sys.stdin))
call = event.extensions["legacy_payload"]
if call["tool_name"] == "Bash" and "rm -rf" in call["tool_input"]["command"]:
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "not here",
    }
    print(json.dumps({"hookSpecificOutput": decision}))
