"""OTLP in JSON, the writing side: attribute values, times, ids, and what log records and spans say alike.

Attribute names are those of the OpenTelemetry conventions for generative AI where they have one,
and begin with `hookonce.` where they have none.
"""

from functools import lru_cache
from hashlib import blake2b

from hookonce import __version__, times
from hookonce.formats._model import provider_of
from hookonce.model import Decision, Event, Json, Object, Record, Risk, Usage
from hookonce.texts import dump

# OpenTelemetry's name of each count of `Usage`; it has none for the total.
USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
    "total_tokens": "hookonce.usage.total_tokens",
}
# Fields of a decision that may be any JSON: they travel as JSON text.
REWRITES = ("updated_input", "updated_output")
_TEXTS = ("reason", "context", "proceed", "system_message", "suppress_output", "by")
_FAILURES = frozenset({"tool_use_failure", "error_occurred", "model_failed"})
_OPERATIONS = {
    **dict.fromkeys(("before_tool_execute", "after_tool_execute", "tool_use_failure"), "execute_tool"),
    **dict.fromkeys(("before_prompt", "agent_stop", "subagent_start", "subagent_stop"), "invoke_agent"),
    **dict.fromkeys(("before_model", "after_model", "model_failed"), "chat"),
    **dict.fromkeys(("plan_start", "plan_end"), "plan"),
}
_PROVIDERS = {"google": "gcp.gemini", "xai": "x_ai"}  # where the conventions spell one otherwise than we do
_OUTSIDE = frozenset({"web_fetch", "web_search"})
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def scope() -> Object:
    """Who has put it into this form."""
    return {"name": "hookonce", "version": __version__}


def resource(event: Event) -> Object:
    """Who speaks: to OpenTelemetry the agent is the service."""
    told = [{"key": "service.name", "value": {"stringValue": event.agent}}]
    if event.agent_version is not None:
        told.append({"key": "service.version", "value": {"stringValue": event.agent_version}})
    return {"attributes": told}


def described(event: Event, key: str, own: str) -> list[Object]:
    """What the event says of itself, absent things left out; `own` is its id, under `key`."""
    texts: dict[str, str | None] = {
        key: own,
        "gen_ai.operation.name": _OPERATIONS.get(event.type),
        "gen_ai.agent.name": event.agent,
        "gen_ai.agent.version": event.agent_version,
        "gen_ai.conversation.id": event.session,
        "hookonce.turn": event.turn,
        "process.working_directory": event.cwd,
    }
    if event.model is not None:
        provider = provider_of(event.model)
        texts["gen_ai.provider.name"] = provider and _PROVIDERS.get(provider, provider)
        texts["gen_ai.request.model"] = event.model
    if event.tool is not None:
        _name_tool(event, texts)
    if failed(event):
        kind = event.data.get("error_type")
        texts["error.type"] = kind if type(kind) is str else "_OTHER"
    if event.user is not None:
        texts["user.id"], texts["user.name"] = event.user.id, event.user.name
    found: list[Object] = [
        {"key": name, "value": {"stringValue": text}} for name, text in texts.items() if text is not None
    ]
    return found if event.usage is None else found + _counts(event.usage)


def _name_tool(event: Event, texts: dict[str, str | None]) -> None:
    tool = event.tool
    if tool is None:
        return
    outside = tool.name in _OUTSIDE or tool.name.startswith("mcp:")
    texts["gen_ai.tool.name"] = tool.native
    texts["gen_ai.tool.type"] = "extension" if outside else "function"
    texts["gen_ai.tool.call.id"] = tool.call_id
    texts["hookonce.tool"] = tool.name


def _counts(usage: Usage) -> list[Object]:
    counts = ((name, getattr(usage, field)) for field, name in USAGE.items())
    return [pair(name, count) for name, count in counts if count is not None]


def failed(event: Event) -> bool:
    """Whether the event tells of something that went wrong."""
    if event.type in _FAILURES:
        return True
    tool = event.tool
    return tool is not None and tool.result is not None and tool.result.ok is False


def judged(record: Record) -> list[Object]:
    """What was decided, how dangerous it looked, and which hooks ran."""
    found = _decided(record.decision) if record.decision is not None else []
    if record.risk is not None:
        found += _risked(record.risk)
    if record.runs:
        found.append(pair("hookonce.runs", dump(record.runs).decode()))
    return found


def _decided(decision: Decision) -> list[Object]:
    texts = ((name, getattr(decision, name)) for name in _TEXTS)
    rewrites = ((name, getattr(decision, name)) for name in REWRITES)
    return [
        pair("hookonce.decision.outcome", decision.outcome or "none"),
        *(pair("hookonce.decision." + name, value) for name, value in texts if value is not None),
        *(pair("hookonce.decision." + name, dump(value).decode()) for name, value in rewrites if value is not None),
    ]


def _risked(risk: Risk) -> list[Object]:
    found = [pair("hookonce.risk.factors", risk.factors)]
    if risk.score is not None:
        found.append(pair("hookonce.risk.score", risk.score))
    if risk.level is not None:
        found.append(pair("hookonce.risk.level", risk.level))
    return found


def pair(key: str, value: Json) -> Object:
    """One attribute."""
    return {"key": key, "value": wrapped(value)}


def wrapped(value: Json) -> Object:
    """A JSON value as OTLP has it: whole numbers are decimal text there, and those beyond 64 bits no numbers."""
    kind = type(value)
    if kind is str:
        return {"stringValue": value}
    if kind is dict:
        return {"kvlistValue": {"values": [{"key": key, "value": wrapped(item)} for key, item in value.items()]}}
    if kind is list:
        return {"arrayValue": {"values": [wrapped(item) for item in value]}}
    if kind is bool:
        return {"boolValue": value}
    if kind is int:
        return {"intValue" if _LOWEST <= value <= _HIGHEST else "stringValue": str(value)}
    return {"doubleValue": value} if kind is float else {}


def nanoseconds(text: str | None) -> int:
    """Nanoseconds since 1970; 0, which means unknown, for what is no time."""
    return times.nanoseconds(text) or 0 if text is not None else 0


def trace_id(event: Event) -> str:
    """One trace is one session; an event without a session is a trace of its own."""
    return _digest(16, "session", event.session or event.id)


def call_span(event: Event) -> str:
    """The span of the call that the event belongs to, else that of its turn."""
    tool = event.tool
    return span("call", event.session, tool.call_id) if tool is not None and tool.call_id else turn_span(event)


def turn_span(event: Event) -> str:
    """The span of the turn that the event belongs to, else that of its session."""
    return span("turn", event.session, event.turn) if event.turn else session_span(event)


def session_span(event: Event) -> str:
    """The span of the whole session."""
    return span("session", event.session or event.id)


def span(*parts: str | None) -> str:
    """The id of a span: the same parts give the same one."""
    return _digest(8, *parts)


@lru_cache(maxsize=1024)  # most events of a stream share their session and turn
def _digest(size: int, *parts: str | None) -> str:
    text = "\0".join(part or "" for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
