"""Spans: what one event tells of something that has ended, as an OTLP trace request. Never read back."""

from hookonce.formats._otlp import (
    call_span,
    described,
    failed,
    judged,
    nanoseconds,
    pair,
    resource,
    scope,
    session_span,
    span,
    trace_id,
    turn_span,
)
from hookonce.formats._read import whole
from hookonce.formats._rest import is_repeat
from hookonce.formats._text import is_left_out
from hookonce.model import Event, Json, Object, Record
from hookonce.texts import dump

# What ends with an event, as the conventions call the operation; a session is ours alone.
_ENDS = {
    "after_tool_execute": "execute_tool",
    "tool_use_failure": "execute_tool",
    "after_model": "chat",
    "model_failed": "chat",
    "agent_stop": "invoke_agent",
    "subagent_stop": "invoke_agent",
    "session_end": "session",
    "session_abort": "session",
}
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2


def write_spans(record: Record) -> list[Object]:
    """One request with one span, for an event that ends something at a known time."""
    event = record.event
    operation, end = _ENDS.get(event.type), nanoseconds(event.time)
    if operation is None or not end or is_repeat(event):
        return []
    inner = {"scope": scope(), "spans": [_span(record, operation, end)]}
    return [{"resourceSpans": [{"resource": resource(event), "scopeSpans": [inner]}]}]


def _span(record: Record, operation: str, end: int) -> Object:
    event = record.event
    own, parent = _place(event, operation)
    found: Object = {"traceId": trace_id(event), "spanId": own}
    if parent is not None:
        found["parentSpanId"] = parent
    found["name"] = f"{operation} {_subject(event, operation)}"
    found["kind"] = _CLIENT if operation == "chat" else _INTERNAL
    found["startTimeUnixNano"] = str(max(end - _length(event), 0))
    found["endTimeUnixNano"] = str(end)
    found["attributes"] = described(event, "hookonce.event.id", event.id) + _contents(event) + judged(record)
    if failed(event):
        found["status"] = {"code": _ERROR, **_message(event)}
    return found


def _place(event: Event, operation: str) -> tuple[str, str | None]:
    """Own id and parent; what has no name of its own is named after its event."""
    if operation == "session":
        return session_span(event), None
    if operation == "execute_tool":
        own, parent = call_span(event), turn_span(event)
    elif event.type == "agent_stop":
        own, parent = turn_span(event), session_span(event)
    else:
        name = event.subagent.id if event.type == "subagent_stop" and event.subagent is not None else None
        own, parent = span("subagent", event.session, name) if name else "", turn_span(event)
    return (own if own and own != parent else span("event", event.id)), parent


def _subject(event: Event, operation: str) -> str:
    if operation == "execute_tool" and event.tool is not None:
        return event.tool.native
    if operation == "chat" and event.model is not None:
        return event.model
    if event.type == "subagent_stop" and event.subagent is not None and event.subagent.type:
        return event.subagent.type
    return event.agent


def _length(event: Event) -> int:
    """How long it took, in nanoseconds; 0 where the event does not tell."""
    result = event.tool.result if event.tool is not None else None
    told = event.data.get("duration_ms") if result is None else result.duration_ms
    return (whole(told) or 0) * 1_000_000


def _contents(event: Event) -> list[Object]:
    """Arguments and result; the conventions allow JSON text for them on spans."""
    tool = event.tool
    if tool is None:
        return []
    found = [pair("gen_ai.tool.call.arguments", dump(tool.input).decode())] if tool.input else []
    if tool.result is not None and tool.result.exit_code is not None:
        found.append(pair("process.exit.code", tool.result.exit_code))
    output: Json = None if tool.result is None else tool.result.output
    if output is not None and not is_left_out(output):
        found.append(pair("gen_ai.tool.call.result", dump(output).decode()))
    return found


def _message(event: Event) -> Object:
    result = event.tool.result if event.tool is not None else None
    error = event.data.get("error") if result is None else result.error
    return {"message": error} if type(error) is str else {}
