"""The `data` of each Agent Hooks event type, out of an event and back into one."""

from re import compile as pattern
from typing import Any

from msgspec.structs import asdict

from hookonce.canon.events import EVENTS
from hookonce.canon.reasons import END_AGENT_HOOKS, ERRORS, NOTIFICATIONS, START_AGENT_HOOKS
from hookonce.canon.tools import ACTIONS, FROM_ACTIONS
from hookonce.formats._model import qualified
from hookonce.formats._read import given, optional, whole
from hookonce.formats._text import as_text, fields, is_left_out, measured
from hookonce.model import Digest, Event, Json, Object, Result, Tool, Usage

_TRIGGERS = frozenset({"auto", "manual", "system"})
_PLANS = ("plan", "explore", "default")
_COUNTS = ("tokens_used", "tokens_limit", "tokens_before", "tokens_after", "tokens_removed", "tokens_remaining")
_UNFIT = pattern(r"\s|\.(?=\.|\Z)")
_LOOP = ("iteration_count", "tokens_consumed", "elapsed_ms")


def type_name(kind: str, agent: str) -> str:
    """The name of a canonical type here; what the taxonomy lacks goes under the agent's vendor prefix."""
    row = EVENTS.get(kind)
    if row is not None and row.agent_hooks is not None:
        return row.agent_hooks
    return _UNFIT.sub("_", kind if kind.startswith("vendor.") else f"vendor.{agent}.{kind}")


def data_of(kind: str, event: Event) -> Object:
    """The data of an event of that type."""
    make = _DATA.get(kind)
    return {} if make is None else make(event)


def further(event: Event) -> list[tuple[str, Object]]:
    """What else one event means: a failed tool is an error too, a prompt that opens a plan is its start."""
    if event.type == "tool_use_failure":
        return [("Agent.Error", {"error_type": "ToolFailed", "origin_event": "Action.After"} | _error_of(event))]
    if event.type == "before_prompt" and event.data.get("plan_type") in _PLANS:
        return [("Agent.Plan.Start", {"plan_type": event.data["plan_type"]})]
    return []


def _error_of(event: Event) -> Object:
    result = event.tool.result if event.tool is not None else None
    return {} if result is None or result.error is None else _said("error_message", result.error)


def _said(name: str, value: Any) -> Object:
    """A text under its own name, or what is left of it."""
    if value is None:
        return {}
    if not is_left_out(value):
        return {name: as_text(value)}
    mark, length = measured(value)
    return {f"{name}_hash": mark, f"{name}_length": length}


def _session_start(event: Event) -> Object:
    source = event.data.get("source")
    reason = START_AGENT_HOOKS.get(source) if type(source) is str else None
    return {} if reason is None else {"start_reason": reason}


def _session_end(event: Event) -> Object:
    reason, usage = event.data.get("reason"), event.usage
    spent = given(
        {
            "total_tokens": usage and usage.total_tokens,
            "total_actions": whole(event.data.get("total_actions")),
            "duration_ms": whole(event.data.get("duration_ms")),
        }
    )
    ended = END_AGENT_HOOKS.get(reason) if type(reason) is str else None
    return given({"end_reason": ended, "usage": spent or None})


def _prompt(event: Event) -> Object:
    data = fields("prompt", event.prompt)
    followup = event.data.get("is_followup")
    return data | {"is_followup": followup} if type(followup) is bool else data


def _plan(event: Event) -> Object:
    kind = event.data.get("plan_type")
    if kind not in _PLANS:
        name = (event.subagent.type or "").lower() if event.subagent is not None else ""
        kind = next((plan for plan in _PLANS if plan in name), "default")
    return given({"plan_type": kind, "step_count": whole(event.data.get("step_count"))})


def _response(event: Event) -> Object:
    return fields("response", event.data.get("response")) | {"final": event.type == "agent_stop"}


def _model(event: Event) -> Object:
    usage = event.usage
    return given(
        {
            "model_id": event.model and qualified(event.model),
            "input_tokens": usage and usage.input_tokens,
            "output_tokens": usage and usage.output_tokens,
            "latency_ms": whole(event.data.get("latency_ms")),
            "retry_count": whole(event.data.get("retry_count")),
        }
    )


def _action(event: Event) -> Object:
    tool = event.tool
    if tool is None:
        path = event.data.get("path")
        return {"action": {"name": "write_file", "input": {"path": path}}} if type(path) is str else {}
    action: Object = {"name": _action_name(tool), "input": _input(tool.input)}
    if tool.result is not None:
        action["result"] = _result(tool.result)
    return {"action": action}


def _action_name(tool: Tool) -> str:
    if tool.name.startswith("mcp:"):
        return "mcp:" + tool.name.partition("/")[2]
    if FROM_ACTIONS.get(tool.native) == tool.name:
        return tool.native  # a word of this format already: an inline edit stays one
    return ACTIONS.get(tool.name, tool.name)


def _input(arguments: Object) -> Object:
    found: Object = {}
    for name, value in arguments.items():
        if type(value) is dict and is_left_out(value):
            found[name + "_hash"] = value["hash"]
            found[name + "_length"] = value["length"]
        else:
            found[name] = value
    return found


def _result(result: Result) -> Object:
    found: Object = {}
    if result.ok is not None:
        found["success"] = result.ok
    if result.exit_code is not None:
        found["exit_code"] = result.exit_code
    if result.error is not None:
        found |= _said("error_message", result.error)
    if result.output is not None:
        found |= _said("output", result.output)
    return found


