"""Amplifier Event v1: what a kernel logs about sessions, modules, policy and artifacts."""

from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.formats._amplifier_details import fill
from hookonce.formats._amplifier_names import EVERY, SEED, kind_of, name_of
from hookonce.formats._amplifier_registry import missing
from hookonce.formats._files import file_events
from hookonce.formats._read import moment, optional, required
from hookonce.formats._rest import KEY, believed, is_repeat, names, plain_event, rest_of
from hookonce.model import Event, Format, Gap, Json, Object, Problem, Record, Result, Tool
from hookonce.times import from_seconds, seconds

_REQUIRED = frozenset({"id", "ts", "event", "component"})
_TEXTS = ("module", "status", "request_id", "span_id")
_KNOWN = frozenset({"id", "ts", "event", "component", "session_id", "duration_ms", "data", "error", *_TEXTS})
_CALLS = frozenset({"module:invoke", "tool:pre", "tool:post", "tool:error"})
_OUTCOMES = {"ok": True, "error": False}
_REMAINING = names()


def write(record: Record) -> list[Object]:
    """The event, and one `artifact:write` for each file that it tells of."""
    event = record.event
    if is_repeat(event):
        return []
    documents = [_document(event)]
    if event.type == "after_tool_execute":
        documents += map(_document, _artifacts(event))
    return documents


def _artifacts(event: Event) -> list[Event]:
    """The written files; a size is known where the call still holds the whole text."""
    files = file_events(event)
    content = event.tool.input.get("content") if event.tool is not None else None
    if type(content) is not str or len(files) != 1:
        return files
    size = len(content.encode("utf-8", "surrogatepass"))
    return [replace(files[0], data=files[0].data | {"bytes": size})]


def _document(event: Event) -> Object:
    name, origin, agent = name_of(event), event.origin, event.agent
    # A kernel's own event keeps the component that it named; otherwise the agent is the component.
    named = event.data.get("component") if agent == "amplifier" else None
    component = named if type(named) is str else agent
    document: Object = {
        "id": origin.id if origin is not None and origin.id else event.id,
        "ts": seconds(event.time) or 0.0,
        "event": name,
        "component": component,
    }
    data: Object = {}
    fill(event, name, document, data)
    data[KEY] = rest = rest_of(event, _REMAINING)
    if component != agent:
        rest["agent"] = agent
    document["data"] = data
    if event.session is not None:
        document["session_id"] = event.session
    return document


def read(doc: Object) -> Record:
    """The record of an event; one that hookonce did not write is the kernel's, and its agent `amplifier`."""
    name, component = required(doc, "event", str), required(doc, "component", str)
    told = dict(optional(doc, "data", dict) or {})
    rest = told.pop(KEY, None)
    kernel = type(rest) is not dict
    if name == "session:resume":
        told.setdefault("source", "resume")
    gaps = _gaps(doc, name, told)
    tool = _tool(doc, name, told)
    event = plain_event(
        "amplifier",
        doc,
        required(doc, "id", str),
        type=kind_of(name, optional(doc, "status", str), told),
        agent="amplifier" if kernel else component,
        session=optional(doc, "session_id", str),
        parent_session=_text(told, "parent") if kernel else None,
        time=_time(doc, gaps),
        tool=tool,
        prompt=_text(told, "prompt"),
        model=_text(told, "model") if kernel else None,
        data=_data(doc, told, tool) | {"component": component},
    )
    return believed(FORMAT, Record(event=event, gaps=gaps), doc, rest)


def _gaps(doc: Object, name: str, told: Object) -> list[Gap]:
    gaps = [
        Gap(where=f"$.{key}", strategy="kept", note=f"{key} is no field of Event v1")
        for key in sorted(doc.keys() - _KNOWN)
    ]
    if name not in EVERY and not name.startswith("vendor."):
        gaps.append(Gap(where="$.event", strategy="kept", note=f"{name} is no event name of Amplifier"))
    if not doc.get("session_id"):
        gaps.append(Gap(where="$.session_id", strategy="left empty", note="the event names no session"))
    if told.get("repeat") is not None:
        gaps.append(Gap(where="$.data.repeat", strategy="kept", note="repeat means something else here"))
    return gaps


