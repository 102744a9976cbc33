"""OTLP/JSON codec: attribute values, times, span ids, and the attributes that log records and spans share.

Attribute names are those of the OpenTelemetry conventions for generative AI where they have one, and begin
with `hookonce.` where they have none.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, TypeVar

from msgspec import DecodeError, ValidationError, convert
from msgspec.json import decode

from hookonce import __version__
from hookonce.base import times
from hookonce.base.jsontext import drop_none, dump, load
from hookonce.errors import DocumentError
from hookonce.formats._shared.fields import provider_of, read_field, require_field
from hookonce.model import Decision, Event, HookRun, Json, Object, Record, Risk

# OpenTelemetry's name of each count of `Usage`; it has none for the total.
USAGE_ATTRIBUTES = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
    "total_tokens": "hookonce.usage.total_tokens",
}
# Fields of a decision that may be any JSON: they travel as JSON text.
REWRITE_FIELDS = ("updated_input", "updated_output")
_DECISION_FIELDS = ("reason", "context", "proceed", "system_message", "suppress_output", "by")
_FAILURE_TYPES = frozenset({"tool_use_failure", "error_occurred", "model_failed"})
_OPERATION_BY_TYPE = {
    **dict.fromkeys(("before_tool_execute", "after_tool_execute", "tool_use_failure"), "execute_tool"),
    **dict.fromkeys(("before_prompt", "agent_stop", "subagent_start", "subagent_stop"), "invoke_agent"),
    **dict.fromkeys(("before_model", "after_model", "model_failed"), "chat"),
    **dict.fromkeys(("plan_start", "plan_end"), "plan"),
}
_PROVIDER_NAMES = {"google": "gcp.gemini", "xai": "x_ai"}  # where the conventions spell one otherwise than we do
_EXTENSION_TOOLS = frozenset({"web_fetch", "web_search"})
_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1


def instrumentation_scope() -> Object:
    """The instrumentation scope: hookonce and its version."""
    return {"name": "hookonce", "version": __version__}


def resource_of(event: Event) -> Object:
    """The resource of an event: to OpenTelemetry the agent is the service."""
    attributes = [{"key": "service.name", "value": {"stringValue": event.agent}}]
    if event.agent_version is not None:
        attributes.append({"key": "service.version", "value": {"stringValue": event.agent_version}})
    return {"attributes": attributes}


def event_attributes(event: Event, key: str, own_id: str) -> list[Object]:
    """Attributes of an event, without those that have no value; `own_id` is its id, under `key`."""
    texts: dict[str, str | None] = {
        key: own_id,
        "gen_ai.operation.name": _OPERATION_BY_TYPE.get(event.type),
        "gen_ai.agent.name": event.agent,
        "gen_ai.agent.version": event.agent_version,
        "gen_ai.conversation.id": event.session,
        "hookonce.turn": event.turn,
        "process.working_directory": event.cwd,
    }
    if event.model is not None:
        provider = provider_of(event.model)
        texts["gen_ai.provider.name"] = provider and _PROVIDER_NAMES.get(provider, provider)
        texts["gen_ai.request.model"] = event.model
    if event.tool is not None:
        is_extension = event.tool.name in _EXTENSION_TOOLS or event.tool.name.startswith("mcp:")
        texts |= {
            "gen_ai.tool.name": event.tool.native,
            "gen_ai.tool.type": "extension" if is_extension else "function",
            "gen_ai.tool.call.id": event.tool.call_id,
            "hookonce.tool": event.tool.name,
        }
    if is_failure(event):
        kind = event.data.get("error_type")
        texts["error.type"] = kind if type(kind) is str else "_OTHER"
    if event.user is not None:
        texts["user.id"], texts["user.name"] = event.user.id, event.user.name
    attributes = [attribute(name, text) for name, text in texts.items() if text is not None]
    if event.usage is not None:
        counts = ((name, getattr(event.usage, field)) for field, name in USAGE_ATTRIBUTES.items())
        attributes += [attribute(name, count) for name, count in counts if count is not None]
    return attributes


def is_failure(event: Event) -> bool:
    """Whether the event says that something went wrong."""
    if event.type in _FAILURE_TYPES:
        return True
    tool = event.tool
    return tool is not None and tool.result is not None and tool.result.ok is False


def decision_attributes(record: Record) -> list[Object]:
    """Attributes of the decision, the risk and the hooks that ran."""
    attributes = _decision_pairs(record.decision) if record.decision is not None else []
    if (risk := record.risk) is not None:
        values = drop_none({"factors": risk.factors, "score": risk.score, "level": risk.level})
        attributes += [attribute("hookonce.risk." + name, value) for name, value in values.items()]
    if record.runs:
        attributes.append(attribute("hookonce.runs", dump(record.runs).decode()))
    return attributes


def _decision_pairs(decision: Decision) -> list[Object]:
    values = {"outcome": decision.outcome or "none"} | {name: getattr(decision, name) for name in _DECISION_FIELDS}
    rewrites = drop_none({name: getattr(decision, name) for name in REWRITE_FIELDS})
    values |= {name: dump(value).decode() for name, value in rewrites.items()}
    return [attribute("hookonce.decision." + name, value) for name, value in drop_none(values).items()]


def attribute(key: str, value: Json) -> Object:
    """One attribute."""
    return {"key": key, "value": encode_value(value)}


def encode_value(value: Json) -> Object:
    """A JSON value as OTLP has it: ints are decimal text, and those beyond 64 bits strings."""
    kind = type(value)
    if kind is str:
        return {"stringValue": value}
    if kind is dict:
        return {"kvlistValue": {"values": [{"key": key, "value": encode_value(item)} for key, item in value.items()]}}
    if kind is list:
        return {"arrayValue": {"values": [encode_value(item) for item in value]}}
    if kind is bool:
        return {"boolValue": value}
    if kind is int:
        return {"intValue" if _MIN_INT64 <= value <= _MAX_INT64 else "stringValue": str(value)}
    return {"doubleValue": value} if kind is float else {}


def nanoseconds(text: str | None) -> int:
    """Nanoseconds since 1970; 0, which means unknown, for what is no time."""
    return times.to_nanoseconds(text) or 0 if text is not None else 0


def trace_id_of(event: Event) -> str:
    """One trace is one session; an event without a session is a trace of its own."""
    return trace_id(event.session or event.id)


def trace_id(session: str | None) -> str:
    """The trace id of a session."""
    return _hash_id(16, "session", session)


def call_span_id(event: Event) -> str:
    """The span id of the event's tool call, else that of its turn."""
    tool = event.tool
    return span_id("call", event.session, tool.call_id) if tool is not None and tool.call_id else turn_span_id(event)


