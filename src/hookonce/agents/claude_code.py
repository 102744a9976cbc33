"""Claude Code."""

from re import compile as pattern
from typing import Any

from hookonce.agents import _tool
from hookonce.agents._batch import calls
from hookonce.agents._family import DETAILS, EVENTS, KEYS
from hookonce.agents.configs.claude_code import parse, render
from hookonce.agents.configs.entry import COMMAND
from hookonce.agents.configs.point import point
from hookonce.agents.replies.claude_code import read_reply, reply
from hookonce.canon.events import FILE_FATES
from hookonce.model import Agent, Config, Event, Facts, Object, Result

_HUMAN = ("user", "sdk")  # other sources of a prompt are the agent's own: timers, polls, the system
_ASKED = {"type": "type", "prompt": "prompt", "model": "model", "timeout": "timeout", "status_message": "statusMessage"}
_EXIT = pattern(r"\AExit code (\d+)\b")
_MAC = "/Library/Application Support/ClaudeCode/managed-settings"
_TOLD = "context message suppress"
_INSTEAD = "the hook itself, and no longer Claude Code,"
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
    variables={"CLAUDE_PROJECT_DIR": "project", "CLAUDE_CODE_SESSION_ID": "session"},
    home=".claude",
    transcripts=(".claude/projects", ".jsonl", {"CLAUDE_CONFIG_DIR": "projects"}),
    permission_modes=frozenset({"acceptEdits", "dontAsk"}),
    quirks=(
        "Hooks that match one event run in parallel; deny beats defer, ask and allow.",
        "A hook that crashes or times out is ignored unless the entry says onFailure: block.",
        "Tool output is an object per tool, a string in PostToolBatch, a list of parts for MCP.",
        "PermissionRequest carries no call id.",
        "A hook on WorktreeCreate or WorktreeRemove does the work in place of git.",
        "No http hook runs on SessionStart or Setup; no prompt or agent there either, nor on SubagentStart.",
        "SessionEnd has 1.5 seconds, or as long as the longest timeout of its hooks, up to a minute.",
    ),
    refine=_refine,
    mcp=_mcp,
    mcp_name="mcp__{}__{}".format,
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        files={
            "user": "~/.claude/settings.json",
            "project": ".claude/settings.json",
            "local": ".claude/settings.local.json",
            "managed": "/etc/claude-code/managed-settings.json",
        },
        reads={"managed": ("/etc/claude-code/managed-settings.d/*.json", f"{_MAC}.json", f"{_MAC}.d/*.json")},
        render=render,
        parse=parse,
        events={native: kind for native, kind in EVENTS.items() if native != "ErrorOccurred"},
        points={
            # Told to end the turn here, it ends it after the tool has run.
            "PreToolUse": point(f"prevent allow rewrite {_TOLD}", ask="denies_headless"),
            "PermissionRequest": point("prevent allow"),  # new input comes only with an allow
            "PostToolUse": point(f"stop {_TOLD}"),
            "PostToolUseFailure": point(_TOLD),
            "PostToolBatch": point(f"prevent {_TOLD}"),
            "UserPromptSubmit": point(f"prevent stop {_TOLD}"),
            "UserPromptExpansion": point(f"prevent {_TOLD}"),
            "SessionStart": point(_TOLD),
            "SessionEnd": point(cap=60),
            "Setup": point(_TOLD),
            "Stop": point(f"retry stop {_TOLD}"),
            "SubagentStart": point(_TOLD),
            "SubagentStop": point(f"retry stop {_TOLD}"),
            "PreCompact": point("prevent"),
            "PreModelSwitch": point("prevent allow", ask="native"),
            "PostModelSwitch": point("context", cap=5),
            "Notification": point("context"),
            "TaskCreated": point("prevent stop"),
            "TaskCompleted": point("prevent stop"),
            "TeammateIdle": point("retry stop"),
            "ConfigChange": point("prevent"),
            "Elicitation": point("prevent"),
            "ElicitationResult": point("prevent"),
            "WorktreeCreate": point("prevent", install="never", why=f"{_INSTEAD} makes the worktree"),
            "WorktreeRemove": point(install="never", why=f"{_INSTEAD} removes the worktree"),
        },
        programs=("claude",),
        capabilities=frozenset(
            {"structured_output", "input_rewrite", "llm_evaluated", "http_handler", "async_execution"}
        ),
        matching="names joined by bars or commas, else a pattern, unanchored",
        timeout=600,
        handlers={
            "command": {"type": "type"} | COMMAND,
            "http": {"type": "type", "url": "url", "headers": "headers", "allowed_env": "allowedEnvVars"}
            | {"timeout": "timeout", "status_message": "statusMessage"},
            "prompt": _ASKED,
            "agent": _ASKED,
        },
        closed=("onFailure", "block"),
        aside=frozenset({"PowerShell", "MultiEdit", "Task"}),
        switches=(
            ("~/.claude/settings.json", ("disableAllHooks",), True),
            (".claude/settings.json", ("disableAllHooks",), True),
            (".claude/settings.local.json", ("disableAllHooks",), True),
            ("/etc/claude-code/managed-settings.json", ("disableAllHooks",), True),
            ("/etc/claude-code/managed-settings.json", ("allowManagedHooksOnly",), True),
        ),
        trust="Say once, in a terminal, that you trust the folder; until then no hook runs there, not even your own.",
    ),
)
