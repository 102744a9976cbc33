"""OpenTelemetry: one OTLP/JSON request with one log record per event; spans are a variant that is never read."""

from hookonce import ids, times
from hookonce.canon.events import EVENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.errors import DocumentError
from hookonce.formats import _otlp_read as otlp
from hookonce.formats._otlp import (
    USAGE,
    call_span,
    described,
    failed,
    judged,
    nanoseconds,
    pair,
    resource,
    scope,
    trace_id,
)
from hookonce.formats._read import given, optional
from hookonce.formats._rest import believed, is_repeat, names, plain_event, rest_of
from hookonce.formats._spans import write_spans
from hookonce.model import Event, Format, Gap, Object, Problem, Record, Tool, Usage, User
from hookonce.texts import dump

REST = "hookonce.rest"
_REMAINING = names("type", "agent_version", "turn", "cwd", "model")
_WARNINGS = frozenset({"policy_violation", "policy_blocked", "permission_denied", "retry_loop_detected"})
_KNOWN = frozenset(
    {
        *("timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "eventName", "body"),
        *("attributes", "droppedAttributesCount", "flags", "traceId", "spanId"),
    }
)


def write(record: Record) -> list[Object]:
    """One request with one log record."""
    event = record.event
    if is_repeat(event):
        return []
    inner = {"scope": scope(), "logRecords": [_log_record(record, event)]}
    return [{"resourceLogs": [{"resource": resource(event), "scopeLogs": [inner]}]}]


def _log_record(record: Record, event: Event) -> Object:
    time = str(nanoseconds(event.time))
    number, text = _severity(event)
    found: Object = {
        "timeUnixNano": time,
        "observedTimeUnixNano": time if event.received is None else str(nanoseconds(event.received)),
        "severityNumber": number,
        "severityText": text,
        "eventName": event.type if event.type.startswith("vendor.") else "hookonce." + event.type,
        "body": {"stringValue": _sentence(event)},
        "attributes": _attributes(record, event),
    }
    if event.session is not None:
        found["traceId"] = trace_id(event)
        found["spanId"] = call_span(event)
    return found


def _severity(event: Event) -> tuple[int, str]:
    if failed(event):
        return 17, "ERROR"
    return (13, "WARN") if event.type in _WARNINGS else (9, "INFO")


def _sentence(event: Event) -> str:
    row = EVENTS.get(event.type)
    meaning = event.type if row is None else row.meaning
    return meaning if event.tool is None else f"{meaning}: {event.tool.native}"


def _attributes(record: Record, event: Event) -> list[Object]:
    origin, tool = event.origin, event.tool
    found = described(event, "log.record.uid", origin.id if origin is not None and origin.id else event.id)
    if tool is not None and tool.input:
        found.append(pair("gen_ai.tool.call.arguments", tool.input))
    if type(event.prompt) is str:
        said = {"role": "user", "parts": [{"type": "text", "content": event.prompt}]}
        found.append(pair("gen_ai.input.messages", [said]))
    if record.decision is not None or record.risk is not None or record.runs:
        found += judged(record)
    rest = rest_of(event, _REMAINING)
    if event.type not in EVENTS or event.type.startswith("vendor."):
        rest["type"] = event.type
    if event.agent in AGENT_ALIASES:
        rest["agent"] = event.agent
    found.append({"key": REST, "value": {"stringValue": dump(rest).decode()}})
    return found


def read(doc: Object) -> Record:
    """The record of a request that holds one log record."""
    service, log, where = otlp.only_record(doc)
    told = otlp.attributes(log, "attributes", where)
    unknown = [f"$.{key}" for key in doc if key != "resourceLogs"]
    unknown += [f"{where}.{key}" for key in sorted(log.keys() - _KNOWN)]
    rest = otlp.rest(told, REST)
    plain = Record(
        decision=otlp.decision(told, f"{where}.attributes"),
        risk=otlp.risk(told, f"{where}.attributes"),
        runs=otlp.runs(told, f"{where}.attributes"),
        gaps=[Gap(where=place, strategy="kept", note="unknown field") for place in unknown],
        event=_event(doc, service, log, told, where),
    )
    return believed(FORMAT, plain, doc, rest)


def _event(doc: Object, service: Object, log: Object, told: Object, where: str) -> Event:
    name = optional(log, "eventName", str, where) or _take(told, "event.name") or "log"
    named = (_take(told, "gen_ai.agent.name"), _take(service, "service.name"), "unknown")
    agent = next(name for name in named if name is not None)
    time, seen = otlp.moment(log, "timeUnixNano", where), otlp.moment(log, "observedTimeUnixNano", where)
    return plain_event(
        "otel",
        doc,
        _take(told, "log.record.uid") or ids.derive("otel", repr(log)),
        type=_kind(name),
        agent=AGENT_ALIASES.get(agent, agent),
        agent_version=_take(told, "gen_ai.agent.version"),
        session=_take(told, "gen_ai.conversation.id", "session.id"),
        turn=_take(told, "hookonce.turn"),
        time=time or seen or times.EPOCH,
        time_source="agent" if time else "received" if seen else "none",
        cwd=_take(told, "process.working_directory"),
        tool=_tool(told),
        model=_take(told, "gen_ai.request.model"),
        usage=_usage(told),
        user=_user(told),
        data=told | _said(log, where),
    )


def _take(told: Object, *keys: str) -> str | None:
    """The first of these attributes that is a text, out of the others; one of another type stays among them."""
    for key in keys:
        if type(told.get(key)) is str:
            return str(told.pop(key))
    return None


def _kind(name: str) -> str:
    canonical = name.removeprefix("hookonce.")
    if canonical in EVENTS:
        return canonical
    if not name.startswith("vendor."):
        return f"vendor.otel.{name}"
    last = name.rpartition(".")[2]
    return last if last in EVENTS else name


def _tool(told: Object) -> Tool | None:
    native = _take(told, "gen_ai.tool.name")
    if native is None:
        return None
    arguments = told.get("gen_ai.tool.call.arguments")
    name, call = _take(told, "hookonce.tool"), _take(told, "gen_ai.tool.call.id")
    return Tool(name=name or native, native=native, call_id=call, input=arguments if type(arguments) is dict else {})


def _usage(told: Object) -> Usage | None:
    counts = {field: told.pop(name) for field, name in USAGE.items() if type(told.get(name)) is int}
    return Usage(**counts) if counts else None


def _user(told: Object) -> User | None:
    who, called = _take(told, "user.id"), _take(told, "user.name")
    return None if who is None and called is None else User(id=who, name=called)


def _said(log: Object, where: str) -> Object:
    """Body and severity, which no field of an event is for."""
    body = otlp.value_of(optional(log, "body", dict, where) or {}, f"{where}.body")
    return given({"body": body, "severity": optional(log, "severityText", str, where)})


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What the schema cannot say: keys that are there twice, ids that name nothing, events without a name."""
    problems: list[Problem] = []
    notes: list[Problem] = []
    if "resourceSpans" in doc:
        return problems, [("$.resourceSpans", "spans are never read back")]
    try:
        found = list(otlp.records(doc))
    except DocumentError as problem:
        return [(problem.path, problem.message)], notes
    if len(found) != 1:
        notes.append(("$.resourceLogs", f"{len(found)} log records in one document; only one can be read"))
    for _, log, where in found:
        problems += _faults(log, where)
        if not log.get("eventName"):
            notes.append((f"{where}.eventName", "a log record without a name is no event"))
    return (problems + notes, []) if strict else (problems, notes)


def _faults(log: Object, where: str) -> list[Problem]:
    listed = log.get("attributes")
    items = listed if type(listed) is list else []
    keys = [item["key"] for item in items if type(item) is dict and type(item.get("key")) is str]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    found = [(f"{where}.attributes", f"{key} is there more than once") for key in twice]
    ids_told = [(key, log[key]) for key in ("traceId", "spanId") if type(log.get(key)) is str and log[key]]
    found += [(f"{where}.{key}", "an id of zeros names nothing") for key, told in ids_told if not told.strip("0")]
    if log.get("spanId") and not log.get("traceId"):
        found.append((f"{where}.spanId", "a span without a trace"))
    return found


FORMAT = Format(
    name="otel",
    title="OpenTelemetry (OTLP/JSON)",
    versions=("1",),
    mime="application/json",
    write=write,
    read=read,
    is_mine=lambda doc: "resourceLogs" in doc or "resourceSpans" in doc,
    check=check,
    variants={"spans": write_spans},
    gaps=(
        Gap(where="@spans", strategy="left out", note="only what ends something at a known time becomes a span"),
        Gap(where="@spans", strategy="assumed", note="a span whose beginning the event does not tell has no length"),
        Gap(where="@spans", strategy="left out", note="spans carry no remainder and are never read"),
    ),
)
