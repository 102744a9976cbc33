"""Amplifier Event v1 envelope: what a kernel logs about sessions, modules, policy and artifacts.

An agent's event is written with the fields that the registry of events asks for, as far as the agent says
them.
"""

from posixpath import join
from re import compile as pattern
from urllib.parse import quote

from hookonce.canon.events import FILE_OPERATIONS
from hookonce.formats._place import to_uri
from hookonce.formats._read import drop_none, as_count
from hookonce.formats._text import is_digest, hash_and_length
from hookonce.model import Event, Json, Object, Result, Tool

CAPABILITY_BY_TOOL = {
    "shell": "exec.spawn",
    "file_read": "fs.read",
    "search": "fs.read",
    "find": "fs.read",
    "file_write": "fs.write",
    "file_edit": "fs.write",
    "web_fetch": "net.fetch",
    "web_search": "net.fetch",
}

_WINDOWS_DRIVE = pattern(r"[A-Za-z]:[\\/]")
_OPERATION_BY_TYPE = {kind: operation for kind, operation, _ in FILE_OPERATIONS}
_ENVELOPE_FIELDS = frozenset({"component", "status", "request_id", "span_id", "duration_ms", "error", "error_type"})


def fill_document(event: Event, name: str, document: Object, data: Object) -> None:
    """Fill the document and its `data` with what is known of an event."""
    event_data = event.data
    if event.tool is not None:
        _fill_call(event, event.tool, document, data)
    elif "error" in event_data or "error_type" in event_data:
        document["status"] = "error"
        document["error"] = _error_object(event, event_data.get("error"))
    if name in _FILLERS:
        _FILLERS[name](event, document, data)
    if event.agent == "amplifier":
        _restore_kernel_fields(event_data, document, data)


def _fill_call(event: Event, tool: Tool, document: Object, data: Object) -> None:
    document["module"] = tool.native
    data["op"] = tool.name
    if tool.call_id is not None:
        data["tool_call_id"] = tool.call_id
    if event.type == "before_tool_execute":
        data["tool_name"] = tool.native
        return
    result = tool.result or Result()
    ok = False if event.type == "tool_use_failure" else result.ok
    if ok is not None:
        document["status"] = "ok" if ok else "error"
    if (duration := as_count(result.duration_ms)) is not None:
        document["duration_ms"] = duration
    if ok is False:
        document["error"] = _error_object(event, result.error, result.exit_code)


def _error_object(event: Event, text: Json, exit_code: int | None = None) -> Object:
    """Error v1. Agents have no codes of their own: what nobody named is `internal`."""
    error_type, error_data = event.data.get("error_type"), event.data.get("error")
    details = error_data.get("details") if type(error_data) is dict else None
    if exit_code is not None:
        details = {"exit_code": exit_code}
    error: Object = {"code": error_type if type(error_type) is str else "internal", "message": _error_message(text, exit_code)}
    return error | {"details": details} if type(details) is dict else error


def _error_message(text: Json, exit_code: int | None) -> str:
    if type(text) is dict and "message" in text:
        text = text["message"]
    if is_digest(text):
        text_hash, length = hash_and_length(text)
        return f"left out: {length} characters, {text_hash}"
    if type(text) is str:
        return text
    return "no message" if exit_code is None else f"exit code {exit_code}"


def _fill_artifact(event: Event, document: Object, data: Object) -> None:
    path = event.data.get("path")
    if type(path) is str:
        data["uri"] = _artifact_uri(path, event.cwd or "")
        data["path"] = path
    data |= drop_none({"operation": _OPERATION_BY_TYPE.get(event.type), "bytes": as_count(event.data.get("bytes"))})


def _artifact_uri(path: str, cwd: str) -> str:
    """A relative path lies beneath the working directory; where nobody names one, it stays relative."""
    full_path = path if _WINDOWS_DRIVE.match(path) else join(cwd, path)
    is_located = full_path[:1] == "/" or "://" in full_path or _WINDOWS_DRIVE.match(full_path)
    return to_uri(full_path) if is_located else quote(full_path, errors="surrogatepass")


def _fill_fork(event: Event, document: Object, data: Object) -> None:
    subagent_parent = event.subagent.parent if event.subagent is not None else None
    if parent := event.parent_session or subagent_parent or event.session:
        data["parent"] = parent


def _fill_policy(event: Event, document: Object, data: Object) -> None:
    if event.type == "policy_blocked":
        document["status"] = "denied"
    if event.tool is not None and event.tool.name in CAPABILITY_BY_TOOL:
        data["capability"] = CAPABILITY_BY_TOOL[event.tool.name]


_FILLERS = {"artifact:write": _fill_artifact, "session:fork": _fill_fork, "policy:decision": _fill_policy}


def _restore_kernel_fields(event_data: Object, document: Object, data: Object) -> None:
    """A kernel's own event gets its fields back where they stood."""
    document |= {key: event_data[key] for key in ("status", "request_id", "span_id") if type(event_data.get(key)) is str}
    if (duration := as_count(event_data.get("duration_ms"))) is not None:
        document["duration_ms"] = duration
    data |= {key: value for key, value in event_data.items() if key not in _ENVELOPE_FIELDS}
