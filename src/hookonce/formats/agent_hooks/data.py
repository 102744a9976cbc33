"""Agent Hooks `data` of each event type: writers from an event, and readers back into event fields."""

import re
from functools import lru_cache
from typing import Any

from msgspec.structs import asdict

from hookonce.base.jsontext import drop_none
from hookonce.formats._shared.fields import (
    as_count,
    as_text,
    hash_and_length,
    is_digest,
    qualify_model,
    read_field,
    read_usage,
    text_fields,
)
from hookonce.model import Digest, Event, Json, Object, Result, Tool
from hookonce.vocabulary import names
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.tools import TOOLS_BY_ACTION, action_of_tool

_TRIGGERS = frozenset({"auto", "manual", "system"})
_PLAN_TYPES = ("plan", "explore", "default")
_TOKEN_FIELDS = ("tokens_used", "tokens_limit", "tokens_before", "tokens_after", "tokens_removed", "tokens_remaining")
_UNFIT_CHARS = re.compile(r"\s|\.(?=\.|\Z)")
DERIVING_TYPES = frozenset({"tool_use_failure", "before_prompt"})  # events that may mean further ones
_LOOP_FIELDS = ("iteration_count", "tokens_consumed", "elapsed_ms")


@lru_cache(maxsize=512)
def type_name(kind: str, agent: str) -> str:
    """The name of a canonical type here; what the taxonomy lacks gets the agent's vendor prefix."""
    row = EVENTS.get(kind)
    if row is not None and row.agent_hooks is not None:
        return row.agent_hooks
    return _UNFIT_CHARS.sub("_", kind if kind.startswith("vendor.") else f"vendor.{agent}.{kind}")


def derived_events(event: Event) -> list[tuple[str, Object]]:
    """Further events that one event means: a failed tool is an error too, a prompt that opens a plan its start."""
    if event.type == "tool_use_failure":
        result = event.tool.result if event.tool is not None else None
        message = _text_or_digest("error_message", None if result is None else result.error)
        return [("Agent.Error", {"error_type": "ToolFailed", "origin_event": "Action.After"} | message)]
    if event.type == "before_prompt" and event.data.get("plan_type") in _PLAN_TYPES:
        return [("Agent.Plan.Start", {"plan_type": event.data["plan_type"]})]
    return []


def _text_or_digest(name: str, value: Any) -> Object:
    if value is None:
        return {}
    if not is_digest(value):
        return {name: as_text(value)}
    text_hash, length = hash_and_length(value)
    return {f"{name}_hash": text_hash, f"{name}_length": length}


def _session_start_data(event: Event) -> Object:
    source = event.data.get("source")
    reason = names.AGENT_HOOKS_START_REASONS.get(source) if type(source) is str else None
    return {} if reason is None else {"start_reason": reason}


def _session_end_data(event: Event) -> Object:
    reason, usage = event.data.get("reason"), event.usage
    usage_fields = {
        "total_tokens": usage and usage.total_tokens,
        "total_actions": as_count(event.data.get("total_actions")),
        "duration_ms": as_count(event.data.get("duration_ms")),
    }
    end_reason = names.AGENT_HOOKS_END_REASONS.get(reason) if type(reason) is str else None
    return drop_none({"end_reason": end_reason, "usage": drop_none(usage_fields) or None})


def _prompt_data(event: Event) -> Object:
    data = text_fields("prompt", event.prompt)
    is_followup = event.data.get("is_followup")
    return data | {"is_followup": is_followup} if type(is_followup) is bool else data


def _plan_data(event: Event) -> Object:
    kind = event.data.get("plan_type")
    if kind not in _PLAN_TYPES:
        name = (event.subagent.type or "").lower() if event.subagent is not None else ""
        kind = next((plan for plan in _PLAN_TYPES if plan in name), "default")
    return drop_none({"plan_type": kind, "step_count": as_count(event.data.get("step_count"))})


def _response_data(event: Event) -> Object:
    return text_fields("response", event.data.get("response")) | {"final": event.type == "agent_stop"}


