"""OpenHook 0.1 envelope: six event types, `context` in the newer text and `cwd` in the first one."""

import re
from functools import partial

from msgspec.structs import replace

from hookonce.base.file_uris import from_uri, is_absolute, resolve_path, to_uri
from hookonce.base.jsontext import drop_none
from hookonce.base.times import has_zone, parse_time
from hookonce.formats._shared import rest as rest_fields
from hookonce.formats._shared.fields import as_count, path_of, read_field, read_usage, require_field, require_time
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.openhook import legacy
from hookonce.model import Digest, Event, Format, Gap, Object, Problem, Record, Result, Tool
from hookonce.vocabulary.events import EVENTS, FILE_EVENTS_BY_OPERATION, FROM_OPENHOOK, OPERATIONS_BY_FILE_EVENT
from hookonce.vocabulary.file_writes import build_file_events
from hookonce.vocabulary.names import AGENT_ALIASES, OPENHOOK_END_REASONS

VERSIONS = ("0.1",)
_SLUG = re.compile(r"[a-z][a-z0-9-]*")
_NOT_SLUG = re.compile(r"[^a-z0-9-]+")
_DOTTED_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_KNOWN_FIELDS = {"openhook", "id", "source", "type", "time", "session_id", "data", "context", "cwd", "extensions"}
_VENDOR_PREFIX = "vendor.openhook."
_build_rest = rest_fields.rest_builder("id", "time", "cwd")
_build_rest_with_cwd = rest_fields.rest_builder("id", "time")


def write(record: Record, cwd_field: str = "context") -> list[Object]:
    """The event, and one `file.write` for each file that it has written."""
    event = record.event
    kind = _document_type(event)
    if kind is None:
        return []
    documents = [_document(event, kind, cwd_field)]
    if event.type == "after_tool_execute":
        documents += [_document(file, "file.write", cwd_field) for file in build_file_events(event)]
    return documents


def _document_type(event: Event) -> str | None:
    """The type of the event's document, if it has one; what OpenHook does not define only goes back to its origin."""
    row = EVENTS.get(event.type)
    if row is not None:
        kind = row.openhook
    else:
        kind = event.type.removeprefix(_VENDOR_PREFIX) if event.type.startswith(_VENDOR_PREFIX) else None
    return None if rest_fields.is_repeat(event) or (kind == "file.write" and not path_of(event)) else kind


def _document(event: Event, kind: str, cwd_field: str) -> Object:
    origin = event.origin
    source = event.agent if _SLUG.fullmatch(event.agent) else _slug(event.agent)
    document: Object = {
        "openhook": "0.1",
        "id": origin.id if origin is not None and origin.id else event.id,
        "source": source,
        "type": kind,
        "time": event.time,
        "session_id": event.session or "",
    }
    if data := _DATA_WRITERS[kind](event) if kind in _DATA_WRITERS else event.data:
        document["data"] = data
    cwd = event.cwd
    if cwd is not None:
        document[cwd_field] = to_uri(cwd) if cwd_field == "context" else cwd
    rest = (_build_rest if cwd is None or cwd[:1] == "/" else _build_rest_with_cwd)(event)
    if source != event.agent:
        rest = replace(rest, agent=event.agent)
    document["extensions"] = {EXTENSION_KEY: rest}
    return document


def _slug(name: str) -> str:
    text = _NOT_SLUG.sub("-", name.lower()).strip("-")
    return text if text[:1].isalpha() and text.isascii() else f"agent-{text}".rstrip("-")


def _session_end_data(event: Event) -> Object:
    data, usage = event.data, event.usage
    path, reason = data.get("transcript_path"), data.get("reason")
    fields = {
        "transcript_path": resolve_path(path, event.cwd) if type(path) is str else None,
        "reason": OPENHOOK_END_REASONS.get(reason) if type(reason) is str else None,
        "model": event.model,
        "duration_ms": as_count(data.get("duration_ms")),
        "input_tokens": usage and as_count(usage.input_tokens),
        "output_tokens": usage and as_count(usage.output_tokens),
    }
    return drop_none(fields)


