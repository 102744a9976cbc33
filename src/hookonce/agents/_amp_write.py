"""The calls that a plugin of ours gets from Amp, put together again from flat ones."""

from typing import Any

from hookonce.canon.tools import WRITES
from hookonce.model import Event, Object, Result, Tool

_ASKED = "delegate"
_RENAMED = {"tool_use_id": "toolUseID"}
_BESIDE = frozenset({"hook_event_name", "thread_id", "cwd"})


def wrap(flat: Object, event: Event) -> Object:
    """What the plugin would send for this event; a program that a permission rule asks gets less."""
    name = flat["hook_event_name"].partition(" ")[0]
    own = event.agent == "amp"
    if event.tool is not None:
        flat |= _call(event.tool, own=own)
    if name == _ASKED:
        return _asked(flat, event)
    if event.tool is not None and name == "tool.result":
        flat |= _result(event, event.tool.result or Result())
    given = {_RENAMED.get(key, key): value for key, value in flat.items() if key not in _BESIDE}
    given |= _told(name, given, event)
    beside = {"directory": flat.get("cwd"), "thread_id": flat.get("thread_id")}
    return {
        "hook": name,
        "input": {"thread": {"id": flat.get("thread_id")}} | given,
        "output": _changeable(name, given),
    } | {key: value for key, value in beside.items() if value is not None}


def _asked(flat: Object, event: Event) -> Object:
    """Without the variables of its environment such a program knows nothing but the input."""
    if event.tool is None or event.data.get("guessed") is True:
        bare = event.data.get("input") if event.tool is None else flat.get("input")
        return bare if type(bare) is dict else {}
    return flat


def _call(tool: Tool, *, own: bool) -> Object:
    """Another agent's patch goes to the tool that takes patches here."""
    if own or tool.name not in WRITES or "patch" not in tool.input:
        return {}
    return {"tool": "apply_patch", "input": {"patchText": tool.input["patch"]}}


def _result(event: Event, result: Result) -> Object:
    """A command that ended is done, whatever its exit code; other failures have an error."""
    failed = result.ok is False and result.exit_code is None
    output: Any = result.output
    if result.exit_code is not None:
        output = {"output": output, "exitCode": result.exit_code}
    told = {"status": event.data.get("status") or ("error" if failed else "done"), "output": output}
    return {key: value for key, value in told.items() if value is not None}


def _told(name: str, given: Object, event: Event) -> Object:
    """What only some events have: a workflow under another name, how a turn ended and what was said last."""
    if name == "agent.start" and "workflow" in given:
        return {"changesWorkflow": given.pop("workflow")}
    if name != "agent.end":
        return {}
    said = event.data.get("response")
    spoken = [{"role": "assistant", "content": [{"type": "text", "text": said}]}] if said is not None else []
    usual = "error" if event.type == "error_occurred" else "done"
    return {"status": event.data.get("status") or usual, "messages": spoken}


def _changeable(name: str, given: Object) -> Object:
    keys = {"tool.call": ("input",), "tool.result": ("status", "output", "error")}.get(name, ())
    return {key: given[key] for key in keys if key in given}
