"""Which OCSF class an event belongs to, which activity of it, and the objects that the class is about."""

from typing import NamedTuple
from urllib.parse import urlsplit

from hookonce.canon.events import FILE_FATES
from hookonce.formats._files import written
from hookonce.formats._model import provider_of
from hookonce.formats._read import given
from hookonce.model import Event, Object, Tool

BASE, FILE, PROCESS, HTTP, WEB, LIFECYCLE, API, ERROR = 0, 1001, 1007, 4002, 6001, 6002, 6003, 6008
OTHER = 99
HERE = "localhost"  # a hook is not told the name of its machine
_CREATE, _READ, _UPDATE, _DELETE = 1, 2, 3, 4
_LAUNCH, _TERMINATE = 1, 2
_START, _STOP = 3, 4
_GET, _SEARCH, _GENERAL = 3, 5, 1
_REGULAR, _UNKNOWN = 1, 0

_OPERATIONS = {"create": _CREATE, "update": _UPDATE, "delete": _DELETE}
_FATES = {kind: _OPERATIONS[operation] for kind, operation, _ in FILE_FATES}
_FILES = {"file_read": _READ, "file_write": _UPDATE, "file_edit": _UPDATE}
_LOOKS = frozenset({"search", "find"})
_TOUCHED = {**_FATES, "file_changed": _UNKNOWN, "instructions_loaded": _READ, "config_change": _UPDATE}
_LIVES = {
    **dict.fromkeys(("session_start", "subagent_start"), _START),
    **dict.fromkeys(("session_end", "session_abort", "subagent_stop"), _STOP),
}
_ENDED = frozenset({"after_tool_execute", "tool_use_failure"})
_MODEL = frozenset({"before_model", "after_model"})
_ERRORS = frozenset({"error_occurred", "model_failed"})


class Subject(NamedTuple):
    """A class, an activity of it (with our own word for it where it has none), and its objects."""

    class_uid: int
    activity_id: int
    label: str | None
    objects: Object


def subjects(event: Event) -> list[Subject]:
    """What the event is about: one thing, or several files."""
    kind, tool = event.type, event.tool
    if tool is not None:
        return _of_tool(event, tool)
    path = event.data.get("path")
    if kind in _TOUCHED and type(path) is str and path:
        return [Subject(FILE, _TOUCHED[kind], None, {"file": _file(path, event.cwd)})]
    if kind in _LIVES:
        return [Subject(LIFECYCLE, _LIVES[kind], None, {"application": _application(event)})]
    if kind in _ERRORS:
        return [Subject(ERROR, _GENERAL, None, {})]
    if kind in _MODEL:
        service = event.model and provider_of(event.model)
        return [_call(event, "chat", service, event.id, None)]
    return [Subject(BASE, OTHER, kind, {})]


def _of_tool(event: Event, tool: Tool) -> list[Subject]:
    if tool.name == "shell":
        return [_process(event, tool)]
    if tool.name in _FILES and (files := [file for file in written(tool) if file["path"]]):
        return [_touch(event, tool, file) for file in files]
    if tool.name in _LOOKS and (path := tool.input.get("path") or event.cwd) and type(path) is str:
        return [Subject(FILE, _READ, None, {"file": _file(path, event.cwd, _UNKNOWN)})]
    if tool.name == "web_fetch" and (page := _page(tool.input.get("url"))):
        return [Subject(HTTP, _GET, None, page)]
    if tool.name == "web_search" and type(query := tool.input.get("query")) is str:
        resource = {"name": query, "type": "search query"}
        return [Subject(WEB, _SEARCH, None, {"web_resources": [resource], "src_endpoint": {"hostname": HERE}})]
    operation = tool.name.partition("/")[2] or tool.native
    return [_call(event, operation, tool.mcp_server, tool.call_id or event.id, tool.input)]


def _process(event: Event, tool: Tool) -> Subject:
    """A command that is to run is a launch; one that has run is an exit."""
    command = tool.input.get("command")
    process: Object = {
        "cmd_line": command if type(command) is str else "",
        "uid": tool.call_id or event.id,
    }
    if event.cwd is not None:
        process["working_directory"] = event.cwd
    objects: Object = {"process": process}
    if tool.result is not None and tool.result.exit_code is not None:
        objects["exit_code"] = tool.result.exit_code
    return Subject(PROCESS, _TERMINATE if event.type in _ENDED else _LAUNCH, None, objects)


def _touch(event: Event, tool: Tool, file: Object) -> Subject:
    activity = _OPERATIONS.get(file.get("operation", ""), _FILES[tool.name])
    return Subject(FILE, activity, None, {"file": _file(file["path"], event.cwd)})


def _file(path: str, cwd: str | None, kind: int = _REGULAR) -> Object:
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    rooted = path[:1] in "/\\~" or path[1:2] == ":" or "://" in path
    full = path if rooted or not cwd else f"{cwd.rstrip('/')}/{path}"
    return {"name": name or path, "path": full, "type_id": kind}


def _page(url: object) -> Object | None:
    """Request and server of a fetch; None for what is no address on a host."""
    if type(url) is not str:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    told = given({"scheme": parts.scheme, "hostname": host, "port": port, "path": parts.path or None})
    return {
        "http_request": {"http_method": "GET", "url": {"url_string": url, **told}},
        "dst_endpoint": given({"hostname": host, "port": port}),
        "src_endpoint": {"hostname": HERE},
    }


def _call(event: Event, operation: str, service: str | None, uid: str, arguments: Object | None) -> Subject:
    api: Object = {"operation": operation, "request": {"uid": uid}}
    if service:
        api["service"] = {"name": service}
    if arguments:
        api["request"]["data"] = arguments
    return Subject(API, OTHER, "Call", {"api": api, "src_endpoint": {"hostname": HERE}})


def _application(event: Event) -> Object:
    subagent = event.subagent
    if subagent is not None and event.type.startswith("subagent_"):
        return given({"name": subagent.type or event.agent, "uid": subagent.id})
    return given({"name": event.agent, "version": event.agent_version})