def _prompt_data(event: Event) -> Object:
    prompt = event.prompt
    if prompt is None:
        return {}
    return {"prompt_length": prompt.length if isinstance(prompt, Digest) else len(prompt)}


def _tool_start_data(event: Event) -> Object:
    tool = event.tool
    if tool is None:
        return {}
    return {"tool_name": tool.native} | ({} if tool.call_id is None else {"tool_call_id": tool.call_id})


def _tool_end_data(event: Event) -> Object:
    data = _tool_start_data(event)
    result = event.tool.result if event.tool is not None else None
    if result is not None and result.ok is not None:
        data["status"] = "success" if result.ok else "error"
    elif event.type == "tool_use_failure":
        data["status"] = "error"
    if result is not None and (duration := as_count(result.duration_ms)) is not None:
        data["duration_ms"] = duration
    return data


def _file_data(event: Event) -> Object:
    data, call_id = event.data, event.data.get("tool_call_id")
    return drop_none(
        {
            "path": path_of(event),
            "operation": OPERATIONS_BY_FILE_EVENT.get(event.type),
            "start_line": as_count(data.get("start_line")) or None,  # the first line is 1
            "end_line": as_count(data.get("end_line")) or None,
            "model": event.model,
            "tool_call_id": call_id if type(call_id) is str else None,
        }
    )


_DATA_WRITERS = {
    "session.start": lambda event: {} if event.model is None else {"model": event.model},
    "session.end": _session_end_data,
    "prompt.submit": _prompt_data,
    "tool.start": _tool_start_data,
    "tool.end": _tool_end_data,
    "file.write": _file_data,
}


def read(doc: Object) -> Record:
    """Parse an event; unknown versions and types are kept and named in the gaps."""
    gaps: list[Gap] = []
    version = require_field(doc, "openhook", str)
    if version not in VERSIONS:
        gaps.append(Gap(where="$.openhook", strategy="best effort", note=f"version {version} is not known"))
    kind, data = require_field(doc, "type", str), read_field(doc, "data", dict) or {}
    if kind == "file.write":
        require_field(data, "path", str, "$.data")
    source, cwd = require_field(doc, "source", str), _read_cwd(doc, gaps)
    defined_data = data if kind in FROM_OPENHOOK else {}  # what a type means that is not defined, only its maker knows
    tool = _read_tool(kind, defined_data)
    used_keys = _EVENT_FIELDS if tool is None else _EVENT_FIELDS | _TOOL_FIELDS
    event = rest_fields.plain_event(
        "openhook",
        doc,
        require_field(doc, "id", str),
        type=_canonical_type(kind, data),
        agent=AGENT_ALIASES.get(source, source),
        session=require_field(doc, "session_id", str) or None,
        time=require_time(doc, "time", gaps),
        cwd=cwd,
        tool=tool,
        model=read_field(defined_data, "model", str, "$.data"),
        usage=read_usage(defined_data),
        data=_remaining_data(kind, defined_data, used_keys, cwd, gaps) if defined_data else data,
    )
    extensions = read_field(doc, "extensions", dict) or {}
    unknown = sorted(doc.keys() - _KNOWN_FIELDS)
    gaps += [Gap(where=f"$.{key}", strategy="kept", note=f"unknown field {key}") for key in unknown]
    return rest_fields.complete_from_rest(FORMAT, Record(event=event, gaps=gaps), doc, extensions.get(EXTENSION_KEY))


_EVENT_FIELDS = frozenset({"model", "input_tokens", "output_tokens"})
_TOOL_FIELDS = frozenset({"tool_name", "tool_call_id", "status", "duration_ms"})


def _canonical_type(kind: str, data: Object) -> str:
    if kind == "file.write":
        operation = data.get("operation")
        return FILE_EVENTS_BY_OPERATION.get(operation, "file_changed") if type(operation) is str else "file_changed"
    if kind == "tool.end" and data.get("status") == "error":
        return "tool_use_failure"
    return FROM_OPENHOOK.get(kind) or _VENDOR_PREFIX + kind


