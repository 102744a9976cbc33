"""Agent table and decoder of Cline: nested payloads of its command line or editor, tools that take lists."""

from hashlib import sha1
from typing import Any

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import EVENTS, key_sets, name_table, pick
from hookonce.agents.cline import encode
from hookonce.agents.cline.encode import BLOCK_KEYS, EXIT_CODE_PATTERN, NUMBER_DIGITS_LIMIT, TASK_METADATA_KEYS, wrap
from hookonce.agents.cline.reply import read_reply, reply
from hookonce.base.jsontext import as_dict
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Config, Facts, Object, Result, Usage

# The names of scripts. The command line's payloads have words of their own for the same events.
_SCRIPT_EVENTS = name_table(
    "TaskStart=session_start TaskResume=session_start TaskComplete=agent_stop TaskError=error_occurred "
    "TaskCancel=interrupt SessionShutdown=session_end"
) | pick(EVENTS, "UserPromptSubmit PreToolUse PostToolUse PreCompact Notification")
_TOP_LEVEL_KEYS = frozenset({"clineVersion", "hookName", "reason", "agent_id", "parent_agent_id"})
_UNSAFE_CHARACTERS = lazy_pattern(r"[^A-Za-z0-9_-]+")
# Words and dates look like hashes too: only a mixture of letters and digits is taken for one.
_HASH_SUFFIX = lazy_pattern(r"_(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8}\Z")
_MAX_TOOL_NAME_CHARS = 64  # characters of a tool's name


def _parse_number(value: Any) -> Any:
    """The editor writes large numbers as text."""
    return int(value) if type(value) is str and value.isdecimal() and len(value) < NUMBER_DIGITS_LIMIT else value


def _unwrap(payload: Object, event_hint: str | None) -> Object:
    """Flatten all blocks; an empty text or list counts as absent."""
    flat: Object = {}
    for key, value in payload.items():
        if type(value) is not dict:
            if key in _TOP_LEVEL_KEYS:
                flat[key] = value or None
        elif key in BLOCK_KEYS:
            block = as_dict(value.get("taskMetadata")) if BLOCK_KEYS[key] is TASK_METADATA_KEYS else value
            for field_name in BLOCK_KEYS[key]:
                flat[field_name] = block.get(field_name) or None
    flat["timestamp"] = _parse_number(payload.get("timestamp"))
    flat["workspaceInfo"] = payload.get("workspaceInfo")
    _add_context(flat, payload)
    _add_tool_call(flat, payload)
    return flat


def _add_context(flat: Object, payload: Object) -> None:
    """Add session, turn, agent and directory. Every agent has an id, a sub-agent also its parent's."""
    task, count = payload.get("taskId"), payload.get("iteration")
    flat["taskId"] = f"{task}:{count}" if type(task) is str and type(count) is int else task
    root = as_dict(payload.get("sessionContext")).get("rootSessionId")
    flat["rootSessionId"] = task if root is None else root
    if flat.get("parent_agent_id") is None:
        flat["mainAgent"] = flat.pop("agent_id", None)
    roots = payload.get("workspaceRoots")
    if type(roots) is not list or not roots:
        roots = [as_dict(flat["workspaceInfo"]).get("rootPath")]
    flat["cwd"] = roots[0]
    if len(roots) > 1:
        flat["workspaceRoots"] = roots


def _add_tool_call(flat: Object, payload: Object) -> None:
    """Add the tool call, from the typed block if there is one, or else the error of a run."""
    after = as_dict(payload.get("postToolUse"))
    call = payload.get("tool_result") or payload.get("tool_call")
    error = payload.get("error")
    if type(call) is dict:
        for key in ("id", "name", "input", "output", "error", "durationMs"):
            flat[key] = call.get(key)
        flat["success"] = after.get("success")
    elif block := after or as_dict(payload.get("preToolUse")):
        flat |= {"name": block.get("toolName"), "input": block.get("parameters"), "output": block.get("result")}
        flat |= {"success": block.get("success"), "durationMs": _parse_number(block.get("executionTimeMs"))}
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
    if facts.get("tool") == "spawn_agent" and (usage := as_dict(as_dict(facts.get("output")).get("usage"))):
        input_tokens, output_tokens = usage.get("inputTokens"), usage.get("outputTokens")
        if type(input_tokens) is int and type(output_tokens) is int:
            facts["usage"] = Usage(input_tokens=input_tokens, output_tokens=output_tokens)


def _result(facts: Facts, name: str) -> Result:
    """`success` is true for commands that failed: what counts is the flag of each part."""
    output, error = facts.get("output"), facts.get("error")
    parts: list[Any] = output if type(output) is list else [output]
    if parts and all(type(part) is dict and "query" in part and type(part.get("success")) is bool for part in parts):
        return _combine_parts(parts, output, name)
    error_text = as_dict(output).get("error")
    if error is not None and type(error_text) is str:  # `error` itself may be no more than "[object Object]"
        return Result(ok=False, error=error_text)
    is_failure = error is not None or facts.get("success") is False or as_dict(output).get("isError") is True
    return Result(ok=not is_failure, error=tool_calls.as_text(error), output=output)


