"""Agent Trace 0.1.0: which lines an agent wrote. Written from file writes, and never read back."""

from collections.abc import Iterator
from typing import Any

from hookonce.base import times
from hookonce.base.file_uris import to_uri
from hookonce.base.jsontext import drop_none
from hookonce.formats._shared.fields import hash_and_length, path_of, qualify_model
from hookonce.formats._shared.rest import EXTENSION_KEY, is_repeat
from hookonce.formats._shared.trace_link import file_changes, trace_record_id
from hookonce.model import Event, Format, Gap, Object, Problem, Record

VERSION = "0.1.0"  # as its text and examples have it; its own schema wants two numbers
_MAX_MODEL_CHARS = 250
_FIELDS = {
    "record": frozenset({"version", "id", "timestamp", "vcs", "tool", "files", "metadata"}),
    "tool": frozenset({"name", "version"}),
    "file": frozenset({"path", "conversations"}),
    "conversation": frozenset({"url", "contributor", "ranges", "related"}),
    "contributor": frozenset({"type", "model_id"}),
    "range": frozenset({"start_line", "end_line", "content_hash", "contributor"}),
}
_NESTED_LEVELS = {
    "record": {"tool": "tool", "files": "file"},
    "file": {"conversations": "conversation"},
    "conversation": {"contributor": "contributor", "ranges": "range"},
    "range": {"contributor": "contributor"},
}
_OLD_FIELD_NOTES = {
    ("contributor", "model"): "an older spelling of model_id",
    ("tool", "session_id"): "the session belongs in metadata",
}


def write(record: Record) -> list[Object]:
    """One trace record for all files that the event has written; none where there are none."""
    event = record.event
    if is_repeat(event):
        return []
    changes = file_changes(event)
    if not changes:
        return []
    return [
        {
            "version": VERSION,
            "id": trace_record_id(event),
            "timestamp": times.to_utc(event.time),
            "tool": {"name": event.agent, "version": event.agent_version or "unknown"},
            "files": [_file_document(event, change) for change in changes],
            "metadata": _metadata(event),
        }
    ]


def _file_document(event: Event, change: Event) -> Object:
    conversation: Object = {"contributor": _contributor(event), "ranges": _ranges(event, change)}
    transcript = event.data.get("transcript_path")
    if type(transcript) is str and transcript:
        conversation = {"url": to_uri(transcript), **conversation}
    return {"path": _relative_path(path_of(change) or "", event.cwd), "conversations": [conversation]}


def _contributor(event: Event) -> Object:
    """A file watcher sees that a file changed and not by whom; a tool call is the agent's own."""
    is_watcher = event.tool is None and event.origin is None and event.derived_from is None
    if is_watcher and "tool_call_id" not in event.data:
        return {"type": "unknown"}
    model = event.model and qualify_model(event.model)
    return {"type": "ai", "model_id": model} if model and len(model) <= _MAX_MODEL_CHARS else {"type": "ai"}


def _ranges(event: Event, change: Event) -> list[Object]:
    start_line, end_line = change.data.get("start_line"), change.data.get("end_line")
    if type(start_line) is not int or type(end_line) is not int or not 1 <= start_line <= end_line:
        return []
    content = event.tool.input.get("content") if event.tool is not None else None
    hash_field = {} if content is None else {"content_hash": hash_and_length(content)[0]}
    return [{"start_line": start_line, "end_line": end_line, **hash_field}]


def _relative_path(path: str, cwd: str | None) -> str:
    """The path from the working directory, which is as near to the repository's root as an event knows."""
    root = (cwd or "").rstrip("/\\")
    if root and path.startswith((root + "/", root + "\\")):
        path = path[len(root) + 1 :]
        return path if root.startswith("/") else path.replace("\\", "/")
    return path.removeprefix("./") or path


def _metadata(event: Event) -> Object:
    call = event.data.get("tool_call_id") if event.tool is None else event.tool.call_id
    own_fields = {"event": event.id, "type": event.type, "turn": event.turn, "tool_call_id": call}
    return drop_none({"session_id": event.session, EXTENSION_KEY: drop_none(own_fields)})


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What a schema cannot express; unknown fields are problems only in strict mode."""
    problems: list[Problem] = []
    doubts: list[Problem] = []
    notes: list[Problem] = []
    for level, part, where in _parts(doc):
        unknown = sorted(part.keys() - _FIELDS[level])
        doubts += [(f"{where}.{key}", _OLD_FIELD_NOTES.get((level, key), "unknown field")) for key in unknown]
        if level == "range" and _is_reversed(part):
            problems.append((f"{where}.end_line", "the range ends before it begins"))
        if level == "file" and type(part.get("path")) is str and part["path"].startswith("/"):
            notes.append((f"{where}.path", "the file lies outside of the repository, or its root is not known"))
    return (problems + doubts, notes) if strict else (problems, doubts + notes)


def _is_reversed(part: Object) -> bool:
    start_line, end_line = part.get("start_line"), part.get("end_line")
    return type(start_line) is int and type(end_line) is int and end_line < start_line


def _parts(part: Any, level: str = "record", where: str = "$") -> Iterator[tuple[str, Object, str]]:
    if type(part) is not dict:
        return
    yield level, part, where
    for key, inner_level in _NESTED_LEVELS.get(level, {}).items():
        value = part.get(key)
        if type(value) is not list:
            yield from _parts(value, inner_level, f"{where}.{key}")
            continue
        for index, item in enumerate(value):
            yield from _parts(item, inner_level, f"{where}.{key}[{index}]")


# What a trace of lines says nothing about.
_OMITTED_FIELDS = """
    $.event.turn $.event.subagent $.event.parent_session $.event.received $.event.prompt $.event.usage $.event.mode
    $.event.user $.event.actor $.event.caused_by $.event.tool.native $.event.tool.native_input $.event.tool.call_id
    $.event.tool.mcp_server $.event.tool.result.exit_code $.event.tool.result.error
    $.event.tool.result.duration_ms $.event.tool.result.output $.decision $.risk $.runs
"""
_GAPS = (
    ("$.event.type", "narrowed", "only writes of files have a place"),
    ("$.files[].path", "narrowed", "paths begin at the working directory, not at the repository"),
    ("$.files[].conversations[].ranges", "narrowed", "an edit tells no line numbers"),
    ("$.vcs", "assumed", "a hook does not get the revision"),
    ("$.tool.version", "assumed", "unknown where the agent does not tell its version"),
    ("$", "write only", "Agent Trace is never read back"),
)

FORMAT = Format(
    name="agent-trace",
    title="Agent Trace",
    versions=(VERSION,),
    mime="application/vnd.agent-trace.record+json",
    write=write,
    check=check,
    lacks=frozenset({"decision", "risk", "runs", "user"}),
    gaps=(
        *(Gap(where=where, strategy="left out") for where in _OMITTED_FIELDS.split()),
        *(Gap(where=where, strategy=strategy, note=note) for where, strategy, note in _GAPS),
    ),
)
