"""File writes that a tool call tells of, as events of their own."""

from typing import Any

from msgspec.structs import replace

from hookonce import ids
from hookonce.canon.events import FILE_FATES
from hookonce.canon.tools import WRITES
from hookonce.model import Event, Object, Tool

_KINDS = {operation: kind for kind, operation, _ in FILE_FATES}


def file_events(event: Event) -> list[Event]:
    """One event per file that a finished tool call has written; none for a call that failed."""
    tool = event.tool
    if event.type != "after_tool_execute" or tool is None or tool.name not in WRITES:
        return []
    if tool.result is not None and tool.result.ok is False:
        return []
    told = event.data.get("files")
    files = _all(told) if type(told) is list and told else written(tool)
    return [_file_event(event, index, file) for index, file in enumerate(files)]


def written(tool: Tool) -> list[Object]:
    """Path, operation and line range of each file, as far as the call's own input tells them."""
    files = tool.input.get("files")
    if type(files) is list and files:
        return _all(files)
    path = tool.input.get("path")
    if type(path) is not str or not path:
        return []
    if tool.name == "file_edit":
        return [{"path": path, "operation": "update"}]
    lines = _lines(tool.input.get("content"))
    return [{"path": path} | ({"start_line": 1, "end_line": lines} if lines else {})]


def _all(files: list[Any]) -> list[Object]:
    return [_listed(file) for file in files if type(file) is dict and type(file.get("path")) is str]


def _listed(file: Object) -> Object:
    operation, first, last = file.get("operation"), file.get("start_line"), file.get("end_line")
    known: Object = {"path": file["path"]}
    if type(operation) is str and operation in _KINDS:
        known["operation"] = operation
    if type(first) is int and type(last) is int and 1 <= first <= last:
        known |= {"start_line": first, "end_line": last}
    return known


def _lines(content: Any) -> int:
    if type(content) is str:
        return len(content.splitlines())
    lines = content.get("lines") if type(content) is dict else None
    return lines if type(lines) is int else 0


def _file_event(event: Event, index: int, file: Object) -> Event:
    data = dict(file, index=index)
    if event.tool is not None and event.tool.call_id:
        data["tool_call_id"] = event.tool.call_id
    return replace(
        event,
        id=ids.derive(event.id, "file.write", str(index)),
        type=_KINDS.get(file.get("operation", ""), "file_changed"),
        tool=None,
        data=data,
        origin=None,
        derived_from=event.id,
        native=None,
    )