def _context(event: Event) -> Object:
    data = event.data
    trigger, share = data.get("trigger"), data.get("percentage_used")
    found: Object = {"trigger": trigger} if type(trigger) is str and trigger in _TRIGGERS else {}
    found |= {name: count for name in _COUNTS if (count := whole(data.get(name))) is not None}
    if isinstance(share, int | float) and not isinstance(share, bool):
        found["percentage_used"] = min(max(share, 0), 100)
    if type(data.get("strategy")) is str:
        found["strategy"] = data["strategy"]
    return found


def _notification(event: Event) -> Object:
    native = event.data.get("notification_type")
    known = NOTIFICATIONS.get(native) if type(native) is str else None
    if event.type == "permission_request":
        known = "ToolPermission"
    found: Object = {} if known is None else {"type": known}
    found |= _said("message", event.data.get("message"))
    if event.tool is not None:
        found["details"] = {"action": {"name": _action_name(event.tool), "input": _input(event.tool.input)}}
    elif type(event.data.get("details")) is dict:
        found["details"] = event.data["details"]
    return found


def _failure(event: Event) -> Object:
    data = event.data
    told = (ERRORS.get(str(data.get(name))) for name in ("error_type", "error_context"))
    known = next((kind for kind in told if kind), "UnhandledException")
    error = data.get("error")
    if type(error) is dict and "message" in error:
        error = error["message"]
    return {"error_type": known} | _said("error_message", error) | _origin(event)


def _origin(event: Event) -> Object:
    """The event in which it failed: a canonical type in this format's words, and what are such words already."""
    origin = event.data.get("origin_event")
    if type(origin) is not str:
        return {}
    return {"origin_event": type_name(origin, event.agent) if origin in EVENTS else origin}


def _loop(event: Event) -> Object:
    name = event.data.get("action_name")
    counts = {count: whole(event.data.get(count)) for count in _LOOP}
    return given({"action_name": name if type(name) is str else None} | counts)


_DATA = {
    "Session.Start": _session_start,
    "Session.End": _session_end,
    "Prompt.Submitted": _prompt,
    "Agent.Plan.Start": _plan,
    "Agent.Response": _response,
    "Model.Requested": _model,
    "Model.Responded": _model,
    "Model.Failed": _model,
    "Action.Before": _action,
    "Action.After": _action,
    "Context.UntilCompaction": _context,
    "Context.Compaction": _context,
    "Agent.Notification": _notification,
    "Agent.Error": _failure,
    "Retry.Triggered": _loop,
    "Retry.Loop.Detected": _loop,
    "Retry.Loop.Aborted": _loop,
}

# Agent Hooks name → name in Event.data, where they differ.
_RENAMED = {
    "start_reason": "source",
    "end_reason": "reason",
    "response_text": "response",
    "error_message": "error",
}
# What in the data of a category has a field of its own in the event.
_TAKEN = {
    "Action": ("action",),
    "Model": ("model_id", "input_tokens", "output_tokens"),
    "Prompt": ("prompt_hash", "prompt_length", "prompt_text"),
}


def event_of(kind: str, data: Object) -> Object:
    """The event fields that the data fills; in the data of a type that is not described, nothing can be wrong."""
    if kind not in _DATA:
        return {"data": dict(data)}
    category = kind.partition(".")[0]
    taken = _TAKEN.get(category, ())
    kept = {_RENAMED.get(name, name): value for name, value in data.items() if name not in taken}
    found: Object = {"data": kept}
    if category == "Action":
        _read_action(kind, data, found)
    elif category == "Model":
        found |= {"model": optional(data, "model_id", str, "$.data"), "usage": _usage(data)}
    elif category == "Prompt":
        found["prompt"] = _left(data, "prompt")
    elif kind == "Agent.Response":
        _read_response(data, found)
    elif kind == "Agent.Notification" and "type" in kept:
        kept["notification_type"] = kept.pop("type")
    return found


def _read_action(kind: str, data: Object, found: Object) -> None:
    action = optional(data, "action", dict, "$.data")
    if action is None:
        return
    found["tool"] = tool = _tool_of(action)
    if tool is None:
        found["data"]["action"] = action
    elif kind == "Action.After" and tool.result is not None and tool.result.ok is False:
        found["type"] = "tool_use_failure"


def _read_response(data: Object, found: Object) -> None:
    kept = found["data"]
    said = _left(data, "response")
    if isinstance(said, Digest):
        kept["response"] = asdict(said)
    if said is not None:
        kept.pop("response_hash", None)
        kept.pop("response_length", None)
    if data.get("final") is False:
        found["type"] = "agent_response"


def _usage(data: Object) -> Usage | None:
    spent, made = (optional(data, key, int, "$.data") for key in ("input_tokens", "output_tokens"))
    return None if spent is None and made is None else Usage(input_tokens=spent, output_tokens=made)


def _left(data: Object, name: str) -> str | Digest | None:
    """A text, or what remains of one."""
    text = optional(data, f"{name}_text", str, "$.data")
    mark = optional(data, f"{name}_hash", str, "$.data")
    length = optional(data, f"{name}_length", int, "$.data")
    if text is not None or (mark is None and length is None):
        return text
    return Digest(hash=mark or "", length=length or 0, lines=0)


def _tool_of(action: Object) -> Tool | None:
    name = optional(action, "name", str, "$.data.action")
    if name is None:
        return None
    result = optional(action, "result", dict, "$.data.action")
    return Tool(
        name=f"mcp:?/{name[4:]}" if name.startswith("mcp:") else FROM_ACTIONS.get(name, name),
        native=name,
        input=optional(action, "input", dict, "$.data.action") or {},
        result=None if result is None else _result_of(result),
    )


def _result_of(result: Object) -> Result:
    def take(key: str, kind: type[Any]) -> Json:
        return optional(result, key, kind, "$.data.action.result")

    return Result(
        ok=take("success", bool),
        exit_code=take("exit_code", int),
        error=take("error_message", str),
        output=take("output", str),
    )
