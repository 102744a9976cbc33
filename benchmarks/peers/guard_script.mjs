// The README's guard as a script of one's own, with nothing but Node's library.
import { readFileSync } from "node:fs";

const call = JSON.parse(readFileSync(0, "utf8"));
if (call.tool_name === "Bash" && call.tool_input.command.includes("rm -rf")) {
  const decision = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "not here" };
  console.log(JSON.stringify({ hookSpecificOutput: decision }));
}