def _model_data(event: Event) -> Object:
    usage = event.usage
    fields = {
        "model_id": event.model and qualify_model(event.model),
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "latency_ms": as_count(event.data.get("latency_ms")),
        "retry_count": as_count(event.data.get("retry_count")),
    }
    return drop_none(fields)


def _action_data(event: Event) -> Object:
    tool = event.tool
    if tool is None:
        path = event.data.get("path")
        return {"action": {"name": "write_file", "input": {"path": path}}} if type(path) is str else {}
    action: Object = {"name": _action_name(tool.native, tool.name), "input": _input_fields(tool.input)}
    if tool.result is not None:
        action["result"] = _result_fields(tool.result)
    return {"action": action}


@lru_cache(maxsize=512)
def _action_name(native: str, name: str) -> str:
    if TOOLS_BY_ACTION.get(native) == name:
        return native  # a word of this format already: an inline edit stays one
    return action_of_tool(name)


def _input_fields(arguments: Object) -> Object:
    fields: Object = {}
    for name, value in arguments.items():
        if type(value) is dict and is_digest(value):
            fields[name + "_hash"] = value["hash"]
            fields[name + "_length"] = value["length"]
        else:
            fields[name] = value
    return fields


def _result_fields(result: Result) -> Object:
    fields: Object = {}
    if result.ok is not None:
        fields["success"] = result.ok
    if result.exit_code is not None:
        fields["exit_code"] = result.exit_code
    if result.error is not None:
        fields |= _text_or_digest("error_message", result.error)
    if result.output is not None:
        fields |= _text_or_digest("output", result.output)
    return fields


def _context_data(event: Event) -> Object:
    data = event.data
    trigger, percentage = data.get("trigger"), data.get("percentage_used")
    fields: Object = {"trigger": trigger} if type(trigger) is str and trigger in _TRIGGERS else {}
    fields |= {name: count for name in _TOKEN_FIELDS if (count := as_count(data.get(name))) is not None}
    if isinstance(percentage, int | float) and not isinstance(percentage, bool):
        fields["percentage_used"] = min(max(percentage, 0), 100)
    if type(data.get("strategy")) is str:
        fields["strategy"] = data["strategy"]
    return fields


def _notification_data(event: Event) -> Object:
    native_type = event.data.get("notification_type")
    notification_type = names.NOTIFICATION_TYPES.get(native_type) if type(native_type) is str else None
    if event.type == "permission_request":
        notification_type = "ToolPermission"
    fields: Object = {} if notification_type is None else {"type": notification_type}
    fields |= _text_or_digest("message", event.data.get("message"))
    if event.tool is not None:
        name = _action_name(event.tool.native, event.tool.name)
        fields["details"] = {"action": {"name": name, "input": _input_fields(event.tool.input)}}
    elif type(event.data.get("details")) is dict:
        fields["details"] = event.data["details"]
    return fields


def _error_data(event: Event) -> Object:
    data, error = event.data, event.data.get("error")
    error_types = (names.ERROR_TYPES.get(str(data.get(name))) for name in ("error_type", "error_context"))
    error_type = next((kind for kind in error_types if kind), "UnhandledException")
    if type(error) is dict and "message" in error:
        error = error["message"]
    return {"error_type": error_type} | _text_or_digest("error_message", error) | _origin_field(event)


def _origin_field(event: Event) -> Object:
    """The event in which it failed: a canonical type in this format's words, and what are such words already."""
    origin = event.data.get("origin_event")
    if type(origin) is not str:
        return {}
    return {"origin_event": type_name(origin, event.agent) if origin in EVENTS else origin}


def _loop_data(event: Event) -> Object:
    name = event.data.get("action_name")
    counts = {count: as_count(event.data.get(count)) for count in _LOOP_FIELDS}
    return drop_none({"action_name": name if type(name) is str else None} | counts)