def _combine_parts(parts: list[Object], output: Any, name: str) -> Result:
    ok = all(part["success"] for part in parts)
    error = "\n".join(part["error"] for part in parts if type(part.get("error")) is str) or None
    texts = [part.get("result") for part in parts]
    if all(type(text) is str for text in texts):
        output = "\n".join(map(str, texts))
    code = None
    if name == "shell":
        match = EXIT_CODE_PATTERN.search(error or "")
        code = int(match[1]) if match else 0 if ok else None
    return Result(ok=ok, exit_code=code, error=error, output=output)


def _shape_editor(name: str, arguments: Object) -> tuple[str, Object]:
    """Without `old_text` or `insert_line` the whole file is written."""
    old, line = arguments.get("old_text"), arguments.get("insert_line")
    if line == "null":  # how the editor says that there is none
        line, old = None, None if old == "null" else old
    if old is not None or line is not None or "new_text" not in arguments:
        return name, arguments
    edit_keys = ("old_text", "insert_line", "new_text")
    others = {key: value for key, value in arguments.items() if key not in edit_keys}
    return "file_write", others | {"content": arguments["new_text"]}


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    server, _, tool = native.rpartition("__")
    return (server, _HASH_SUFFIX.sub("", tool) or tool) if server and tool else None


def _mcp_name(server: str, tool: str) -> str:
    """Joined name, with a hash suffix if a character was replaced or the name is too long."""
    name = f"{server}__{tool}"
    clean = _UNSAFE_CHARACTERS.sub("_", name)
    if clean == name and len(name) <= _MAX_TOOL_NAME_CHARS:
        return name
    digest = sha1(name.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:8]
    return f"{clean[: _MAX_TOOL_NAME_CHARS - 9]}_{digest}"


AGENT = Agent(
    name="cline",
    title="Cline",
    source="npm package cline 3.0.65 with @cline/core 0.0.86, and the source of 2026-08-22 for the editor's extension",
    checked="2026-11-15",
    proof="captured",
    vendor="bot.cline",
    encodes=True,
    transcripts=(
        ".cline/data/sessions",
        ".messages.json",
        {"CLINE_SESSION_DATA_DIR": "", "CLINE_DATA_DIR": "sessions", "CLINE_DIR": "data/sessions"},
    ),
    ends="sometimes",  # when it was cancelled
    events=name_table(
        "agent_start=session_start agent_resume=session_start prompt_submit=before_prompt "
        "tool_call=before_tool_execute tool_result=after_tool_execute agent_end=agent_stop "
        "agent_error=error_occurred agent_abort=interrupt session_shutdown=session_end"
    )
    | _SCRIPT_EVENTS,
    tools=name_table(
        "run_commands=shell read_files=file_read editor=file_edit apply_patch=file_edit search_codebase=search "
        "fetch_web_content=web_fetch spawn_agent=agent "
        # Names of the extension before it had these.
        "execute_command=shell read_file=file_read write_to_file=file_write replace_in_file=file_edit "
        "search_files=search"
    ),
    arguments={
        "apply_patch": {"input": "patch"},
        "spawn_agent": {"task": "prompt"},
        "search_files": {"regex": "pattern"},
        "replace_in_file": {"diff": "patch"},
    },
    shape_readers={
        "run_commands": encode.shape_commands,
        "read_files": encode.shape_files,
        "search_codebase": encode.shape_queries("queries", "pattern"),
        "fetch_web_content": encode.shape_queries("requests", "url", "prompt"),
        "editor": _shape_editor,
        "apply_patch": tool_calls.shape_patch,
    },
    keys=name_table(
        "hookName=event rootSessionId=session taskId=turn cwd timestamp=time slug=model prompt "
        "clineVersion=version name=tool input output error success id=call_id durationMs=duration "
        "agent_id=subagent parent_agent_id=subagent_parent"
    ),
    details=name_table(
        "status reason attachments provider source message outputText=response result=response "
        "completionStatus=status initialTask=initial_prompt mainAgent=agent_id workspaceRoots=workspace_roots "
        "workspaceInfo=workspace errorName=error_type stack=error_details compactionStrategy=strategy "
        "event=notification_type"
    ),
    user_key="userId",
    env_markers=("CLINE_BUILD_ENV", "CLINE_CONNECTOR_CLI_LAUNCH"),
    script_words=("clineVersion", "contextModification", "cancel: [tT]rue"),
    signature_keys=key_sets("clineVersion", "hookName taskId"),
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
        render=lazy_function("cline.config", "render"),
        parse=lazy_function("cline.config", "parse"),
        points={
            "PreToolUse": point("prevent rewrite context", hard_timeout_s=120),
            "PostToolUse": point("context stop", hard_timeout_s=120),
            "PreCompact": point(install="never", why="is never called"),
            "Notification": point(install="never", why="is never called"),
        },
        events=_SCRIPT_EVENTS,
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
        fail_closed_key=("on_failure", "closed"),
        ambiguous={name: ["file_write", "file_edit"] for name in ("editor", "apply_patch")},
    ),
)
