"""How an event is written as a payload of Cline, and the names of the blocks that it is made of."""

from re import MULTILINE
from re import compile as pattern
from typing import Any

from hookonce.agents import _tool
from hookonce.agents._lists import many
from hookonce.canon.tools import WRITES
from hookonce.model import Event, Object, Result, Tool
from hookonce.texts import dump

EXIT = pattern(r"^Command exited with code (-?\d{1,10})$", MULTILINE)
DIGITS = 16  # longer numbers are no counts and no times
ABOUT = ("initialTask", "result", "completionStatus")
LEAVES = {
    "userPromptSubmit": ("prompt", "attachments"),
    "turn": ("outputText", "status"),
    "preCompact": ("compactionStrategy",),
    "notification": ("event", "source", "message"),
    "model": ("provider", "slug"),
    "taskStart": ABOUT,
    "taskResume": ABOUT,
    "taskComplete": ABOUT,
    "taskCancel": ABOUT,
}
_BLOCKS = {
    "prompt_submit": "userPromptSubmit",
    "agent_end": "turn",
    "PreCompact": "preCompact",
    "Notification": "notification",
}
_TASKS = {
    "agent_start": "taskStart",
    "agent_resume": "taskResume",
    "agent_end": "taskComplete",
    "agent_abort": "taskCancel",
}
_LISTING = {
    "run_commands": "command",
    "read_files": "path",
    "editor": "path",
    "apply_patch": "path",
    "search_codebase": "pattern",
    "fetch_web_content": "url",
}


def object_of(value: Any) -> Object:
    """The object, or an empty one where something else stands."""
    return value if type(value) is dict else {}


def wrap(flat: Object, event: Event) -> Object:
    """The command line's form, which also carries the older blocks that the editor writes."""
    payload = _envelope(flat, event)
    if event.tool is not None:
        payload |= _tool_blocks(flat, event.tool, own=event.agent == "cline")
    for block in ("model", _BLOCKS.get(flat["hookName"], "model")):
        if told := {leaf: flat[leaf] for leaf in LEAVES[block] if leaf in flat}:
            payload[block] = told
    if event.type == "error_occurred":
        named = (("name", "errorName"), ("message", "error"), ("stack", "stack"))
        payload["error"] = {name: flat[key] for name, key in named if key in flat}
    if task := _TASKS.get(payload["hookName"]):
        status = flat.get("status") if event.type == "interrupt" else None
        about = {"initialTask": flat.get("initialTask"), "completionStatus": status}
        payload[task] = {"taskMetadata": {key: value for key, value in about.items() if value is not None}}
    return payload


def _envelope(flat: Object, event: Event) -> Object:
    session, turn = flat.get("rootSessionId"), flat.get("taskId") or flat.get("rootSessionId") or ""
    task, _, count = turn.rpartition(":")
    numbered = task and count.isdecimal() and len(count) < DIGITS
    resumed = event.type == "session_start" and event.data.get("source") == "resume"
    payload = {
        "clineVersion": flat.get("clineVersion", ""),
        "hookName": "agent_resume" if resumed else flat["hookName"],
        "taskId": (task if numbered else turn) or None,
        "sessionContext": {"rootSessionId": session},
        "workspaceRoots": flat.get("workspaceRoots") or [flat[key] for key in ("cwd",) if key in flat],
        "userId": "unknown",
        "agent_id": flat.get("agent_id") or flat.get("mainAgent") or "",
        "parent_agent_id": flat.get("parent_agent_id") or (session if event.subagent else None),
    }
    if numbered:
        payload["iteration"] = int(count)
    return payload | {key: flat[key] for key in ("timestamp", "workspaceInfo", "reason") if key in flat}


def _tool_blocks(flat: Object, tool: Tool, *, own: bool) -> Object:
    name, given = (tool.native, tool.native_input) if own else _native(flat, tool)
    call = {"id": tool.call_id, "name": name, "input": given}
    texts = {key: value if type(value) is str else dump(value).decode() for key, value in object_of(given).items()}
    old: Object = {"toolName": name, "parameters": texts}
    if tool.result is None:
        return {"tool_call": call, "preToolUse": old}
    output, error, success = _answer(name, tool, tool.result, own=own)
    took = tool.result.duration_ms
    old |= {"result": _tool.as_text(output), "success": success, "executionTimeMs": took}
    said = {} if error is None else {"error": error}
    return {"tool_result": call | {"output": output, "durationMs": took} | said, "postToolUse": old}


def _native(flat: Object, tool: Tool) -> tuple[str, Any]:
    """Another agent's call as Cline would make it."""
    given = tool.input
    if tool.name == "shell":
        return "run_commands", {"commands": given.get("commands") or [given.get("command", "")]}
    if tool.name == "file_read":
        return "read_files", {"files": [_lines(file) for file in many(given, "files") or [given]]}
    if tool.name == "search":
        return "search_codebase", {"queries": [given.get("pattern", "")]}
    if tool.name == "web_fetch":
        return "fetch_web_content", {"requests": [{key: given[key] for key in ("url", "prompt") if key in given}]}
    return _edit(given) if tool.name in WRITES else (flat["name"], flat.get("input"))


def _edit(given: Object) -> tuple[str, Object]:
    if "patch" in given:
        return "apply_patch", {"input": given["patch"]}
    new = given.get("content", given.get("new_text", ""))
    return "editor", {key: given[key] for key in ("path", "old_text") if key in given} | {"new_text": new}


def _lines(file: Any) -> Object:
    path, first, count = (object_of(file).get(key) for key in ("path", "offset", "limit"))
    start = {"start_line": first} if type(first) is int else {}
    end = {"end_line": start.get("start_line", 1) + count - 1} if type(count) is int else {}
    return {"path": path if type(file) is dict else file} | start | end


def _answer(name: str, tool: Tool, result: Result, *, own: bool) -> tuple[Any, Any, bool]:
    """What the tool said, its error and whether the call as such went well."""
    output, error, ok = result.output, result.error, result.ok is not False
    if output is None and error is not None:
        return {"error": error}, error, False
    if tool.name.startswith("mcp:") and not own and type(output) is not dict:
        parts = output if type(output) is list else [{"type": "text", "text": _tool.as_text(output) or ""}]
        return {"content": parts}, None, ok
    # The editor does not tell how a command ended; a part of the list always does.
    unsaid = own and tool.name == "shell" and ok and result.exit_code is None
    if name not in _LISTING or type(output) is not str or unsaid:
        return output, error, ok
    if result.exit_code and not EXIT.search(str(error)):
        error = f"Command exited with code {result.exit_code}"
    part = {"query": str(tool.input.get(_LISTING[name], "")), "result": output, "success": ok}
    part |= {} if error is None else {"error": error}
    return part if name in ("editor", "apply_patch") else [part], None, True
