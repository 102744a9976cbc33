"""OpenHook 0.1: six event types, `context` in the newer text and `cwd` in the first one."""

from re import compile as pattern

from hookonce.canon.events import EVENTS, FILE_FATES, FROM_OPENHOOK
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.reasons import END_OPENHOOK
from hookonce.formats import _openhook_legacy as legacy
from hookonce.formats._files import file_events
from hookonce.formats._place import from_uri, inside, is_rooted, to_uri
from hookonce.formats._read import given, moment, optional, required, whole
from hookonce.formats._rest import KEY, believed, is_repeat, names, plain_event, rest_of
from hookonce.model import Digest, Event, Format, Gap, Object, Problem, Record, Result, Tool, Usage
from hookonce.times import has_zone, parse

VERSIONS = ("0.1",)
_SLUG = pattern(r"[a-z][a-z0-9-]*")
_NOT_SLUG = pattern(r"[^a-z0-9-]+")
_DOTTED = pattern(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_KNOWN = frozenset({"openhook", "id", "source", "type", "time", "session_id", "data", "context", "cwd", "extensions"})
_FATES = {operation: kind for kind, operation, _ in FILE_FATES}
_OPERATIONS = {kind: operation for kind, operation, _ in FILE_FATES}
_FOREIGN = "vendor.openhook."
_REMAINING = names("id", "time", "cwd")
_RELATIVE = names("id", "time")


def write(record: Record, place: str = "context") -> list[Object]:
    """The event, and one `file.write` for each file that it tells of."""
    event = record.event
    kind = _name(event)
    if kind is None or is_repeat(event) or (kind == "file.write" and not _path(event)):
        return []
    documents = [_document(event, kind, place)]
    if event.type == "after_tool_execute":
        documents += [_document(file, "file.write", place) for file in file_events(event)]
    return documents


def _name(event: Event) -> str | None:
    """The type's name here; one that OpenHook does not define goes back to where it came from, and nowhere else."""
    row = EVENTS.get(event.type)
    if row is not None:
        return row.openhook
    return event.type.removeprefix(_FOREIGN) if event.type.startswith(_FOREIGN) else None


def _document(event: Event, kind: str, place: str) -> Object:
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
    if data := _DATA[kind](event) if kind in _DATA else event.data:
        document["data"] = data
    cwd = event.cwd
    if cwd is not None:
        document[place] = to_uri(cwd) if place == "context" else cwd
    rest = rest_of(event, _REMAINING if cwd is None or cwd[:1] == "/" else _RELATIVE)
    if source != event.agent:
        rest["agent"] = event.agent
    document["extensions"] = {KEY: rest}
    return document


def _slug(name: str) -> str:
    text = _NOT_SLUG.sub("-", name.lower()).strip("-")
    return text if text[:1].isalpha() and text.isascii() else f"agent-{text}".rstrip("-")


def _session_start(event: Event) -> Object:
    return {} if event.model is None else {"model": event.model}


def _session_end(event: Event) -> Object:
    data, usage = event.data, event.usage
    path, reason = data.get("transcript_path"), data.get("reason")
    return given(
        {
            "transcript_path": inside(path, event.cwd) if type(path) is str else None,
            "reason": END_OPENHOOK.get(reason) if type(reason) is str else None,
            "model": event.model,
            "duration_ms": whole(data.get("duration_ms")),
            "input_tokens": usage and whole(usage.input_tokens),
            "output_tokens": usage and whole(usage.output_tokens),
        }
    )


def _prompt(event: Event) -> Object:
    prompt = event.prompt
    if prompt is None:
        return {}
    return {"prompt_length": prompt.length if isinstance(prompt, Digest) else len(prompt)}


def _tool_start(event: Event) -> Object:
    tool = event.tool
    if tool is None:
        return {}
    return {"tool_name": tool.native} | ({} if tool.call_id is None else {"tool_call_id": tool.call_id})


def _tool_end(event: Event) -> Object:
    data = _tool_start(event)
    result = event.tool.result if event.tool is not None else None
    if result is not None and result.ok is not None:
        data["status"] = "success" if result.ok else "error"
    elif event.type == "tool_use_failure":
        data["status"] = "error"
    if result is not None and (duration := whole(result.duration_ms)) is not None:
        data["duration_ms"] = duration
    return data


def _file(event: Event) -> Object:
    data, call = event.data, event.data.get("tool_call_id")
    return given(
        {
            "path": _path(event),
            "operation": _OPERATIONS.get(event.type),
            "start_line": whole(data.get("start_line")) or None,  # the first line is 1
            "end_line": whole(data.get("end_line")) or None,
            "model": event.model,
            "tool_call_id": call if type(call) is str else None,
        }
    )


def _path(event: Event) -> str | None:
    path = event.data.get("path")
    return path if type(path) is str and path else None


_DATA = {
    "session.start": _session_start,
    "session.end": _session_end,
    "prompt.submit": _prompt,
    "tool.start": _tool_start,
    "tool.end": _tool_end,
    "file.write": _file,
}


def read(doc: Object) -> Record:
    """The record of an event; unknown versions and types are kept and named."""
    gaps: list[Gap] = []
    version = required(doc, "openhook", str)
    if version not in VERSIONS:
        gaps.append(Gap(where="$.openhook", strategy="best effort", note=f"version {version} is not known"))
    kind, data = required(doc, "type", str), optional(doc, "data", dict) or {}
    if kind == "file.write":
        required(data, "path", str, "$.data")
    source, cwd = required(doc, "source", str), _cwd(doc, gaps)
    told = data if kind in FROM_OPENHOOK else {}  # what a type means that is not defined, only its maker knows
    tool = _tool(kind, told)
    event = plain_event(
        "openhook",
        doc,
        required(doc, "id", str),
        type=_kind(kind, data),
        agent=AGENT_ALIASES.get(source, source),
        session=required(doc, "session_id", str) or None,
        time=moment(doc, "time", gaps),
        cwd=cwd,
        tool=tool,
        model=optional(told, "model", str, "$.data"),
        usage=_usage(told),
        data=_details(kind, told, _IN_EVENT if tool is None else _IN_EVENT | _IN_TOOL, cwd, gaps) if told else data,
    )
    extensions = optional(doc, "extensions", dict) or {}
    unknown = sorted(doc.keys() - _KNOWN)
    gaps += [Gap(where=f"$.{key}", strategy="kept", note=f"unknown field {key}") for key in unknown]
    return believed(FORMAT, Record(event=event, gaps=gaps), doc, extensions.get(KEY))


_IN_EVENT = frozenset({"model", "input_tokens", "output_tokens"})
_IN_TOOL = frozenset({"tool_name", "tool_call_id", "status", "duration_ms"})


def _kind(kind: str, data: Object) -> str:
    if kind == "file.write":
        operation = data.get("operation")
        return _FATES.get(operation, "file_changed") if type(operation) is str else "file_changed"
    if kind == "tool.end" and data.get("status") == "error":
        return "tool_use_failure"
    return FROM_OPENHOOK.get(kind) or _FOREIGN + kind


def _details(kind: str, data: Object, taken: frozenset[str], cwd: str | None, gaps: list[Gap]) -> Object:
    """What no field of an event has taken; a transcript's path is made whole where that can be done."""
    details = {key: value for key, value in data.items() if key not in taken}
    path = details.get("transcript_path")
    if kind == "session.end" and type(path) is str and not is_rooted(path):
        details["transcript_path"] = inside(path, cwd)
        gaps.append(Gap(where="$.data.transcript_path", strategy="resolved", note="the transcript's path is relative"))
    return details


def _cwd(doc: Object, gaps: list[Gap]) -> str | None:
    context, cwd = optional(doc, "context", str), optional(doc, "cwd", str)
    if context is None:
        return cwd
    place = from_uri(context)
    if cwd is not None and cwd != place:
        gaps.append(Gap(where="$.cwd", strategy="kept", note="cwd and context name different places"))
    return place


def _tool(kind: str, data: Object) -> Tool | None:
    name = optional(data, "tool_name", str, "$.data") if kind.startswith("tool.") else None
    if name is None:
        return None
    call, status = optional(data, "tool_call_id", str, "$.data"), optional(data, "status", str, "$.data")
    duration = optional(data, "duration_ms", float, "$.data")
    ended = kind == "tool.end" or status is not None or duration is not None
    ok = None if status is None else status == "success"
    return Tool(name=name, native=name, call_id=call, result=Result(ok=ok, duration_ms=duration) if ended else None)


def _usage(data: Object) -> Usage | None:
    spent, made = (optional(data, key, int, "$.data") for key in ("input_tokens", "output_tokens"))
    return None if spent is None and made is None else Usage(input_tokens=spent, output_tokens=made)


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What the schema cannot say; the closed list of types and fields is a matter of strictness."""
    doubts: list[Problem] = []
    kind, time = doc.get("type"), doc.get("time")
    if type(kind) is str and kind not in FROM_OPENHOOK and _DOTTED.fullmatch(kind):
        doubts.append(("$.type", f"{kind} is no event type of OpenHook 0.1"))
    wrong: list[Problem] = []
    if type(time) is str and parse(time) is None:
        wrong.append(("$.time", "expected a time such as 2026-02-23T10:15:30Z"))
    elif type(time) is str and not has_zone(time):
        doubts.append(("$.time", "the time has no zone; UTC is assumed"))
    doubts += [(f"$.{key}", "unknown field") for key in sorted(doc.keys() - _KNOWN)]
    notes: list[Problem] = []
    if doc.get("openhook") not in VERSIONS:
        notes.append(("$.openhook", f"version {doc.get('openhook')} is not known; read as 0.1"))
    notes += _places(doc)
    return (wrong + doubts, notes) if strict else (wrong, doubts + notes)


def _places(doc: Object) -> list[Problem]:
    """What is old or doubtful about the places that an event names."""
    notes: list[Problem] = []
    cwd, context, data = doc.get("cwd"), doc.get("context"), doc.get("data")
    if "cwd" in doc and "context" not in doc:
        notes.append(("$.cwd", "cwd is the older spelling of context"))
    elif type(cwd) is str and type(context) is str and cwd != from_uri(context):
        notes.append(("$.cwd", "cwd and context name different places"))
    path = data.get("transcript_path") if type(data) is dict and doc.get("type") == "session.end" else None
    if type(path) is str and not is_rooted(path):
        notes.append(("$.data.transcript_path", "the transcript's path is relative; an absolute one is expected"))
    return notes


def older(record: Record) -> list[Object]:
    """The first text's form: `cwd` in place of `context`."""
    return write(record, "cwd")


def _legacy(payload: Object, event_id: str, received: str | None) -> Record:
    """What has the key of an envelope is no legacy payload, whatever other keys it has."""
    return read(payload) if "openhook" in payload else legacy.read(payload, event_id, received)


FORMAT = Format(
    name="openhook",
    title="OpenHook",
    versions=VERSIONS,
    mime="application/json",
    write=write,
    read=read,
    is_mine=lambda doc: "openhook" in doc,
    check=check,
    variants={"cwd": older},
    readers={"legacy": _legacy},
    lacks=frozenset({"decision", "risk", "runs", "user"}),
)
