"""Cline: nested payloads in the words of its command line or of its editor, and tools that take lists."""

from hashlib import sha1
from re import compile as pattern
from typing import Any

from hookonce.agents import _lists, _patch, _tool
from hookonce.agents._cline import ABOUT, DIGITS, EXIT, LEAVES, object_of, wrap
from hookonce.agents._family import EVENTS, pick
from hookonce.agents.configs.cline import parse, render
from hookonce.agents.configs.point import point
from hookonce.agents.replies.cline import read_reply, reply
from hookonce.model import Agent, Config, Facts, Object, Result, Usage

# The names of scripts. The command line's payloads have words of their own for the same events.
_SCRIPTS = {
    "TaskStart": "session_start",
    "TaskResume": "session_start",
    "TaskComplete": "agent_stop",
    "TaskError": "error_occurred",
    "TaskCancel": "interrupt",
    "SessionShutdown": "session_end",
} | pick(EVENTS, "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Notification")
_PLAIN = frozenset({"clineVersion", "hookName", "reason", "agent_id", "parent_agent_id"})
_ODD = pattern(r"[^A-Za-z0-9_-]+")
# Words and dates look like hashes too: only a mixture of letters and digits is taken for one.
_HASH = pattern(r"_(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8}\Z")
_LONGEST = 64  # characters of a tool's name


def _number(value: Any) -> Any:
    """The editor writes its large numbers as text."""
    return int(value) if type(value) is str and value.isdecimal() and len(value) < DIGITS else value


def _unwrap(payload: Object, told: str | None) -> Object:
    """All blocks in one layer; an empty text or list in them tells nothing."""
    flat: Object = {}
    for key, value in payload.items():
        if type(value) is not dict:
            if key in _PLAIN:
                flat[key] = value or None
        elif key in LEAVES:
            about = object_of(value.get("taskMetadata")) if LEAVES[key] is ABOUT else value
            for leaf in LEAVES[key]:
                flat[leaf] = about.get(leaf) or None
    flat["timestamp"] = _number(payload.get("timestamp"))
    flat["workspaceInfo"] = payload.get("workspaceInfo")
    _place(flat, payload)
    _call(flat, payload)
    return flat


def _place(flat: Object, payload: Object) -> None:
    """Session, turn, agent and directory. Every agent has an id, a sub-agent also its parent's."""
    task, count = payload.get("taskId"), payload.get("iteration")
    flat["taskId"] = f"{task}:{count}" if type(task) is str and type(count) is int else task
    root = object_of(payload.get("sessionContext")).get("rootSessionId")
    flat["rootSessionId"] = task if root is None else root
    if flat.get("parent_agent_id") is None:
        flat["mainAgent"] = flat.pop("agent_id", None)
    roots = payload.get("workspaceRoots")
    if type(roots) is not list or not roots:
        roots = [object_of(flat["workspaceInfo"]).get("rootPath")]
    flat["cwd"] = roots[0]
    if len(roots) > 1:
        flat["workspaceRoots"] = roots


def _call(flat: Object, payload: Object) -> None:
    """The tool call, typed where it is told so, or else the error of a run."""
    after = object_of(payload.get("postToolUse"))
    typed = payload.get("tool_result") or payload.get("tool_call")
    error = payload.get("error")
    if type(typed) is dict:
        for key in ("id", "name", "input", "output", "error", "durationMs"):
            flat[key] = typed.get(key)
        flat["success"] = after.get("success")
    elif known := after or object_of(payload.get("preToolUse")):
        flat |= {"name": known.get("toolName"), "input": known.get("parameters"), "output": known.get("result")}
        flat |= {"success": known.get("success"), "durationMs": _number(known.get("executionTimeMs"))}
    elif type(error) is dict:
        flat |= {"error": error.get("message"), "errorName": error.get("name"), "stack": error.get("stack")}
    else:
        flat["error"] = error


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    if facts["kind"] == "session_start":
        if "taskResume" in payload:
            data["source"] = "resume"
        if "subagent_parent" in facts:
            data["repeat"] = True  # the session began before; this is a sub-agent's run
    if facts.get("tool") == "spawn_agent" and (spent := object_of(object_of(facts.get("output")).get("usage"))):
        given, made = spent.get("inputTokens"), spent.get("outputTokens")
        if type(given) is int and type(made) is int:
            facts["usage"] = Usage(input_tokens=given, output_tokens=made)


def _result(facts: Facts, name: str) -> Result:
    """`success` is true for commands that failed: what counts is each part's own word."""
    output, error = facts.get("output"), facts.get("error")
    parts: list[Any] = output if type(output) is list else [output]
    if parts and all(type(part) is dict and "query" in part and type(part.get("success")) is bool for part in parts):
        return _together(parts, output, name)
    said = object_of(output).get("error")
    if error is not None and type(said) is str:  # `error` itself may be no more than "[object Object]"
        return Result(ok=False, error=said)
    failed = error is not None or facts.get("success") is False or object_of(output).get("isError") is True
    return Result(ok=not failed, error=_tool.as_text(error), output=output)


def _together(parts: list[Object], output: Any, name: str) -> Result:
    """One outcome of several commands, files or searches."""
    ok = all(part["success"] for part in parts)
    error = "\n".join(part["error"] for part in parts if type(part.get("error")) is str) or None
    texts = [part.get("result") for part in parts]
    if all(type(text) is str for text in texts):
        output = "\n".join(map(str, texts))
    code = None
    if name == "shell":
        found = EXIT.search(error or "")
        code = int(found[1]) if found else 0 if ok else None
    return Result(ok=ok, exit_code=code, error=error, output=output)


