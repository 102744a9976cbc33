"""Amplifier Event v1 envelope: what a kernel logs; an agent's event has the registry's fields that it tells."""

from posixpath import join
from urllib.parse import quote

from msgspec.structs import replace

from hookonce.base.file_uris import has_drive, to_uri
from hookonce.base.jsontext import as_dict, drop_none
from hookonce.base.times import from_seconds, to_seconds
from hookonce.errors import DocumentError
from hookonce.formats._shared import rest as rest_fields
from hookonce.formats._shared.fields import (
    as_count,
    hash_and_length,
    is_digest,
    read_field,
    require_field,
    require_time,
)
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.amplifier.registry import ALL_NAMES, SEED_NAMES, canonical_type_of, event_name_of, missing_fields
from hookonce.model import Event, Format, Gap, Json, Object, Problem, Record, Result, Tool
from hookonce.vocabulary.events import OPERATIONS_BY_FILE_EVENT
from hookonce.vocabulary.file_writes import build_file_events

CAPABILITY_BY_TOOL = {
    "shell": "exec.spawn",
    **dict.fromkeys(("file_read", "search", "find"), "fs.read"),
    **dict.fromkeys(("file_write", "file_edit"), "fs.write"),
    **dict.fromkeys(("web_fetch", "web_search"), "net.fetch"),
}

_ENVELOPE_FIELDS = frozenset({"component", "status", "request_id", "span_id", "duration_ms", "error", "error_type"})
_RECORD_ONLY_KEYS = frozenset({EXTENSION_KEY, "likeness", "component"})


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
    details = as_dict(error_data).get("details") if exit_code is None else {"exit_code": exit_code}
    code = error_type if type(error_type) is str else "internal"
    error: Object = {"code": code, "message": _error_message(text, exit_code)}
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
    data |= drop_none(
        {"operation": OPERATIONS_BY_FILE_EVENT.get(event.type), "bytes": as_count(event.data.get("bytes"))}
    )


def _artifact_uri(path: str, cwd: str) -> str:
    """A relative path lies beneath the working directory; where nobody names one, it stays relative."""
    full_path = path if has_drive(path) else join(cwd, path)
    is_located = full_path[:1] == "/" or "://" in full_path or has_drive(full_path)
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
    document |= {key: event_data[key] for key in _STRING_FIELDS[1:] if type(event_data.get(key)) is str}
    if (duration := as_count(event_data.get("duration_ms"))) is not None:
        document["duration_ms"] = duration
    data |= {key: value for key, value in event_data.items() if key not in _ENVELOPE_FIELDS}


_STRING_FIELDS = ("module", "status", "request_id", "span_id")
_KNOWN_FIELDS = {"id", "ts", "event", "component", "session_id", "duration_ms", "data", "error", *_STRING_FIELDS}
_CALL_NAMES = frozenset({"module:invoke", "tool:pre", "tool:post", "tool:error"})
_OUTCOMES = {"ok": True, "error": False}
_REST_FIELDS = rest_fields.remaining_fields()


def write(record: Record) -> list[Object]:
    """The event, and one `artifact:write` for each file that it has written."""
    event = record.event
    if rest_fields.is_repeat(event):
        return []
    documents = [_document(event)]
    if event.type == "after_tool_execute":
        documents += map(_document, _artifact_events(event))
    return documents


def kernel_document(document: Object) -> Object:
    """A document as a kernel sends it, without what only our own record needs."""
    data = {name: value for name, value in (document.get("data") or {}).items() if name not in _RECORD_ONLY_KEYS}
    return document | {"data": data} if data else {name: value for name, value in document.items() if name != "data"}


def extract_subjects(document: Object) -> Object:
    """What of an event of ours a hook may change, under Amplifier's names: the input of its tool, or its prompt."""
    record = as_dict(as_dict(document.get("data")).get(EXTENSION_KEY))
    return drop_none({"tool_input": as_dict(record.get("tool")).get("input"), "prompt": record.get("prompt")})


def _artifact_events(event: Event) -> list[Event]:
    """The written files; a size is known where the call still holds the whole text."""
    files = build_file_events(event)
    content = event.tool.input.get("content") if event.tool is not None else None
    if type(content) is not str or len(files) != 1:
        return files
    return [replace(files[0], data=files[0].data | {"bytes": len(content.encode("utf-8", "surrogatepass"))})]


def _document(event: Event) -> Object:
    name, origin, agent = event_name_of(event), event.origin, event.agent
    # A kernel's own event keeps the component that it named; otherwise the agent is the component.
    own_component = event.data.get("component") if agent == "amplifier" else None
    component = own_component if type(own_component) is str else agent
    document: Object = {
        "id": origin.id if origin is not None and origin.id else event.id,
        "ts": to_seconds(event.time) or 0.0,
        "event": name,
        "component": component,
    }
    data: Object = {}
    fill_document(event, name, document, data)
    data[EXTENSION_KEY] = rest = rest_fields.rest_of(event, _REST_FIELDS)
    if component != agent:
        rest["agent"] = agent
    document["data"] = data
    if event.session is not None:
        document["session_id"] = event.session
    return document


