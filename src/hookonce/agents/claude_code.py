"""Claude Code."""

from re import compile as pattern
from typing import Any

from hookonce.agents import _tool
from hookonce.agents._batch import calls
from hookonce.agents._entry import COMMAND
from hookonce.agents._family import DETAILS, EVENTS, KEYS
from hookonce.agents._grouped import parse, render
from hookonce.agents._point import point
from hookonce.canon.events import FILE_FATES
from hookonce.model import Agent, Config, Event, Facts, Object, Result

_HUMAN = ("user", "sdk")  # other sources of a prompt are the agent's own: timers, polls, the system
_ASKED = {"type": "type", "prompt": "prompt", "model": "model", "timeout": "timeout", "status_message": "statusMessage"}
_EXIT = pattern(r"\AExit code (\d+)\b")
_FATES = {watched: kind for kind, _, watched in FILE_FATES}
_WATCHED = {kind: watched for kind, _, watched in FILE_FATES}


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """The payload's own word for the server is better than what can be split off the name."""
    found = _tool.split_mcp(native, "mcp__", "__")
    server = facts.get("mcp_server")
    if found and type(server) is dict and type(server.get("name")) is str:
        return server["name"], found[1]
    return found


def _result(facts: Facts, name: str) -> Result:
    """A failed command begins its error with the exit code; a successful one has no code but is 0."""
    output: Any = facts.get("output")
    if name == "shell" and type(output) is dict and type(output.get("stdout")) is str:
        done = not output.get("interrupted")
        return Result(ok=done, exit_code=0 if done else None, output=output["stdout"])
    return _tool.shell_result(facts, name, _EXIT, output)


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    kind = facts["kind"]
    if kind == "file_changed":
        facts["kind"] = _FATES.get(str(payload.get("event")), kind)
    elif kind == "tool_batch":
        data["tool_calls"] = calls(AGENT, payload.get("tool_calls"))
    elif kind == "before_prompt" and payload.get("source", "user") not in _HUMAN:
        facts["actor"] = "ai_agent"
    elif kind == "after_tool_execute" and (file := _file(payload.get("tool_response"))):
        data["files"] = [file]


def _file(response: Any) -> Object | None:
    """What the answer to a write or an edit tells of the file: created or updated, and which lines."""
    if type(response) is not dict or type(response.get("structuredPatch")) is not list:
        return None
    operation = "create" if response.get("type") == "create" else "update"
    file: Object = {"path": response.get("filePath"), "operation": operation}
    hunks = [hunk for hunk in response["structuredPatch"] if type(hunk) is dict]
    spans = [(hunk.get("newStart"), hunk.get("newLines")) for hunk in hunks]
    known = [(first, count) for first, count in spans if type(first) is int and type(count) is int]
    if known and len(known) == len(response["structuredPatch"]):
        file |= {"start_line": min(known)[0], "end_line": max(first + count - 1 for first, count in known)}
    elif operation == "create" and type(text := response.get("content")) is str and text:
        file |= {"start_line": 1, "end_line": len(text.splitlines())}
    return file if type(file["path"]) is str else None


def _wrap(flat: Object, event: Event) -> Object:
    """A hook for this agent expects a command's output as an object, and a file's fate as `event`."""
    if event.type in _WATCHED:
        flat["event"] = _WATCHED[event.type]
    tool = event.tool
    if tool is None or tool.result is None or event.type != "after_tool_execute":
        return flat
    if tool.name == "shell" and type(tool.result.output) is str:
        stopped = tool.result.exit_code is None
        flat["tool_response"] = {"stdout": tool.result.output, "stderr": "", "interrupted": stopped}
    return flat


AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    source="npm package 2.1.325 and its type declarations",
    checked="2026-11-15",
    proof="captured",
    vendor="com.anthropic",
    encodes=True,
    events=EVENTS,
    tools={
        "Bash": "shell",
        "PowerShell": "shell",
        "Read": "file_read",
        "Write": "file_write",
        "Edit": "file_edit",
        "MultiEdit": "file_edit",
        "NotebookEdit": "file_edit",
        "Grep": "search",
        "Glob": "find",
        "WebSearch": "web_search",
        "WebFetch": "web_fetch",
        "Agent": "agent",
        "Task": "agent",
    },
    arguments={
        "*": {"file_path": "path"},
        "shell": {"run_in_background": "background"},
        "file_edit": {"old_string": "old_text", "new_string": "new_text"},
        "NotebookEdit": {"notebook_path": "path", "new_source": "new_text"},
        "agent": {"subagent_type": "type"},
    },
    keys=KEYS,
    details=DETAILS,
    modes={
        "default": "agent",
        "acceptEdits": "agent",
        "bypassPermissions": "agent",
        "dontAsk": "agent",
        "auto": "agent",
        "plan": "plan",
    },
    marks=("CLAUDECODE",),
    home=".claude",
    permission_modes=frozenset({"acceptEdits", "dontAsk"}),
    quirks=(
        "Hooks that match one event run in parallel; deny beats defer, ask and allow.",
        "A hook that crashes or times out is ignored unless the entry says onFailure: block.",
        "Tool output is an object per tool, a string in PostToolBatch, a list of parts for MCP.",
        "PermissionRequest carries no call id.",
    ),
    refine=_refine,
    mcp=_mcp,
    mcp_name="mcp__{}__{}".format,
    result=_result,
    wrap=_wrap,
    config=Config(
        files={
            "user": "~/.claude/settings.json",
            "project": ".claude/settings.json",
            "local": ".claude/settings.local.json",
            "managed": "/etc/claude-code/managed-settings.json",
        },
        render=render,
        parse=parse,
        points={
            "PreToolUse": point("prevent rewrite context", ask="native"),
            "PermissionRequest": point("prevent rewrite"),
            "PostToolUse": point("context"),
            "PostToolBatch": point("prevent context"),
            "UserPromptSubmit": point("prevent context"),
            "UserPromptExpansion": point("prevent context"),
            "SessionStart": point("context"),
            "Stop": point("retry"),
            "SubagentStop": point("retry"),
            "PreCompact": point("prevent"),
            "PreModelSwitch": point("prevent", ask="native"),
            "TaskCreated": point("prevent"),
            "TaskCompleted": point("prevent"),
            "TeammateIdle": point("retry"),
            "ConfigChange": point("prevent"),
            "Elicitation": point("prevent"),
        },
        capabilities=frozenset(
            {"structured_output", "input_rewrite", "llm_evaluated", "http_handler", "async_execution"}
        ),
        handlers={
            "command": {"type": "type"} | COMMAND,
            "http": {"type": "type", "url": "url", "headers": "headers", "allowed_env": "allowedEnvVars"}
            | {"timeout": "timeout", "status_message": "statusMessage"},
            "prompt": _ASKED,
            "agent": _ASKED,
        },
        closed=("onFailure", "block"),
    ),
)