def _editor(name: str, given: Object) -> tuple[str, Object]:
    """Without a text to replace or a line to insert at, the whole file is written."""
    old, line = given.get("old_text"), given.get("insert_line")
    if line == "null":  # how the editor says that there is none
        line, old = None, None if old == "null" else old
    if old is not None or line is not None or "new_text" not in given:
        return name, given
    rest = {key: value for key, value in given.items() if key not in ("old_text", "insert_line", "new_text")}
    return "file_write", rest | {"content": given["new_text"]}


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    server, _, tool = native.rpartition("__")
    return (server, _HASH.sub("", tool) or tool) if server and tool else None


def _mcp_name(server: str, tool: str) -> str:
    """Joined, and marked by a hash if a character had to go or the name is too long."""
    name = f"{server}__{tool}"
    clean = _ODD.sub("_", name)
    if clean == name and len(name) <= _LONGEST:
        return name
    mark = sha1(name.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:8]
    return f"{clean[: _LONGEST - 9]}_{mark}"


AGENT = Agent(
    name="cline",
    title="Cline",
    source="npm package cline 3.0.65 with @cline/core 0.0.86, and the source of 2026-08-22 for the editor's extension",
    checked="2026-11-15",
    proof="captured",
    vendor="bot.cline",
    encodes=True,
    transcripts=(".cline/data/sessions", ".messages.json", {"CLINE_DIR": "data/sessions"}),
    ends="sometimes",  # when it was cancelled
    events={
        "agent_start": "session_start",
        "agent_resume": "session_start",
        "prompt_submit": "before_prompt",
        "tool_call": "before_tool_execute",
        "tool_result": "after_tool_execute",
        "agent_end": "agent_stop",
        "agent_error": "error_occurred",
        "agent_abort": "interrupt",
        "session_shutdown": "session_end",
    }
    | _SCRIPTS,
    tools={
        "run_commands": "shell",
        "read_files": "file_read",
        "editor": "file_edit",
        "apply_patch": "file_edit",
        "search_codebase": "search",
        "fetch_web_content": "web_fetch",
        "spawn_agent": "agent",
        # Names of the extension before it had these.
        "execute_command": "shell",
        "read_file": "file_read",
        "write_to_file": "file_write",
        "replace_in_file": "file_edit",
        "search_files": "search",
    },
    arguments={
        "apply_patch": {"input": "patch"},
        "spawn_agent": {"task": "prompt"},
        "search_files": {"regex": "pattern"},
        "replace_in_file": {"diff": "patch"},
    },
    shapes={
        "run_commands": _lists.commands,
        "read_files": _lists.files,
        "search_codebase": _lists.questions("queries", "pattern"),
        "fetch_web_content": _lists.questions("requests", "url", "prompt"),
        "editor": _editor,
        "apply_patch": _patch.shape,
    },
    keys={
        "hookName": "event",
        "rootSessionId": "session",
        "taskId": "turn",
        "cwd": "cwd",
        "timestamp": "time",
        "slug": "model",
        "prompt": "prompt",
        "clineVersion": "version",
        "name": "tool",
        "input": "input",
        "output": "output",
        "error": "error",
        "success": "success",
        "id": "call_id",
        "durationMs": "duration",
        "agent_id": "subagent",
        "parent_agent_id": "subagent_parent",
    },
    details={
        "outputText": "response",
        "result": "response",
        "status": "status",
        "completionStatus": "status",
        "reason": "reason",
        "initialTask": "initial_prompt",
        "attachments": "attachments",
        "provider": "provider",
        "mainAgent": "agent_id",
        "workspaceRoots": "workspace_roots",
        "workspaceInfo": "workspace",
        "errorName": "error_type",
        "stack": "error_details",
        "compactionStrategy": "strategy",
        "event": "notification_type",
        "source": "source",
        "message": "message",
    },
    marks=("CLINE_BUILD_ENV", "CLINE_CONNECTOR_CLI_LAUNCH"),
    telltales=(frozenset({"clineVersion"}), frozenset({"hookName", "taskId"})),
    quirks=(
        "To cancel one tool is to stop the whole run; in a sub-agent only the sub-agent stops.",
        "On the command line only the two tool hooks are waited for, and exit codes mean nothing.",
        "One call may hold several commands or files: look at each of them.",
        "postToolUse.success is true for a command that failed and for an MCP error.",
        "TaskStart comes with every prompt and every sub-agent; a normal exit ends without SessionShutdown.",
        "Hooks in the project's .clinerules/hooks and .cline/hooks run without anybody's consent.",
        "The editor's extension runs one script for an event, by its exact name, and waits 30 seconds for it.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    mcp=_mcp,
    mcp_name=_mcp_name,
    result=_result,
    wrap=wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        files={"user": "~/Documents/Cline/Hooks/", "project": ".clinerules/hooks/"},
        render=render,
        parse=parse,
        points={
            "PreToolUse": point("prevent rewrite context", cap=120),
            "PostToolUse": point("context stop", cap=120),
            "PreCompact": point(install="never", why="is never called"),
            "Notification": point(install="never", why="is never called"),
        },
        events=_SCRIPTS,
        language="code",
        reads={"user": ("~/.cline/hooks/*",), "project": (".cline/hooks/*",)},
        programs=("cline",),
        capabilities=frozenset({"structured_output", "input_rewrite", "async_execution"})
        | {"custom_env", "configurable_cwd"},
        matching="none of its own; the script compares names",
        timeout=120,
        longest=120,
        handlers={
            "command": {field: field for field in ("command", "cwd", "env", "timeout", "timeout_action")}
            | {"background": "async"}
        },
        closed=("on_failure", "closed"),
        ambiguous={name: ["file_write", "file_edit"] for name in ("editor", "apply_patch")},
    ),
)
