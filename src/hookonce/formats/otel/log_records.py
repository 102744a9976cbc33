"""OpenTelemetry log records: one OTLP/JSON request with one log record per event; spans are a write-only variant."""

from hookonce.base import ids, times
from hookonce.base.jsontext import drop_none, dump
from hookonce.errors import DocumentError
from hookonce.formats._shared.fields import describe_event, read_field
from hookonce.formats._shared.rest import complete_from_rest, is_repeat, plain_event, remaining_fields, rest_of
from hookonce.formats.otel import otlp
from hookonce.formats.otel.spans import write_spans
from hookonce.model import Event, Format, Gap, Object, Problem, Record, Tool, Usage, User
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import AGENT_ALIASES

REST_ATTRIBUTE = "hookonce.rest"
_REST_FIELDS = remaining_fields("type", "agent_version", "turn", "cwd", "model")
_WARNING_TYPES = frozenset({"policy_violation", "policy_blocked", "permission_denied", "retry_loop_detected"})
_KNOWN_FIELDS = {"timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "eventName", "body"}
_KNOWN_FIELDS |= {"attributes", "droppedAttributesCount", "flags", "traceId", "spanId"}


def write(record: Record) -> list[Object]:
    """One request with one log record."""
    event = record.event
    if is_repeat(event):
        return []
    inner = {"scope": otlp.instrumentation_scope(), "logRecords": [_log_record(record, event)]}
    return [{"resourceLogs": [{"resource": otlp.resource_of(event), "scopeLogs": [inner]}]}]


def _log_record(record: Record, event: Event) -> Object:
    time = str(otlp.nanoseconds(event.time))
    severity_number, severity_text = (13, "WARN") if event.type in _WARNING_TYPES else (9, "INFO")
    if otlp.is_failure(event):
        severity_number, severity_text = 17, "ERROR"
    log_record: Object = {
        "timeUnixNano": time,
        "observedTimeUnixNano": time if event.received is None else str(otlp.nanoseconds(event.received)),
        "severityNumber": severity_number,
        "severityText": severity_text,
        "eventName": event.type if event.type.startswith("vendor.") else "hookonce." + event.type,
        "body": {"stringValue": describe_event(event)},
        "attributes": _attributes(record, event),
    }
    if event.session is not None:
        log_record["traceId"] = otlp.trace_id_of(event)
        log_record["spanId"] = otlp.call_span_id(event)
    return log_record


def _attributes(record: Record, event: Event) -> list[Object]:
    origin, tool = event.origin, event.tool
    attributes = otlp.event_attributes(
        event, "log.record.uid", origin.id if origin is not None and origin.id else event.id
    )
    if tool is not None and tool.input:
        attributes.append(otlp.attribute("gen_ai.tool.call.arguments", tool.input))
    if type(event.prompt) is str:
        message = {"role": "user", "parts": [{"type": "text", "content": event.prompt}]}
        attributes.append(otlp.attribute("gen_ai.input.messages", [message]))
    if record.decision is not None or record.risk is not None or record.runs:
        attributes += otlp.decision_attributes(record)
    rest = rest_of(event, _REST_FIELDS)
    if event.type not in EVENTS or event.type.startswith("vendor."):
        rest["type"] = event.type
    if event.agent in AGENT_ALIASES:
        rest["agent"] = event.agent
    attributes.append({"key": REST_ATTRIBUTE, "value": {"stringValue": dump(rest).decode()}})
    return attributes


def read(doc: Object) -> Record:
    """Parse a request that holds one log record."""
    service, log, where = otlp.only_log_record(doc)
    attributes = otlp.read_attributes(log, "attributes", where)
    unknown = [f"$.{key}" for key in doc if key != "resourceLogs"]
    unknown += [f"{where}.{key}" for key in sorted(log.keys() - _KNOWN_FIELDS)]
    rest = otlp.pop_rest(attributes, REST_ATTRIBUTE)
    decision, risk, runs = otlp.pop_verdict(attributes, f"{where}.attributes")
    gaps = [Gap(where=path, strategy="kept", note="unknown field") for path in unknown]
    event = _read_event(doc, service, log, attributes, where)
    plain = Record(event=event, decision=decision, risk=risk, runs=runs, gaps=gaps)
    return complete_from_rest(FORMAT, plain, doc, rest)


def _read_event(doc: Object, service: Object, log: Object, attributes: Object, where: str) -> Event:
    name = read_field(log, "eventName", str, where) or _pop_text(attributes, "event.name") or "log"
    agent_names = (_pop_text(attributes, "gen_ai.agent.name"), _pop_text(service, "service.name"), "unknown")
    agent = next(name for name in agent_names if name is not None)
    time, observed_time = otlp.read_time(log, "timeUnixNano", where), otlp.read_time(log, "observedTimeUnixNano", where)
    return plain_event(
        "otel",
        doc,
        _pop_text(attributes, "log.record.uid") or ids.derive_id("otel", repr(log)),
        type=_canonical_type(name),
        agent=AGENT_ALIASES.get(agent, agent),
        agent_version=_pop_text(attributes, "gen_ai.agent.version"),
        session=_pop_text(attributes, "gen_ai.conversation.id", "session.id"),
        turn=_pop_text(attributes, "hookonce.turn"),
        time=time or observed_time or times.EPOCH_TEXT,
        time_source="agent" if time else "received" if observed_time else "none",
        cwd=_pop_text(attributes, "process.working_directory"),
        tool=_pop_tool(attributes),
        model=_pop_text(attributes, "gen_ai.request.model"),
        usage=_pop_usage(attributes),
        user=_pop_user(attributes),
        data=attributes | _body_data(log, where),
    )


def _pop_text(attributes: Object, *keys: str) -> str | None:
    """The first of these attributes that is a text, out of the others; one of another type stays among them."""
    for key in keys:
        if type(attributes.get(key)) is str:
            return str(attributes.pop(key))
    return None


def _canonical_type(name: str) -> str:
    canonical = name.removeprefix("hookonce.")
    if canonical in EVENTS:
        return canonical
    if not name.startswith("vendor."):
        return f"vendor.otel.{name}"
    last_part = name.rpartition(".")[2]
    return last_part if last_part in EVENTS else name


def _pop_tool(attributes: Object) -> Tool | None:
    native = _pop_text(attributes, "gen_ai.tool.name")
    if native is None:
        return None
    arguments = attributes.get("gen_ai.tool.call.arguments")
    name, call_id = _pop_text(attributes, "hookonce.tool"), _pop_text(attributes, "gen_ai.tool.call.id")
    return Tool(name=name or native, native=native, call_id=call_id, input=arguments if type(arguments) is dict else {})


def _pop_usage(attributes: Object) -> Usage | None:
    names = {field: name for field, name in otlp.USAGE_ATTRIBUTES.items() if type(attributes.get(name)) is int}
    return Usage(**{field: attributes.pop(name) for field, name in names.items()}) if names else None


def _pop_user(attributes: Object) -> User | None:
    user_id, user_name = _pop_text(attributes, "user.id"), _pop_text(attributes, "user.name")
    return None if user_id is None and user_name is None else User(id=user_id, name=user_name)


def _body_data(log: Object, where: str) -> Object:
    body = otlp.decode_value(read_field(log, "body", dict, where) or {}, f"{where}.body")
    return drop_none({"body": body, "severity": read_field(log, "severityText", str, where)})


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What a schema cannot express: duplicate keys, ids of zeros, events without a name."""
    problems: list[Problem] = []
    notes: list[Problem] = []
    if "resourceSpans" in doc:
        return problems, [("$.resourceSpans", "spans are never read back")]
    try:
        log_records = list(otlp.iter_log_records(doc))
    except DocumentError as problem:
        return [(problem.path, problem.message)], notes
    if len(log_records) != 1:
        notes.append(("$.resourceLogs", f"{len(log_records)} log records in one document; only one can be read"))
    for _, log, where in log_records:
        problems += _log_record_problems(log, where)
        if not log.get("eventName"):
            notes.append((f"{where}.eventName", "a log record without a name is no event"))
    return (problems + notes, []) if strict else (problems, notes)


def _log_record_problems(log: Object, where: str) -> list[Problem]:
    attributes = log.get("attributes")
    items = attributes if type(attributes) is list else []
    keys = [item["key"] for item in items if type(item) is dict and type(item.get("key")) is str]
    duplicates = sorted({key for key in keys if keys.count(key) > 1})
    problems = [(f"{where}.attributes", f"{key} is there more than once") for key in duplicates]
    id_fields = [(key, log[key]) for key in ("traceId", "spanId") if type(log.get(key)) is str and log[key]]
    zeros = [key for key, id_text in id_fields if not id_text.strip("0")]
    problems += [(f"{where}.{key}", "an id of zeros names nothing") for key in zeros]
    if log.get("spanId") and not log.get("traceId"):
        problems.append((f"{where}.spanId", "a span without a trace"))
    return problems


FORMAT = Format(
    name="otel",
    title="OpenTelemetry (OTLP/JSON)",
    versions=("1",),
    write=write,
    read=read,
    check=check,
    variants={"spans": write_spans},
    gaps=(
        Gap(where="@spans", strategy="left out", note="only what ends something at a known time becomes a span"),
        Gap(where="@spans", strategy="assumed", note="a span whose beginning the event does not tell has no length"),
        Gap(where="@spans", strategy="left out", note="spans carry no remainder and are never read"),
    ),
)
