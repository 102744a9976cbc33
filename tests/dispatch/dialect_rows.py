"""How hooks of each agent answer before a tool is used, as that agent's own documentation or captures have it.

A row is what a script writes: its stdout, its stderr and its exit code. None is where the agent's words cannot say it.
Of exit codes it is told what the agent makes of them: "deny", nothing (None), or "fails" where they are no answer at all.
"""

from typing import Any, NamedTuple


class Row(NamedTuple):
    """One agent's words; of new input only the form, for the names of arguments are in its table."""

    deny: tuple[Any, str, int]
    context: Any = None
    rewrite: Any = None  # a function of the new input
    two: str | None = "deny"
    one: str | None = "fails"
    silence: tuple[str, ...] = ("", "{}")


def _specific(**said):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


_CLAUDE = _specific(permissionDecision="deny", permissionDecisionReason="not this one")
_ADDED = _specific(additionalContext="mind the gap")

ROWS = {
    "amp": Row(deny=({"throw": "not this one"}, "", 0), rewrite=lambda new: {"assign": {"input": new}}, two="fails", silence=("{}",)),
    "antigravity": Row(deny=({"decision": "deny", "reason": "not this one"}, "", 0), one="deny", silence=()),
    "augment": Row(deny=(_CLAUDE, "", 0), rewrite=lambda new: _specific(updatedInput=new)),
    "claude-code": Row(deny=(_CLAUDE, "", 0), context=_ADDED, rewrite=lambda new: _specific(updatedInput=new)),
    "cline": Row(deny=({"cancel": True, "errorMessage": "not this one"}, "", 0), context={"contextModification": "mind the gap"}, rewrite=lambda new: {"overrideInput": new}, two=None, one=None),
    "codex": Row(deny=(_CLAUDE, "", 0), context=_ADDED, rewrite=lambda new: _specific(permissionDecision="allow", updatedInput=new)),
    "copilot-cli": Row(deny=({"permissionDecision": "deny", "permissionDecisionReason": "not this one"}, "", 0), context={"additionalContext": "mind the gap"}, rewrite=lambda new: {"modifiedArgs": new}, one="deny"),
    "cursor": Row(deny=({"permission": "deny", "user_message": "not this one", "agent_message": "not this one"}, "", 0), context={"additional_context": "mind the gap"}, rewrite=lambda new: {"permission": "allow", "updated_input": new}),
    "devin": Row(deny=({"decision": "block", "reason": "not this one"}, "", 0)),
    "factory-droid": Row(deny=("", "not this one", 2), rewrite=lambda new: _specific(permissionDecision="allow", updatedInput=new)),
    "gemini-cli": Row(deny=({"decision": "deny", "reason": "not this one"}, "", 0), rewrite=lambda new: {"hookSpecificOutput": {"tool_input": new}}),
    "kiro": Row(deny=("", "not this one", 2)),
    "opencode": Row(deny=({"throw": "not this one"}, "", 0), rewrite=lambda new: {"assign": {"args": new}}, two="fails", silence=("{}",)),
    "qwen-code": Row(deny=({"decision": "deny", "reason": "not this one"}, "", 0)),
    "vs-code-copilot": Row(deny=(_CLAUDE, "", 0), context=_ADDED, rewrite=lambda new: _specific(permissionDecision="allow", updatedInput=new)),
    "windsurf": Row(deny=("", "not this one", 2)),
}
