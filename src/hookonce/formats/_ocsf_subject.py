"""OCSF 1.9 events for security tools: class, activity, objects, and the security control profile. Write only.

What the framework lacks is declared in the gaps of FORMAT.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from hookonce.canon.events import FILE_OPERATIONS
from hookonce.formats._files import list_written_files
from hookonce.formats._model import provider_of
from hookonce.formats._read import drop_none
from hookonce.model import Event, Object, Tool

BASE_CLASS, FILE_CLASS, PROCESS_CLASS, HTTP_CLASS, WEB_CLASS, LIFECYCLE_CLASS, API_CLASS, ERROR_CLASS = 0, 1001, 1007, 4002, 6001, 6002, 6003, 6008
OTHER_ACTIVITY = 99
HOSTNAME = "localhost"  # a hook is not told the name of its machine
_CREATE, _READ, _UPDATE, _DELETE = 1, 2, 3, 4
_LAUNCH, _TERMINATE = 1, 2
_START, _STOP = 3, 4
_GET, _SEARCH, _GENERAL_ERROR = 3, 5, 1
_REGULAR_FILE, _UNKNOWN = 1, 0

_ACTIVITY_BY_OPERATION = {"create": _CREATE, "update": _UPDATE, "delete": _DELETE}
_ACTIVITY_BY_FILE_EVENT = {kind: _ACTIVITY_BY_OPERATION[operation] for kind, operation, _ in FILE_OPERATIONS}
_ACTIVITY_BY_TOOL = {"file_read": _READ, "file_write": _UPDATE, "file_edit": _UPDATE}
_SEARCH_TOOLS = frozenset({"search", "find"})
_ACTIVITY_BY_EVENT = {**_ACTIVITY_BY_FILE_EVENT, "file_changed": _UNKNOWN, "instructions_loaded": _READ, "config_change": _UPDATE}
_LIFECYCLE_ACTIVITIES = {
    **dict.fromkeys(("session_start", "subagent_start"), _START),
    **dict.fromkeys(("session_end", "session_abort", "subagent_stop"), _STOP),
}
_TOOL_END_TYPES = frozenset({"after_tool_execute", "tool_use_failure"})
_MODEL_TYPES = frozenset({"before_model", "after_model"})
_ERROR_TYPES = frozenset({"error_occurred", "model_failed"})


class OcsfSubject(NamedTuple):
    """An OCSF class, an activity of it (with our own label where it has none), and its objects."""

    class_uid: int
    activity_id: int
    label: str | None
    objects: Object


def classify_event(event: Event) -> list[OcsfSubject]:
    """Classify an event: one subject, or one per file."""
    kind, tool = event.type, event.tool
    if tool is not None:
        return _classify_tool(event, tool)
    path = event.data.get("path")
    if kind in _ACTIVITY_BY_EVENT and type(path) is str and path:
        return [OcsfSubject(FILE_CLASS, _ACTIVITY_BY_EVENT[kind], None, {"file": _file_object(path, event.cwd)})]
    if kind in _LIFECYCLE_ACTIVITIES:
        return [OcsfSubject(LIFECYCLE_CLASS, _LIFECYCLE_ACTIVITIES[kind], None, {"application": _application_object(event)})]
    if kind in _ERROR_TYPES:
        return [OcsfSubject(ERROR_CLASS, _GENERAL_ERROR, None, {})]
    if kind in _MODEL_TYPES:
        service = event.model and provider_of(event.model)
        return [_api_subject(event, "chat", service, event.id, None)]
    return [OcsfSubject(BASE_CLASS, OTHER_ACTIVITY, kind, {})]


def _classify_tool(event: Event, tool: Tool) -> list[OcsfSubject]:
    if tool.name == "shell":
        return [_process_subject(event, tool)]
    if tool.name in _ACTIVITY_BY_TOOL and (files := [file for file in list_written_files(tool) if file["path"]]):
        return [_file_subject(event, tool, file) for file in files]
    if tool.name in _SEARCH_TOOLS and (path := tool.input.get("path") or event.cwd) and type(path) is str:
        return [OcsfSubject(FILE_CLASS, _READ, None, {"file": _file_object(path, event.cwd, _UNKNOWN)})]
    if tool.name == "web_fetch" and (page := _http_objects(tool.input.get("url"))):
        return [OcsfSubject(HTTP_CLASS, _GET, None, page)]
    if tool.name == "web_search" and type(query := tool.input.get("query")) is str:
        resource = {"name": query, "type": "search query"}
        return [OcsfSubject(WEB_CLASS, _SEARCH, None, {"web_resources": [resource], "src_endpoint": {"hostname": HOSTNAME}})]
    operation = tool.name.partition("/")[2] or tool.native
    return [_api_subject(event, operation, tool.mcp_server, tool.call_id or event.id, tool.input)]


def _process_subject(event: Event, tool: Tool) -> OcsfSubject:
    """A command that is to run is a launch; one that has run is a termination."""
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
    return OcsfSubject(PROCESS_CLASS, _TERMINATE if event.type in _TOOL_END_TYPES else _LAUNCH, None, objects)


def _file_subject(event: Event, tool: Tool, file: Object) -> OcsfSubject:
    activity = _ACTIVITY_BY_OPERATION.get(file.get("operation", ""), _ACTIVITY_BY_TOOL[tool.name])
    return OcsfSubject(FILE_CLASS, activity, None, {"file": _file_object(file["path"], event.cwd)})


def _file_object(path: str, cwd: str | None, kind: int = _REGULAR_FILE) -> Object:
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    is_absolute = path[:1] in "/\\~" or path[1:2] == ":" or "://" in path
    full_path = path if is_absolute or not cwd else f"{cwd.rstrip('/')}/{path}"
    return {"name": name or path, "path": full_path, "type_id": kind}


def _http_objects(url: object) -> Object | None:
    """Request and server of a fetch; None for what is no URL with a host."""
    if type(url) is not str:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    url_fields = drop_none({"scheme": parts.scheme, "hostname": host, "port": port, "path": parts.path or None})
    return {
        "http_request": {"http_method": "GET", "url": {"url_string": url, **url_fields}},
        "dst_endpoint": drop_none({"hostname": host, "port": port}),
        "src_endpoint": {"hostname": HOSTNAME},
    }


def _api_subject(event: Event, operation: str, service: str | None, uid: str, arguments: Object | None) -> OcsfSubject:
    api: Object = {"operation": operation, "request": {"uid": uid}}
    if service:
        api["service"] = {"name": service}
    if arguments:
        api["request"]["data"] = arguments
    return OcsfSubject(API_CLASS, OTHER_ACTIVITY, "Call", {"api": api, "src_endpoint": {"hostname": HOSTNAME}})


def _application_object(event: Event) -> Object:
    subagent = event.subagent
    if subagent is not None and event.type.startswith("subagent_"):
        return drop_none({"name": subagent.type or event.agent, "uid": subagent.id})
    return drop_none({"name": event.agent, "version": event.agent_version})
