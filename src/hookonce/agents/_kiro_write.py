"""Kiro's payloads, as IDE 1.0 and CLI 3 send them, put together from flat ones."""

from typing import Any

from hookonce.agents._tool import as_text
from hookonce.model import Event, Object, Result, Tool

_OLDER = {
    "SessionStart": "agentSpawn",
    "UserPromptSubmit": "userPromptSubmit",
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "Stop": "stop",
}


def wrap(flat: Object, event: Event) -> Object:
    """The payload with what the tables cannot say: how a call ended, and which tool lists a folder."""
    own, tool = event.agent == "kiro", event.tool
    if own and type(event.native) is dict:  # a hook that came with an older file keeps the names that it knows
        older = _OLDER.get(flat["hook_event_name"])
        flat |= {"hook_event_name": older} if older and event.native.get("hook_event_name") == older else {}
    if event.type == "tool_batch":
        calls = flat.pop("tool_calls")
        return flat | {"hook_event_name": flat["hook_event_name"].partition(" ")[0], "hook_events": calls}
    if tool is None:
        return flat
    if not own and tool.name == "find" and "pattern" not in tool.input:
        flat["tool_name"] = "list_directory"
    return flat if tool.result is None else flat | _ended(tool, tool.result, own=own)


def _ended(tool: Tool, result: Result, *, own: bool) -> Object:
    """Text as today; a list of parts and the flag of a failure as older generations had them."""
    failed = result.ok is False and (not result.exit_code or (own and result.error is not None))
    if own and type(result.output) is list:
        return {"tool_response": {"success": not failed, "result": result.output}}
    output: Any = result.output if own else _prose(tool, result)
    told = {} if output is None else {"tool_response": output}
    return told | ({"toolSuccess": False} if failed else {})


def _prose(tool: Tool, result: Result) -> str:
    text = as_text(result.output) or as_text(result.error) or ""
    code = result.exit_code if tool.name == "shell" else None
    return text if code is None else f"Output:\n{text}\n\nExit Code: {code}"
