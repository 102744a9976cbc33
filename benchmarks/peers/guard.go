// The README's guard as a Go program: a stand-in for peers that are written in Go.
package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
)

type call struct {
	ToolName  string `json:"tool_name"`
	ToolInput struct {
		Command string `json:"command"`
	} `json:"tool_input"`
}

type decision struct {
	HookEventName            string `json:"hookEventName"`
	PermissionDecision       string `json:"permissionDecision"`
	PermissionDecisionReason string `json:"permissionDecisionReason"`
}

func main() {
	payload, err := io.ReadAll(os.Stdin)
	var asked call
	if err != nil || json.Unmarshal(payload, &asked) != nil {
		os.Stderr.WriteString("guard: stdin has no JSON of a tool call\n")
		os.Exit(1)
	}
	if asked.ToolName == "Bash" && strings.Contains(asked.ToolInput.Command, "rm -rf") {
		json.NewEncoder(os.Stdout).Encode(map[string]decision{
			"hookSpecificOutput": {"PreToolUse", "deny", "not here"},
		})
	}
}