def _time(doc: Object, gaps: list[Gap]) -> str:
    """Event v1 has seconds since 1970, its relatives ISO text: both are read."""
    if type(doc.get("ts")) is str:
        return moment(doc, "ts", gaps)
    text = from_seconds(required(doc, "ts", float))
    if text is None:
        raise DocumentError("expected seconds since 1970", "$.ts")
    return text


def _tool(doc: Object, name: str, told: Object) -> Tool | None:
    module, duration = optional(doc, "module", str), optional(doc, "duration_ms", float)
    native = module or _text(told, "tool_name")
    if name not in _CALLS or native is None:
        return None
    given = told.get("tool_input")
    result = None if name == "tool:pre" else Result(ok=_ok(doc, name), error=_said(doc), duration_ms=duration)
    return Tool(
        name=native,
        native=native,
        input=given if type(given) is dict else {},
        result=result,
        call_id=_text(told, "tool_call_id"),
    )


def _ok(doc: Object, name: str) -> bool | None:
    return False if name == "tool:error" else _OUTCOMES.get(optional(doc, "status", str) or "")


def _said(doc: Object) -> str | None:
    return _text(optional(doc, "error", dict) or {}, "message")


def _text(told: Object, key: str) -> str | None:
    """A text of an object that promises nothing about its fields."""
    value: Json = told.get(key)
    return value if type(value) is str else None


def _data(doc: Object, told: Object, tool: Tool | None) -> Object:
    """The event's own data, and beside it those fields of the envelope that no field of ours takes."""
    data: Object = {key: value for key in _TEXTS if (value := optional(doc, key, str)) is not None}
    if tool is not None:
        data.pop("module", None)
        if data.get("status") in _OUTCOMES:
            del data["status"]
    elif doc.get("duration_ms") is not None:
        data["duration_ms"] = doc["duration_ms"]
    if (error := optional(doc, "error", dict)) is not None:
        data["error"] = error
        if code := _text(error, "code"):
            data["error_type"] = code
    return data | told


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """Names, statuses, errors and the fields of the registry, all of which the schema of Event v1 leaves open."""
    absent, unknown = missing(doc)
    name, error = _text(doc, "event"), doc.get("error")
    doubts: list[Problem] = []
    if type(doc.get("ts")) is str:
        doubts.append(("$.ts", "Event v1 has a number of seconds, not a text"))
    if name is not None and name not in EVERY and not name.startswith("vendor."):
        doubts.append(("$.event", f"{name} is no event name of Amplifier"))
    status = _text(doc, "status")
    if name == "module:invoke" and status is not None and status not in _OUTCOMES:
        doubts.append(("$.status", "module:invoke ends with ok or error"))
    if type(error) is dict and not (_text(error, "code") and type(error.get("message")) is str):
        doubts.append(("$.error", "an error has a code and a message"))
    notes = unknown + [(f"$.{key}", f"{key} is no field of Event v1") for key in sorted(doc.keys() - _KNOWN)]
    if strict and name in EVERY - SEED:
        notes.append(("$.event", f"{name} belongs to the later core, not to the stable names"))
    return (absent + doubts, notes) if strict else (absent, doubts + notes)


FORMAT = Format(
    name="amplifier",
    title="Amplifier Event",
    versions=("1",),
    mime="application/json",
    write=write,
    read=read,
    is_mine=lambda doc: len(doc.keys() & _REQUIRED) >= len(_REQUIRED) - 1,  # one may have been forgotten
    check=check,
    lacks=frozenset({"decision", "risk", "runs", "user"}),
    gaps=(
        Gap(where="$.data.plan", capability="session:start", note="no agent tells the plan of a session"),
        Gap(where="$.data.delta_bytes", capability="context:post_compact", note="agents count tokens, not bytes"),
        Gap(where="$.data.bytes", capability="artifact:write", note="known only while the written text is there"),
        Gap(where="$.duration_ms", capability="module:invoke", note="left out where the agent does not measure it"),
    ),
)
