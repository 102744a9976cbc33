"""OTLP/JSON codec: attribute values, times, span ids, and the attributes that log records and spans share.

Attribute names are those of the OpenTelemetry conventions for generative AI where they have one, and begin
with `hookonce.` where they have none. Reading finds the one log record of a request and the values of its
attributes.
"""

from functools import lru_cache
from hashlib import blake2b

from hookonce import __version__, times
from hookonce.formats._model import provider_of
from hookonce.model import Decision, Event, Json, Object, Record, Risk, Usage
from hookonce.texts import dump

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
        _add_tool_attributes(event, texts)
    if is_failure(event):
        kind = event.data.get("error_type")
        texts["error.type"] = kind if type(kind) is str else "_OTHER"
    if event.user is not None:
        texts["user.id"], texts["user.name"] = event.user.id, event.user.name
    attributes: list[Object] = [
        {"key": name, "value": {"stringValue": text}} for name, text in texts.items() if text is not None
    ]
    return attributes if event.usage is None else attributes + _usage_attributes(event.usage)


def _add_tool_attributes(event: Event, texts: dict[str, str | None]) -> None:
    tool = event.tool
    if tool is None:
        return
    is_extension = tool.name in _EXTENSION_TOOLS or tool.name.startswith("mcp:")
    texts["gen_ai.tool.name"] = tool.native
    texts["gen_ai.tool.type"] = "extension" if is_extension else "function"
    texts["gen_ai.tool.call.id"] = tool.call_id
    texts["hookonce.tool"] = tool.name


def _usage_attributes(usage: Usage) -> list[Object]:
    counts = ((name, getattr(usage, field)) for field, name in USAGE_ATTRIBUTES.items())
    return [attribute(name, count) for name, count in counts if count is not None]


def is_failure(event: Event) -> bool:
    """Whether the event says that something went wrong."""
    if event.type in _FAILURE_TYPES:
        return True
    tool = event.tool
    return tool is not None and tool.result is not None and tool.result.ok is False


def decision_attributes(record: Record) -> list[Object]:
    """Attributes of the decision, the risk and the hooks that ran."""
    attributes = _decision_pairs(record.decision) if record.decision is not None else []
    if record.risk is not None:
        attributes += _risk_pairs(record.risk)
    if record.runs:
        attributes.append(attribute("hookonce.runs", dump(record.runs).decode()))
    return attributes


def _decision_pairs(decision: Decision) -> list[Object]:
    texts = ((name, getattr(decision, name)) for name in _DECISION_FIELDS)
    rewrites = ((name, getattr(decision, name)) for name in REWRITE_FIELDS)
    return [
        attribute("hookonce.decision.outcome", decision.outcome or "none"),
        *(attribute("hookonce.decision." + name, value) for name, value in texts if value is not None),
        *(attribute("hookonce.decision." + name, dump(value).decode()) for name, value in rewrites if value is not None),
    ]


def _risk_pairs(risk: Risk) -> list[Object]:
    attributes = [attribute("hookonce.risk.factors", risk.factors)]
    if risk.score is not None:
        attributes.append(attribute("hookonce.risk.score", risk.score))
    if risk.level is not None:
        attributes.append(attribute("hookonce.risk.level", risk.level))
    return attributes


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
    return _hash_id(16, "session", event.session or event.id)


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