DATA_WRITERS = {
    "Session.Start": _session_start_data,
    "Session.End": _session_end_data,
    "Prompt.Submitted": _prompt_data,
    "Agent.Plan.Start": _plan_data,
    "Agent.Response": _response_data,
    "Model.Requested": _model_data,
    "Model.Responded": _model_data,
    "Model.Failed": _model_data,
    "Action.Before": _action_data,
    "Action.After": _action_data,
    "Context.UntilCompaction": _context_data,
    "Context.Compaction": _context_data,
    "Agent.Notification": _notification_data,
    "Agent.Error": _error_data,
    "Retry.Triggered": _loop_data,
    "Retry.Loop.Detected": _loop_data,
    "Retry.Loop.Aborted": _loop_data,
}

# Agent Hooks name → name in Event.data, where they differ.
_DATA_NAMES = {"start_reason": "source", "end_reason": "reason", "response_text": "response", "error_message": "error"}
# What in the data of a category has a field of its own in the event.
_CONSUMED_FIELDS = {
    "Action": ("action",),
    "Model": ("model_id", "input_tokens", "output_tokens"),
    "Prompt": ("prompt_hash", "prompt_length", "prompt_text"),
}


def event_fields(kind: str, data: Object) -> Object:
    """The event fields that the data fills; the data of a type that is not described is taken as it is."""
    if kind not in DATA_WRITERS:
        return {"data": dict(data)}
    category = kind.partition(".")[0]
    consumed_fields = _CONSUMED_FIELDS.get(category, ())
    event_data = {_DATA_NAMES.get(name, name): value for name, value in data.items() if name not in consumed_fields}
    fields: Object = {"data": event_data}
    if category == "Action":
        _read_action(kind, data, fields)
    elif category == "Model":
        fields |= {"model": read_field(data, "model_id", str, "$.data"), "usage": read_usage(data)}
    elif category == "Prompt":
        fields["prompt"] = _read_text(data, "prompt")
    elif kind == "Agent.Response":
        _read_response(data, fields)
    elif kind == "Agent.Notification" and "type" in event_data:
        event_data["notification_type"] = event_data.pop("type")
    return fields


def _read_action(kind: str, data: Object, fields: Object) -> None:
    action = read_field(data, "action", dict, "$.data")
    if action is None:
        return
    fields["tool"] = tool = _read_tool(action)
    if tool is None:
        fields["data"]["action"] = action
    elif kind == "Action.After" and tool.result is not None and tool.result.ok is False:
        fields["type"] = "tool_use_failure"


def _read_response(data: Object, fields: Object) -> None:
    event_data = fields["data"]
    response = _read_text(data, "response")
    if isinstance(response, Digest):
        event_data["response"] = asdict(response)
    if response is not None:
        event_data.pop("response_hash", None)
        event_data.pop("response_length", None)
    if data.get("final") is False:
        fields["type"] = "agent_response"


def _read_text(data: Object, name: str) -> str | Digest | None:
    text = read_field(data, f"{name}_text", str, "$.data")
    text_hash = read_field(data, f"{name}_hash", str, "$.data")
    length = read_field(data, f"{name}_length", int, "$.data")
    if text is not None or (text_hash is None and length is None):
        return text
    return Digest(hash=text_hash or "", length=length or 0, lines=0)


def _read_tool(action: Object) -> Tool | None:
    name = read_field(action, "name", str, "$.data.action")
    if name is None:
        return None
    result = read_field(action, "result", dict, "$.data.action")
    return Tool(
        name=f"mcp:?/{name[4:]}" if name.startswith("mcp:") else TOOLS_BY_ACTION.get(name, name),
        native=name,
        input=read_field(action, "input", dict, "$.data.action") or {},
        result=None if result is None else _read_result(result),
    )


def _read_result(result: Object) -> Result:
    def read(key: str, kind: type[Any]) -> Json:
        return read_field(result, key, kind, "$.data.action.result")

    ok, exit_code = read("success", bool), read("exit_code", int)
    return Result(ok=ok, exit_code=exit_code, error=read("error_message", str), output=read("output", str))