def _remaining_data(kind: str, data: Object, used_keys: frozenset[str], cwd: str | None, gaps: list[Gap]) -> Object:
    """What no field of an event has taken; a transcript's path is made whole where that can be done."""
    details = {key: value for key, value in data.items() if key not in used_keys}
    path = details.get("transcript_path")
    if kind == "session.end" and type(path) is str and not is_absolute(path):
        details["transcript_path"] = resolve_path(path, cwd)
        gaps.append(Gap(where="$.data.transcript_path", strategy="resolved", note="the transcript's path is relative"))
    return details


def _read_cwd(doc: Object, gaps: list[Gap]) -> str | None:
    context, cwd = read_field(doc, "context", str), read_field(doc, "cwd", str)
    if context is None:
        return cwd
    directory = from_uri(context)
    if cwd is not None and cwd != directory:
        gaps.append(Gap(where="$.cwd", strategy="kept", note="cwd and context name different places"))
    return directory


def _read_tool(kind: str, data: Object) -> Tool | None:
    name = read_field(data, "tool_name", str, "$.data") if kind.startswith("tool.") else None
    if name is None:
        return None
    call_id, status = read_field(data, "tool_call_id", str, "$.data"), read_field(data, "status", str, "$.data")
    duration = read_field(data, "duration_ms", float, "$.data")
    has_result = kind == "tool.end" or status is not None or duration is not None
    ok = None if status is None else status == "success"
    result = Result(ok=ok, duration_ms=duration) if has_result else None
    return Tool(name=name, native=name, call_id=call_id, result=result)


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What a schema cannot express; types and fields beyond the closed list are problems only in strict mode."""
    doubts: list[Problem] = []
    kind, time = doc.get("type"), doc.get("time")
    if type(kind) is str and kind not in FROM_OPENHOOK and _DOTTED_TYPE.fullmatch(kind):
        doubts.append(("$.type", f"{kind} is no event type of OpenHook 0.1"))
    problems: list[Problem] = []
    if type(time) is str and parse_time(time) is None:
        problems.append(("$.time", "expected a time such as 2026-02-23T10:15:30Z"))
    elif type(time) is str and not has_zone(time):
        doubts.append(("$.time", "the time has no zone; UTC is assumed"))
    doubts += [(f"$.{key}", "unknown field") for key in sorted(doc.keys() - _KNOWN_FIELDS)]
    notes: list[Problem] = []
    if doc.get("openhook") not in VERSIONS:
        notes.append(("$.openhook", f"version {doc.get('openhook')} is not known; read as 0.1"))
    notes += _path_notes(doc)
    return (problems + doubts, notes) if strict else (problems, doubts + notes)


def _path_notes(doc: Object) -> list[Problem]:
    notes: list[Problem] = []
    cwd, context, data = doc.get("cwd"), doc.get("context"), doc.get("data")
    if "cwd" in doc and "context" not in doc:
        notes.append(("$.cwd", "cwd is the older spelling of context"))
    elif type(cwd) is str and type(context) is str and cwd != from_uri(context):
        notes.append(("$.cwd", "cwd and context name different places"))
    path = data.get("transcript_path") if type(data) is dict and doc.get("type") == "session.end" else None
    if type(path) is str and not is_absolute(path):
        notes.append(("$.data.transcript_path", "the transcript's path is relative; an absolute one is expected"))
    return notes


def _read_legacy(payload: Object, event_id: str, received: str | None) -> Record:
    """What has the key of an envelope is no legacy payload, whatever other keys it has."""
    return read(payload) if "openhook" in payload else legacy.read(payload, event_id, received)


FORMAT = Format(
    name="openhook",
    title="OpenHook",
    versions=VERSIONS,
    write=write,
    omits=lambda event: _document_type(event) is None,
    read=read,
    id_path=("id",),
    type_key="type",
    check=check,
    variants={"cwd": partial(write, cwd_field="cwd")},  # the first text's form
    readers={"legacy": _read_legacy},
    lacks=frozenset({"decision", "risk", "runs", "user"}),
)
