"""Encoder of Cline payloads, and the shapes of its tools that take lists of commands, files or queries."""

import re
from collections.abc import Callable
from contextlib import suppress
from shlex import join as shell_join
from typing import Any

from hookonce.agents._config.provider_data import without_keys
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.base.jsontext import as_dict, drop_none, dump, load_leniently, select_keys
from hookonce.base.regex import lazy_pattern
from hookonce.model import Event, Object, Result, Tool
from hookonce.vocabulary.tools import WRITE_TOOLS


def list_entries(arguments: Object, *names: str) -> list[Any]:
    """Entries of the first argument that is present: a list, the JSON text of a list, or a single entry."""
    value: Any = next((arguments[name] for name in names if arguments.get(name) is not None), [])
    if type(value) is str and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            value = load_leniently(value)
    return value if type(value) is list else [value]


def shape_commands(name: str, arguments: Object) -> tuple[str, Object]:
    """Shape a list of commands: `commands`, and `command` with one per line."""
    entries = list_entries(arguments, "commands", "cmd", "input") or [arguments]
    if not (lines := [line for entry in entries if (line := _command_line(entry))]):
        return name, arguments
    return name, without_keys(arguments, "cmd", "input", "args") | {"commands": lines, "command": "\n".join(lines)}


def _command_line(entry: Any) -> str | None:
    if type(entry) is not dict:
        return tool_calls.as_text(entry)
    program, arguments = entry.get("command"), entry.get("args")
    if type(program) is not str:
        return None
    return shell_join([program, *map(str, arguments)]) if type(arguments) is list and arguments else program


def shape_files(name: str, arguments: Object) -> tuple[str, Object]:
    """Shape a list of files to read; with `path` beside it if there is only one."""
    entries = list_entries(arguments, "files", "file_paths", "paths", "input") or [arguments]
    if not (spans := [file for entry in entries if (file := _file_span(entry))]):
        return name, arguments
    other_arguments = without_keys(arguments, "file_paths", "paths", "input", "start_line", "end_line")
    return name, other_arguments | {"files": spans} | (spans[0] if len(spans) == 1 else {})


def _file_span(entry: Any) -> Object:
    path = entry.get("path") if type(entry) is dict else entry
    if type(path) is not str:
        return {}
    fields = as_dict(entry)
    return {"path": path} | tool_calls.line_span(fields.get("start_line"), fields.get("end_line"))


def shape_queries(source: str, *keys: str) -> Callable[[str, Object], tuple[str, Object]]:
    """Shape function for a list of objects, or of texts for the first key; each key gets all values, one per line."""

    def shape(name: str, arguments: Object) -> tuple[str, Object]:
        entries = list_entries(arguments, source, "input")
        entries = [entry if type(entry) is dict else {keys[0]: entry} for entry in entries]
        for key in keys:
            if texts := [text for entry in entries if type(text := entry.get(key)) is str]:
                arguments = arguments | {key: "\n".join(texts)}
        return name, arguments

    return shape


EXIT_CODE_PATTERN = lazy_pattern(r"^Command exited with code (-?\d{1,10})$", re.MULTILINE)
NUMBER_DIGITS_LIMIT = 16  # longer numbers are no counts and no times
TASK_METADATA_KEYS = ("initialTask", "result", "completionStatus")
BLOCK_KEYS = {
    "userPromptSubmit": ("prompt", "attachments"),
    "turn": ("outputText", "status"),
    "preCompact": ("compactionStrategy",),
    "notification": ("event", "source", "message"),
    "model": ("provider", "slug"),
} | dict.fromkeys(("taskStart", "taskResume", "taskComplete", "taskCancel"), TASK_METADATA_KEYS)
_EVENT_BLOCKS = name_table(
    "prompt_submit=userPromptSubmit agent_end=turn PreCompact=preCompact Notification=notification"
)
_TASK_BLOCKS = name_table("agent_start=taskStart agent_resume=taskResume agent_end=taskComplete agent_abort=taskCancel")
_QUERY_ARGUMENTS = name_table(
    "run_commands=command read_files=path editor=path apply_patch=path search_codebase=pattern fetch_web_content=url"
)


def wrap(flat: Object, event: Event) -> Object:
    """The payload of the command line, which also carries the legacy blocks of the editor."""
    payload = _build_envelope(flat, event)
    if event.tool is not None:
        payload |= _build_tool_blocks(flat, event.tool, own=event.agent == "cline")
    for block in ("model", _EVENT_BLOCKS.get(flat["hookName"], "model")):
        if fields := select_keys(flat, *BLOCK_KEYS[block]):
            payload[block] = fields
    if event.type == "error_occurred":
        error_keys = (("name", "errorName"), ("message", "error"), ("stack", "stack"))
        payload["error"] = {name: flat[key] for name, key in error_keys if key in flat}
    if task := _TASK_BLOCKS.get(payload["hookName"]):
        status = flat.get("status") if event.type == "interrupt" else None
        metadata = {"initialTask": flat.get("initialTask"), "completionStatus": status}
        payload[task] = {"taskMetadata": drop_none(metadata)}
    return payload


