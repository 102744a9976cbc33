"""OpenTelemetry spans: an event that ends something at a known time, as an OTLP trace request. Write only."""

from hookonce.base.jsontext import dump
from hookonce.formats._shared.fields import as_count, is_digest
from hookonce.formats._shared.rest import is_repeat
from hookonce.formats.otel import otlp
from hookonce.model import Event, Json, Object, Record

# What ends with an event, as the conventions call the operation; a session is ours alone.
_OPERATION_BY_END_TYPE = {
    "after_tool_execute": "execute_tool",
    "tool_use_failure": "execute_tool",
    "after_model": "chat",
    "model_failed": "chat",
    "agent_stop": "invoke_agent",
    "subagent_stop": "invoke_agent",
    "session_end": "session",
    "session_abort": "session",
}
_KIND_INTERNAL, _KIND_CLIENT = 1, 3
_STATUS_ERROR = 2


def write_spans(record: Record) -> list[Object]:
    """One request with one span, for an event that ends something at a known time."""
    event = record.event
    operation, end = _OPERATION_BY_END_TYPE.get(event.type), otlp.nanoseconds(event.time)
    if operation is None or not end or is_repeat(event):
        return []
    inner = {"scope": otlp.instrumentation_scope(), "spans": [_build_span(record, operation, end)]}
    return [{"resourceSpans": [{"resource": otlp.resource_of(event), "scopeSpans": [inner]}]}]


def _build_span(record: Record, operation: str, end: int) -> Object:
    event = record.event
    own_id, parent = _span_ids(event, operation)
    document: Object = {"traceId": otlp.trace_id_of(event), "spanId": own_id}
    if parent is not None:
        document["parentSpanId"] = parent
    document["name"] = f"{operation} {_span_subject(event, operation)}"
    document["kind"] = _KIND_CLIENT if operation == "chat" else _KIND_INTERNAL
    document["startTimeUnixNano"] = str(max(end - _duration_ns(event), 0))
    document["endTimeUnixNano"] = str(end)
    attributes = otlp.event_attributes(event, "hookonce.event.id", event.id) + _content_attributes(event)
    document["attributes"] = attributes + otlp.decision_attributes(record)
    if otlp.is_failure(event):
        result = event.tool.result if event.tool is not None else None
        error = event.data.get("error") if result is None else result.error
        document["status"] = {"code": _STATUS_ERROR} | ({"message": error} if type(error) is str else {})
    return document


def _span_ids(event: Event, operation: str) -> tuple[str, str | None]:
    """Own id and parent id; what has no id of its own gets one from its event."""
    if operation == "session":
        return otlp.session_span_id(event), None
    if operation == "execute_tool":
        own_id, parent = otlp.call_span_id(event), otlp.turn_span_id(event)
    elif event.type == "agent_stop":
        own_id, parent = otlp.turn_span_id(event), otlp.session_span_id(event)
    else:
        name = event.subagent.id if event.type == "subagent_stop" and event.subagent is not None else None
        own_id, parent = otlp.span_id("subagent", event.session, name) if name else "", otlp.turn_span_id(event)
    return (own_id if own_id and own_id != parent else otlp.span_id("event", event.id)), parent


def _span_subject(event: Event, operation: str) -> str:
    if operation == "execute_tool" and event.tool is not None:
        return event.tool.native
    if operation == "chat" and event.model is not None:
        return event.model
    if event.type == "subagent_stop" and event.subagent is not None and event.subagent.type:
        return event.subagent.type
    return event.agent


def _duration_ns(event: Event) -> int:
    result = event.tool.result if event.tool is not None else None
    duration_ms = event.data.get("duration_ms") if result is None else result.duration_ms
    return (as_count(duration_ms) or 0) * 1_000_000


def _content_attributes(event: Event) -> list[Object]:
    """Arguments and result; the conventions allow JSON text for them on spans."""
    tool = event.tool
    if tool is None:
        return []
    attributes = [otlp.attribute("gen_ai.tool.call.arguments", dump(tool.input).decode())] if tool.input else []
    if tool.result is not None and tool.result.exit_code is not None:
        attributes.append(otlp.attribute("process.exit.code", tool.result.exit_code))
    output: Json = None if tool.result is None else tool.result.output
    if output is not None and not is_digest(output):
        attributes.append(otlp.attribute("gen_ai.tool.call.result", dump(output).decode()))
    return attributes