def read(doc: Object) -> Record:
    """Parse an event; one that hookonce did not write is the kernel's, and its agent `amplifier`."""
    name, component = require_field(doc, "event", str), require_field(doc, "component", str)
    data = dict(read_field(doc, "data", dict) or {})
    rest = data.pop(EXTENSION_KEY, None)
    is_kernel = type(rest) is not dict
    if name == "session:resume":
        data.setdefault("source", "resume")
    gaps = _document_gaps(doc, name, data)
    tool = _read_tool(doc, name, data)
    event = rest_fields.plain_event(
        "amplifier",
        doc,
        require_field(doc, "id", str),
        type=canonical_type_of(name, read_field(doc, "status", str), data),
        agent="amplifier" if is_kernel else component,
        session=read_field(doc, "session_id", str),
        parent_session=_read_text(data, "parent") if is_kernel else None,
        time=_read_time(doc, gaps),
        tool=tool,
        prompt=_read_text(data, "prompt"),
        model=_read_text(data, "model") if is_kernel else None,
        data=_read_data(doc, data, tool) | {"component": component},
    )
    return rest_fields.complete_from_rest(FORMAT, Record(event=event, gaps=gaps), doc, rest)


def _document_gaps(doc: Object, name: str, data: Object) -> list[Gap]:
    unknown = sorted(doc.keys() - _KNOWN_FIELDS)
    gaps = [Gap(where=f"$.{key}", strategy="kept", note=f"{key} is no field of Event v1") for key in unknown]
    if name not in ALL_NAMES and not name.startswith("vendor."):
        gaps.append(Gap(where="$.event", strategy="kept", note=f"{name} is no event name of Amplifier"))
    if not doc.get("session_id"):
        gaps.append(Gap(where="$.session_id", strategy="left empty", note="the event names no session"))
    if data.get("repeat") is not None:
        gaps.append(Gap(where="$.data.repeat", strategy="kept", note="repeat means something else here"))
    return gaps


def _read_time(doc: Object, gaps: list[Gap]) -> str:
    """Event v1 has seconds since 1970, its relatives ISO text: both are read."""
    if type(doc.get("ts")) is str:
        return require_time(doc, "ts", gaps)
    text = from_seconds(require_field(doc, "ts", float))
    if text is None:
        raise DocumentError("expected seconds since 1970", "$.ts")
    return text


def _read_tool(doc: Object, name: str, data: Object) -> Tool | None:
    module, duration = read_field(doc, "module", str), read_field(doc, "duration_ms", float)
    native = module or _read_text(data, "tool_name")
    if name not in _CALL_NAMES or native is None:
        return None
    tool_input, call_id = as_dict(data.get("tool_input")), _read_text(data, "tool_call_id")
    if name == "tool:pre":
        return Tool(name=native, native=native, input=tool_input, call_id=call_id)
    ok = False if name == "tool:error" else _OUTCOMES.get(read_field(doc, "status", str) or "")
    error = _read_text(read_field(doc, "error", dict) or {}, "message")
    result = Result(ok=ok, error=error, duration_ms=duration)
    return Tool(name=native, native=native, input=tool_input, result=result, call_id=call_id)


def _read_text(holder: Object, key: str) -> str | None:
    value: Json = holder.get(key)
    return value if type(value) is str else None


def _read_data(doc: Object, event_data: Object, tool: Tool | None) -> Object:
    """The event's own data, and beside it those fields of the envelope that no field of ours takes."""
    data: Object = {key: value for key in _STRING_FIELDS if (value := read_field(doc, key, str)) is not None}
    if tool is not None:
        data.pop("module", None)
        if data.get("status") in _OUTCOMES:
            del data["status"]
    elif doc.get("duration_ms") is not None:
        data["duration_ms"] = doc["duration_ms"]
    if (error := read_field(doc, "error", dict)) is not None:
        data["error"] = error
        if code := _read_text(error, "code"):
            data["error_type"] = code
    return data | event_data


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """Names, statuses, errors and the fields of the registry, all of which the schema of Event v1 leaves open.

    So a document that fits the schema has only warnings, unless `strict`.
    """
    absent, unknown = missing_fields(doc)
    name, error = _read_text(doc, "event"), doc.get("error")
    doubts: list[Problem] = []
    if type(doc.get("ts")) is str:
        doubts.append(("$.ts", "Event v1 has a number of seconds, not a text"))
    if name is not None and name not in ALL_NAMES and not name.startswith("vendor."):
        doubts.append(("$.event", f"{name} is no event name of Amplifier"))
    status = _read_text(doc, "status")
    if name == "module:invoke" and status is not None and status not in _OUTCOMES:
        doubts.append(("$.status", "module:invoke ends with ok or error"))
    if type(error) is dict and not (_read_text(error, "code") and type(error.get("message")) is str):
        doubts.append(("$.error", "an error has a code and a message"))
    notes = unknown + [(f"$.{key}", f"{key} is no field of Event v1") for key in sorted(doc.keys() - _KNOWN_FIELDS)]
    if strict and name in ALL_NAMES - SEED_NAMES:
        notes.append(("$.event", f"{name} belongs to the later core, not to the stable names"))
    return (absent + doubts, notes) if strict else ([], absent + doubts + notes)


FORMAT = Format(
    name="amplifier",
    title="Amplifier Event",
    versions=("1",),
    write=write,
    read=read,
    id_path=("id",),
    type_key="event",
    check=check,
    lacks=frozenset({"decision", "risk", "runs", "user"}),
    gaps=(
        Gap(where="$.data.plan", capability="session:start", note="no agent tells the plan of a session"),
        Gap(where="$.data.delta_bytes", capability="context:post_compact", note="agents count tokens, not bytes"),
        Gap(where="$.data.bytes", capability="artifact:write", note="known only while the written text is there"),
        Gap(where="$.duration_ms", capability="module:invoke", note="left out where the agent does not measure it"),
    ),
)
