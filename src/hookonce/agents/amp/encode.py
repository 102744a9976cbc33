"""Encoder of Amp payloads: the calls that our plugin forwards, rebuilt from flat ones."""

from typing import Any

from hookonce.base.jsontext import as_dict, drop_none, select_keys
from hookonce.model import Event, Object, Result
from hookonce.vocabulary.tools import WRITE_TOOLS

_DELEGATE_EVENT = "delegate"
_NATIVE_KEYS = {"tool_use_id": "toolUseID"}
_MUTABLE_KEYS = {"tool.call": ("input",), "tool.result": ("status", "output", "error")}
_ENVELOPE_KEYS = frozenset({"hook_event_name", "thread_id", "cwd"})


def wrap(flat: Object, event: Event) -> Object:
    """The plugin's call for this event; a delegate program of a permission rule gets only the tool's input."""
    name = flat["hook_event_name"].partition(" ")[0]
    tool = event.tool
    if tool is not None and event.agent != "amp" and tool.name in WRITE_TOOLS and "patch" in tool.input:
        flat |= {"tool": "apply_patch", "input": {"patchText": tool.input["patch"]}}  # Amp's own patch tool
    if name == _DELEGATE_EVENT:
        # Without the variables of its environment such a program knows nothing but the input.
        knows_tool = tool is not None and event.data.get("guessed") is not True
        return flat if knows_tool else as_dict(event.data.get("input") if tool is None else flat.get("input"))
    if tool is not None and name == "tool.result":
        flat |= _result_fields(event, tool.result or Result())
    event_input = {_NATIVE_KEYS.get(key, key): value for key, value in flat.items() if key not in _ENVELOPE_KEYS}
    event_input |= _event_fields(name, event_input, event)
    envelope = {"directory": flat.get("cwd"), "thread_id": flat.get("thread_id")}
    return {
        "hook": name,
        "input": {"thread": {"id": flat.get("thread_id")}} | event_input,
        "output": select_keys(event_input, *_MUTABLE_KEYS.get(name, ())),
    } | drop_none(envelope)


def _result_fields(event: Event, result: Result) -> Object:
    """A command that ended has status done, whatever its exit code; other failures have status error."""
    is_failure = result.ok is False and result.exit_code is None
    output: Any = result.output
    if result.exit_code is not None:
        output = {"output": output, "exitCode": result.exit_code}
    fields = {"status": event.data.get("status") or ("error" if is_failure else "done"), "output": output}
    return drop_none(fields)


def _event_fields(name: str, event_input: Object, event: Event) -> Object:
    """Fields that only some events have: the workflow, the end status and the last messages."""
    if name == "agent.start" and "workflow" in event_input:
        return {"changesWorkflow": event_input.pop("workflow")}
    if name != "agent.end":
        return {}
    response = event.data.get("response")
    messages = [{"role": "assistant", "content": [{"type": "text", "text": response}]}] if response is not None else []
    default_status = "error" if event.type == "error_occurred" else "done"
    return {"status": event.data.get("status") or default_status, "messages": messages}
