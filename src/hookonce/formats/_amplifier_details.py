"""What an Amplifier event says beside its envelope: the fields that the registry of events asks for."""

from posixpath import join
from re import compile as pattern
from urllib.parse import quote

from hookonce.canon.events import FILE_FATES
from hookonce.formats._place import to_uri
from hookonce.formats._read import given, whole
from hookonce.formats._text import is_left_out, measured
from hookonce.model import Event, Json, Object, Result, Tool

CAPABILITIES = {
    "shell": "exec.spawn",
    "file_read": "fs.read",
    "search": "fs.read",
    "find": "fs.read",
    "file_write": "fs.write",
    "file_edit": "fs.write",
    "web_fetch": "net.fetch",
    "web_search": "net.fetch",
}

_DRIVE = pattern(r"[A-Za-z]:[\\/]")
_OPERATIONS = {kind: operation for kind, operation, _ in FILE_FATES}
_ABOVE = frozenset({"component", "status", "request_id", "span_id", "duration_ms", "error", "error_type"})


def fill(event: Event, name: str, document: Object, data: Object) -> None:
    """Put what is known of an event into the document and into its `data`."""
    told = event.data
    if event.tool is not None:
        _call(event, event.tool, document, data)
    elif "error" in told or "error_type" in told:
        document["status"] = "error"
        document["error"] = _error(event, told.get("error"))
    if name in _FURTHER:
        _FURTHER[name](event, document, data)
    if event.agent == "amplifier":
        _passed_on(told, document, data)


def _call(event: Event, tool: Tool, document: Object, data: Object) -> None:
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
    if (duration := whole(result.duration_ms)) is not None:
        document["duration_ms"] = duration
    if ok is False:
        document["error"] = _error(event, result.error, result.exit_code)


def _error(event: Event, text: Json, exit_code: int | None = None) -> Object:
    """Error v1. Agents have no codes of their own: what nobody named is `internal`."""
    kind, told = event.data.get("error_type"), event.data.get("error")
    details = told.get("details") if type(told) is dict else None
    if exit_code is not None:
        details = {"exit_code": exit_code}
    error: Object = {"code": kind if type(kind) is str else "internal", "message": _message(text, exit_code)}
    return error | {"details": details} if type(details) is dict else error


def _message(text: Json, exit_code: int | None) -> str:
    if type(text) is dict and "message" in text:
        text = text["message"]
    if is_left_out(text):
        mark, length = measured(text)
        return f"left out: {length} characters, {mark}"
    if type(text) is str:
        return text
    return "no message" if exit_code is None else f"exit code {exit_code}"


def _artifact(event: Event, document: Object, data: Object) -> None:
    path = event.data.get("path")
    if type(path) is str:
        data["uri"] = _uri(path, event.cwd or "")
        data["path"] = path
    data |= given({"operation": _OPERATIONS.get(event.type), "bytes": whole(event.data.get("bytes"))})


def _uri(path: str, cwd: str) -> str:
    """A relative path lies beneath the working directory; where nobody names one, it stays relative."""
    place = path if _DRIVE.match(path) else join(cwd, path)
    located = place[:1] == "/" or "://" in place or _DRIVE.match(place)
    return to_uri(place) if located else quote(place, errors="surrogatepass")


def _fork(event: Event, document: Object, data: Object) -> None:
    above = event.subagent.parent if event.subagent is not None else None
    if parent := event.parent_session or above or event.session:
        data["parent"] = parent


def _policy(event: Event, document: Object, data: Object) -> None:
    if event.type == "policy_blocked":
        document["status"] = "denied"
    if event.tool is not None and event.tool.name in CAPABILITIES:
        data["capability"] = CAPABILITIES[event.tool.name]


_FURTHER = {"artifact:write": _artifact, "session:fork": _fork, "policy:decision": _policy}


def _passed_on(told: Object, document: Object, data: Object) -> None:
    """What a kernel's own event said goes back to where it stood."""
    document |= {key: told[key] for key in ("status", "request_id", "span_id") if type(told.get(key)) is str}
    if (duration := whole(told.get("duration_ms"))) is not None:
        document["duration_ms"] = duration
    data |= {key: value for key, value in told.items() if key not in _ABOVE}