def _build_envelope(flat: Object, event: Event) -> Object:
    session, turn = flat.get("rootSessionId"), flat.get("taskId") or flat.get("rootSessionId") or ""
    task, _, count = turn.rpartition(":")
    has_iteration = task and count.isdecimal() and len(count) < NUMBER_DIGITS_LIMIT
    is_resume = event.type == "session_start" and event.data.get("source") == "resume"
    payload = {
        "clineVersion": flat.get("clineVersion", ""),
        "hookName": "agent_resume" if is_resume else flat["hookName"],
        "taskId": (task if has_iteration else turn) or None,
        "sessionContext": {"rootSessionId": session},
        "workspaceRoots": flat.get("workspaceRoots") or [flat[key] for key in ("cwd",) if key in flat],
        "userId": "unknown",
        "agent_id": flat.get("agent_id") or flat.get("mainAgent") or "",
        "parent_agent_id": flat.get("parent_agent_id") or (session if event.subagent else None),
    }
    if has_iteration:
        payload["iteration"] = int(count)
    return payload | select_keys(flat, "timestamp", "workspaceInfo", "reason")


def _build_tool_blocks(flat: Object, tool: Tool, *, own: bool) -> Object:
    name, arguments = (tool.native, tool.native_input) if own else _native_call(flat, tool)
    call = {"id": tool.call_id, "name": name, "input": arguments}
    texts = {key: value if type(value) is str else dump(value).decode() for key, value in as_dict(arguments).items()}
    legacy_block: Object = {"toolName": name, "parameters": texts}
    if tool.result is None:
        return {"tool_call": call, "preToolUse": legacy_block}
    output, error, success = _encode_result(name, tool, tool.result, own=own)
    duration_ms = tool.result.duration_ms
    legacy_block |= {"result": tool_calls.as_text(output), "success": success, "executionTimeMs": duration_ms}
    error_fields = {} if error is None else {"error": error}
    call |= {"output": output, "durationMs": duration_ms} | error_fields
    return {"tool_result": call, "postToolUse": legacy_block}


def _native_call(flat: Object, tool: Tool) -> tuple[str, Any]:
    arguments = tool.input
    if tool.name == "shell":
        return "run_commands", {"commands": arguments.get("commands") or [arguments.get("command", "")]}
    if tool.name == "file_read":
        return "read_files", {"files": [_line_range(file) for file in list_entries(arguments, "files") or [arguments]]}
    if tool.name == "search":
        return "search_codebase", {"queries": [arguments.get("pattern", "")]}
    if tool.name == "web_fetch":
        return "fetch_web_content", {"requests": [select_keys(arguments, "url", "prompt")]}
    return _edit_call(arguments) if tool.name in WRITE_TOOLS else (flat["name"], flat.get("input"))


def _edit_call(arguments: Object) -> tuple[str, Object]:
    if "patch" in arguments:
        return "apply_patch", {"input": arguments["patch"]}
    new = arguments.get("content", arguments.get("new_text", ""))
    return "editor", select_keys(arguments, "path", "old_text") | {"new_text": new}


def _line_range(file: Any) -> Object:
    path, first, count = (as_dict(file).get(key) for key in ("path", "offset", "limit"))
    start = {"start_line": first} if type(first) is int else {}
    end = {"end_line": start.get("start_line", 1) + count - 1} if type(count) is int else {}
    return {"path": path if type(file) is dict else file} | start | end


def _encode_result(name: str, tool: Tool, result: Result, *, own: bool) -> tuple[Any, Any, bool]:
    output, error, ok = result.output, result.error, result.ok is not False
    if output is None and error is not None:
        return {"error": error}, error, False
    if tool.name.startswith("mcp:") and not own and type(output) is not dict:
        parts = output if type(output) is list else [{"type": "text", "text": tool_calls.as_text(output) or ""}]
        return {"content": parts}, None, ok
    # The editor does not tell how a command ended; a part of the list always does.
    lacks_exit_code = own and tool.name == "shell" and ok and result.exit_code is None
    if name not in _QUERY_ARGUMENTS or type(output) is not str or lacks_exit_code:
        return output, error, ok
    if result.exit_code and not EXIT_CODE_PATTERN.search(str(error)):
        error = f"Command exited with code {result.exit_code}"
    part = {"query": str(tool.input.get(_QUERY_ARGUMENTS[name], "")), "result": output, "success": ok}
    part |= {} if error is None else {"error": error}
    return part if name in ("editor", "apply_patch") else [part], None, True
