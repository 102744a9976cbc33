"""Turns in open formats: as OpenTelemetry spans, a turn above its calls, and with their Agent Hooks events."""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import to_builtins

from hookonce.base.jsontext import dump, load
from hookonce.formats.agent_hooks.envelope import FORMAT as AGENT_HOOKS
from hookonce.formats.otel import otlp
from hookonce.inspect.turns import PriceLookup, Turn, TurnAction, TurnModelCall, assign_turns, build_turns
from hookonce.model import Object, Record, Usage
from hookonce.store.integrity.signature import sign_document
from hookonce.vocabulary.events import is_redundant

TURN_FORMATS = ("agent-hooks", "otel")
_KIND_INTERNAL, _KIND_CLIENT = 1, 3
_STATUS_ERROR = 2
_NS_PER_MS = 1_000_000
_CYCLE_FIELDS = (
    *("agent", "session", "user", "number", "id", "first", "last", "duration_ms", "end"),
    *("calls", "failures", "refusals", "usage", "cost_micros"),
)


def write_turns(
    records: Iterable[Record],
    sources: frozenset[str],
    find_price: PriceLookup,
    format_name: str,
    unwritten_types: Counter[str],
    *,
    signs: bool = False,
) -> Iterator[Object]:
    """The turns of a session's records in a format of `TURN_FORMATS`, one document each.

    In `unwritten_types` those events are counted that the format has no place for. `signs` says that each trace, or
    each event of a cycle, is signed.
    """

    def sign(document: Object) -> Object:
        return sign_document(format_name, load(dump(document).decode())) if signs else document

    if format_name == "otel":
        for turn in build_turns(records, sources, find_price):
            yield sign(write_spans(turn))
        return
    documents: dict[int, list[Object]] = {}

    def collect(numbered_records: Iterable[tuple[int, Record]]) -> Iterator[Record]:
        for number, record in numbered_records:
            lines = AGENT_HOOKS.write(record)
            documents.setdefault(number, []).extend(map(sign, lines))
            if not lines and not is_redundant(record.event):
                unwritten_types[record.event.type] += 1
            yield record

    for turn in build_turns(collect(assign_turns(records)), sources, find_price):
        cycle = {name: to_builtins(getattr(turn, name)) for name in _CYCLE_FIELDS}
        yield {"cycle": cycle, "events": documents.pop(turn.number)}


def write_spans(turn: Turn) -> Object:
    """One OTLP trace request: the span of a turn, and below it those of its actions and model calls."""
    turn_id = otlp.span_id("turn", turn.session, turn.id or str(turn.number))
    attributes: Object = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": turn.agent,
        "gen_ai.conversation.id": turn.session,
        "user.id": None if turn.user is None else turn.user.id,
        "user.name": None if turn.user is None else turn.user.name,
        "hookonce.turn.number": turn.number,
        "hookonce.turn.end": turn.end,
        "hookonce.turn.events": turn.events,
        "hookonce.turn.calls": turn.calls,
        "hookonce.turn.failures": turn.failures,
        "hookonce.turn.refusals": turn.refusals,
        "hookonce.turn.files": sorted(turn.files),
        "hookonce.cost_micros": turn.cost_micros,
    }
    own_span = _build_span(turn, turn_id, otlp.span_id("session", turn.session), f"invoke_agent {turn.agent}")
    own_span |= _span_times(turn.first, turn.duration_ms) | _span_attributes(attributes, turn.usage)
    spans = [own_span, *(_action_span(turn, turn_id, action) for action in turn.actions)]
    spans += [_model_span(turn, turn_id, call) for call in turn.model_calls]
    inner = {"scope": otlp.instrumentation_scope(), "spans": spans}
    resource = {"attributes": [otlp.attribute("service.name", turn.agent)]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [inner]}]}


def _action_span(turn: Turn, turn_id: str, action: TurnAction) -> Object:
    attributes: Object = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": action.tool,
        "hookonce.event.id": action.id,
        "hookonce.subagent": action.subagent,
        "hookonce.decision.outcome": action.decision,
        "hookonce.decision.reason": action.reason,
        "hookonce.decision.by": action.by,
    }
    own_id = otlp.span_id("action", action.id, str(turn.number))  # one that ends in a later turn is told in both
    span = _build_span(turn, own_id, turn_id, f"execute_tool {action.tool}")
    span |= _span_times(action.time, action.duration_ms) | _span_attributes(attributes, None)
    return span | ({"status": {"code": _STATUS_ERROR}} if action.ok is False else {})


def _model_span(turn: Turn, turn_id: str, call: TurnModelCall) -> Object:
    attributes: Object = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": call.model,
        "hookonce.event.id": call.id,
        "hookonce.subagent": call.subagent,
    }
    span = _build_span(turn, otlp.span_id("answer", call.id), turn_id, f"chat {call.model or turn.agent}")
    return span | {"kind": _KIND_CLIENT} | _span_times(call.time, None) | _span_attributes(attributes, call.usage)


def _build_span(turn: Turn, own_id: str, parent_id: str, name: str) -> Object:
    ids = {"traceId": otlp.trace_id(turn.session), "spanId": own_id, "parentSpanId": parent_id}
    return ids | {"name": name, "kind": _KIND_INTERNAL}


def _span_times(start: str, duration_ms: float | None) -> Object:
    start_ns = otlp.nanoseconds(start)
    end_ns = start_ns + round((duration_ms or 0) * _NS_PER_MS)
    return {"startTimeUnixNano": str(start_ns), "endTimeUnixNano": str(end_ns)}


def _span_attributes(values: Object, usage: Usage | None) -> Object:
    counts = {name: None if usage is None else getattr(usage, field) for field, name in otlp.USAGE_ATTRIBUTES.items()}
    pairs = (values | counts).items()
    return {"attributes": [otlp.attribute(name, value) for name, value in pairs if value not in (None, [])]}
