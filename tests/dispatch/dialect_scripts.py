"""Scripts as people write them for one agent, after its documentation: each refuses `git push`, and nothing else."""

# Shells have no JSON; people use jq, and where there is none, Python.
_FIELD = """python3 -c 'import json,sys; v=json.load(sys.stdin)
for k in sys.argv[1].split("."): v=v[int(k)] if k.isdigit() else v[k]
print(v)'"""

SCRIPTS = {
    "claude-code": ("guard.py", """#!/usr/bin/env python3
import json, os, sys
data = json.load(sys.stdin)
assert data["hook_event_name"] == "PreToolUse" and os.environ["CLAUDE_PROJECT_DIR"]
if data["tool_name"] == "Bash" and "git push" in data["tool_input"].get("command", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "pushes are for people"}}))
"""),
    "codex": ("guard.sh", f"""#!/bin/bash
input=$(cat)
command=$(printf '%s' "$input" | {_FIELD} tool_input.command)
case "$command" in *"git push"*) echo "pushes are for people" >&2; exit 2 ;; esac
"""),
    "gemini-cli": ("guard.sh", f"""#!/usr/bin/env bash
input=$(cat)
[ -d "$GEMINI_PROJECT_DIR" ] || exit 1
tool=$(printf '%s' "$input" | {_FIELD} tool_name)
command=$(printf '%s' "$input" | {_FIELD} tool_input.command)
if [ "$tool" = run_shell_command ] && printf '%s' "$command" | grep -q 'git push'; then
  echo '{{"decision": "deny", "reason": "pushes are for people", "systemMessage": "refused"}}'
  exit 0
fi
echo '{{"decision": "allow"}}'
"""),
    "cursor": ("guard.sh", f"""#!/bin/bash
input=$(cat)
command=$(printf '%s' "$input" | {_FIELD} tool_input.command)
if [[ "$command" == *"git push"* ]]; then
  printf '{{"permission": "deny", "user_message": "pushes are for people", "agent_message": "pushes are for people"}}'
else
  printf '{{"permission": "allow"}}'
fi
"""),
    "copilot-cli": ("guard.sh", f"""#!/bin/bash
input=$(cat)
tool=$(printf '%s' "$input" | {_FIELD} toolName)
command=$(printf '%s' "$input" | {_FIELD} toolArgs.command)
if [ "$tool" = bash ] && echo "$command" | grep -q "git push"; then
  echo '{{"permissionDecision":"deny","permissionDecisionReason":"pushes are for people"}}'
fi
"""),
    "qwen-code": ("guard.py", """#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
push = data["tool_name"] == "run_shell_command" and "git push" in data["tool_input"]["command"]
print(json.dumps({"decision": "deny", "reason": "pushes are for people"} if push else {}))
"""),
    "factory-droid": ("guard.py", """#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
if data.get("tool_name") == "Execute" and "git push" in data.get("tool_input", {}).get("command", ""):
    print("pushes are for people", file=sys.stderr)
    sys.exit(2)
"""),
    "cline": ("PreToolUse", """#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
call = data.get("tool_call") or data.get("preToolUse")
said = json.dumps(call)
print(json.dumps({"cancel": True, "errorMessage": "pushes are for people"} if "git push" in said else {"cancel": False}))
"""),
    "opencode": ("guard.py", """#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
push = data["hook"] == "tool.execute.before" and data["input"]["tool"] == "bash" and "git push" in data["output"]["args"]["command"]
print(json.dumps({"throw": "pushes are for people"} if push else {}))
"""),
}
