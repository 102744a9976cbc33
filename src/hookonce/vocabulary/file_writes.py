"""File events of a tool call: one derived event per file that it has written."""

from typing import Any

from msgspec.structs import replace

from hookonce.base import ids
from hookonce.model import Event, Object, Tool
from hookonce.vocabulary.events import FILE_EVENTS_BY_OPERATION
from hookonce.vocabulary.tools import WRITE_TOOLS


def build_file_events(event: Event) -> list[Event]:
    """Build one event per file that a finished tool call has written; none for a call that failed."""
    tool = event.tool
    listed_files = event.data.get("files")
    is_shell_patch = tool is not None and tool.name == "shell" and type(listed_files) is list
    if event.type != "after_tool_execute" or tool is None or not (is_shell_patch or tool.name in WRITE_TOOLS):
        return []
    if tool.result is not None and tool.result.ok is False:
        return []
    files = _parse_files(listed_files) if type(listed_files) is list and listed_files else list_written_files(tool)
    return [_build_file_event(event, index, file) for index, file in enumerate(files)]


def list_written_files(tool: Tool) -> list[Object]:
    """Path, operation and line range of each file, as far as the call's own input says."""
    files = tool.input.get("files")
    if type(files) is list and files:
        return _parse_files(files)
    path = tool.input.get("path")
    if type(path) is not str or not path:
        return []
    if tool.name == "file_edit":
        return [{"path": path, "operation": "update"}]
    lines = count_lines(tool.input.get("content"))
    return [{"path": path} | ({"start_line": 1, "end_line": lines} if lines else {})]


def _parse_files(files: list[Any]) -> list[Object]:
    return [_parse_file(file) for file in files if type(file) is dict and type(file.get("path")) is str]


def _parse_file(file: Object) -> Object:
    operation, start_line, end_line = file.get("operation"), file.get("start_line"), file.get("end_line")
    entry: Object = {"path": file["path"]}
    if type(operation) is str and operation in FILE_EVENTS_BY_OPERATION:
        entry["operation"] = operation
    if type(start_line) is int and type(end_line) is int and 1 <= start_line <= end_line:
        entry |= {"start_line": start_line, "end_line": end_line}
    return entry


def count_lines(content: Any) -> int:
    """Line count of a text or of its digest."""
    if type(content) is str:
        return len(content.splitlines())
    lines = content.get("lines") if type(content) is dict else None
    return lines if type(lines) is int else 0


def _build_file_event(event: Event, index: int, file: Object) -> Event:
    data = dict(file, index=index)
    if event.tool is not None and event.tool.call_id:
        data["tool_call_id"] = event.tool.call_id
    return replace(
        event,
        id=ids.derive_id(event.id, "file.write", str(index)),
        type=FILE_EVENTS_BY_OPERATION.get(file.get("operation", ""), "file_changed"),
        tool=None,
        data=data,
        origin=None,
        derived_from=event.id,
        native=None,
    )