def turn_span_id(event: Event) -> str:
    """The span id of the event's turn, else that of its session."""
    return span_id("turn", event.session, event.turn) if event.turn else session_span_id(event)


def session_span_id(event: Event) -> str:
    """The span id of the whole session."""
    return span_id("session", event.session or event.id)


def span_id(*parts: str | None) -> str:
    """A span id: the same parts give the same one."""
    return _hash_id(8, *parts)


@lru_cache(maxsize=1024)  # most events of a stream share their session and turn
def _hash_id(size: int, *parts: str | None) -> str:
    text = "\0".join(part or "" for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


T = TypeVar("T")
_INT_TEXT = re.compile(r"-?\d{1,20}")
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_UINT64 = 2**64


def only_log_record(doc: Object) -> tuple[Object, Object, str]:
    """The resource's attributes, the log record and its path; a request with several is refused."""
    if "resourceSpans" in doc:
        raise DocumentError("spans are written and never read: give log records", "$.resourceSpans")
    records = list(iter_log_records(doc))
    if not records:
        raise DocumentError("there is no log record", "$.resourceLogs")
    if len(records) > 1:
        message = f"there are {len(records)} log records: give each one a document of its own"
        raise DocumentError(message, "$.resourceLogs")
    return records[0]


def iter_log_records(doc: Object) -> Iterator[tuple[Object, Object, str]]:
    """Every log record with its resource's attributes and its path."""
    require_field(doc, "resourceLogs", list)
    for resource_logs, resource_path in iter_objects(doc, "resourceLogs", "$"):
        resource = read_field(resource_logs, "resource", dict, resource_path) or {}
        resource_attributes = read_attributes(resource, "attributes", f"{resource_path}.resource")
        for scope_logs, scope_path in iter_objects(resource_logs, "scopeLogs", resource_path):
            for log, path in iter_objects(scope_logs, "logRecords", scope_path):
                yield resource_attributes, log, path


def iter_objects(holder: Object, key: str, where: str) -> Iterator[tuple[Object, str]]:
    """The objects of a list, each with its path; anything else in it is refused."""
    for index, item in enumerate(read_field(holder, key, list, where) or []):
        path = f"{where}.{key}[{index}]"
        if type(item) is not dict:
            raise DocumentError("expected an object", path)
        yield item, path


def read_attributes(holder: Object, key: str, where: str) -> Object:
    """Attributes as an object; the last of equal keys wins."""
    result: Object = {}
    for item, path in iter_objects(holder, key, where):
        value = read_field(item, "value", dict, path) or {}
        result[require_field(item, "key", str, path)] = decode_value(value, f"{path}.value")
    return result


def decode_value(value: Object, where: str) -> Json:
    """The JSON value of an attribute; an empty one is null."""
    if "arrayValue" in value:
        inner = require_field(value, "arrayValue", dict, where)
        return [decode_value(item, path) for item, path in iter_objects(inner, "values", f"{where}.arrayValue")]
    if "kvlistValue" in value:
        return read_attributes(require_field(value, "kvlistValue", dict, where), "values", f"{where}.kvlistValue")
    if "intValue" in value:
        return _read_int(value, "intValue", where)
    if "boolValue" in value:
        return read_field(value, "boolValue", bool, where)
    if type(number := value.get("doubleValue")) in {float, int}:
        return number
    # Bytes are base64 there, and the numbers that JSON lacks are words.
    key = next((key for key in ("doubleValue", "bytesValue") if key in value), "stringValue")
    return read_field(value, key, str, where)


def _read_int(holder: Object, key: str, where: str) -> int | None:
    value = holder.get(key)
    if value is None or type(value) is int:
        return value
    if type(value) is str and _INT_TEXT.fullmatch(value):
        return int(value)
    raise DocumentError("expected a whole number, as decimal text or as a number", f"{where}.{key}")


def read_time(holder: Object, key: str, where: str) -> str | None:
    """A time in nanoseconds since 1970, as text; None where it is unknown."""
    nanos = _read_int(holder, key, where)
    if not nanos:
        return None
    if not 0 < nanos < _MAX_UINT64:
        raise DocumentError("expected nanoseconds since 1970", f"{where}.{key}")
    return times.format_time(_UNIX_EPOCH + timedelta(microseconds=nanos // 1000))


def pop_verdict(attributes: Object, where: str) -> tuple[Decision | None, Risk | None, list[HookRun]]:
    """Remove the attributes of the decision, the risk and the hooks that ran from the others, and parse them."""
    decision = _read_decision(_pop_family(attributes, "hookonce.decision."), where)
    risk_fields, runs = _pop_family(attributes, "hookonce.risk."), attributes.pop("hookonce.runs", None)
    risk = _convert(risk_fields, Risk, f"{where}.hookonce.risk") if risk_fields else None
    return decision, risk, [] if runs is None else _decode_json(runs, list[HookRun], f"{where}.hookonce.runs")


def _read_decision(fields: Object, where: str) -> Decision | None:
    if not fields:
        return None
    if fields.get("outcome") == "none":
        del fields["outcome"]
    for name in REWRITE_FIELDS:
        if name in fields:
            fields[name] = _decode_json(fields[name], Any, f"{where}.hookonce.decision.{name}")
    return _convert(fields, Decision, f"{where}.hookonce.decision")


def pop_rest(attributes: Object, key: str) -> Json:
    """Remove our extension from the attributes and parse it; None where it is not readable."""
    text = attributes.pop(key, None)
    try:
        return load(text) if type(text) is str else None
    except (ValueError, RecursionError):
        return None


def _pop_family(attributes: Object, prefix: str) -> Object:
    return {name.removeprefix(prefix): attributes.pop(name) for name in list(attributes) if name.startswith(prefix)}


def _convert(fields: Object, kind: type[T], where: str) -> T:
    try:
        return convert(fields, kind)
    except (ValidationError, UnicodeEncodeError) as problem:
        raise DocumentError(str(problem), where) from None


def _decode_json(text: Json, kind: Any, where: str) -> Any:
    try:
        return decode(text if type(text) is str else b"", type=kind)
    except (DecodeError, UnicodeEncodeError, RecursionError):
        raise DocumentError("expected JSON text of the right form", where) from None
