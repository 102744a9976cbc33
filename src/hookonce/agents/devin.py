"""Devin: its command line, and the local agent of Devin Desktop."""

from re import DOTALL
from re import compile as pattern
from typing import Any

from hookonce.agents import _patch, _tool
from hookonce.agents._family import DETAILS, EVENTS, KEYS, pick
from hookonce.model import Agent, Facts, Result

# Devin frames what a command printed: a headline above it, the exit code as the last line.
_EXIT = pattern(r"\AOutput from command in shell .*\nExit code: (-?\d+)\s*\Z", DOTALL)


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    return _tool.split_mcp(native, "mcp__", "__")


def _result(facts: Facts, name: str) -> Result:
    """Every tool answers with the same three fields; a command that failed still was run with success."""
    answer: Any = facts.get("output")
    if type(answer) is not dict:
        return _tool.plain_result(facts)
    told = _tool.shell_result({"error": answer.get("error")}, name, _EXIT, answer.get("output"))
    if answer.get("success") is not False:
        return told
    return Result(ok=False, exit_code=told.exit_code, error=told.error, output=told.output)


AGENT = Agent(
    name="devin",
    title="Devin",
    source="docs.devin.ai/cli/extensibility/hooks of 2026-09, and payloads published for 3000.2.17 to 3000.11.3",
    checked="2026-11-15",
    proof="documented",
    vendor="ai.devin",
    events=pick(
        EVENTS,
        "PreToolUse",
        "PostToolUse",
        "PermissionRequest",
        "UserPromptSubmit",
        "Stop",
        "SessionStart",
        "SessionEnd",
    )
    | {"PostCompaction": "after_compact"},
    tools={
        "exec": "shell",
        "read": "file_read",
        "notebook_read": "file_read",
        "write": "file_write",
        "edit": "file_edit",
        "apply_patch": "file_edit",
        "notebook_edit": "file_edit",
        "grep": "search",
        "glob": "find",
        "find_file_by_name": "find",
        "web_search": "web_search",
        "webfetch": "web_fetch",
        "run_subagent": "agent",
    },
    arguments={
        "*": {"file_path": "path", "notebook_path": "path"},
        "edit": {"old_string": "old_text", "new_string": "new_text"},
        "apply_patch": {"input": "patch"},
        "notebook_edit": {"new_source": "new_text"},
        "agent": {"task": "prompt", "title": "description", "profile": "type"},
    },
    keys=pick(
        KEYS,
        "hook_event_name",
        "session_id",
        "prompt_id",
        "prompt",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
    ),
    details=pick(DETAILS, "source", "reason", "stop_hook_active", "last_assistant_message") | {"summary": "summary"},
    marks=("DEVIN_PROJECT_DIR",),
    quirks=(
        "No payload tells the working directory or the transcript: the project is in DEVIN_PROJECT_DIR.",
        "Hooks of .claude/settings.json run here too, but matchers for Claude's tool names never match Devin's.",
        "A sub-agent's calls and its Stop arrive in the parent's session, with nothing that tells whose they are.",
        "A call that the user or a hook refused has no PostToolUse.",
        "decision: block on PreToolUse was seen to end the whole turn, not just the call.",
        "Compaction is told only when it is over, and a Stop hook may block without limit.",
    ),
    shapes={"apply_patch": _patch.shape},
    mcp=_mcp,
    mcp_name="mcp__{}__{}".format,
    result=_result,
)
