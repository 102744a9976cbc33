"""Encoder of Kiro payloads as IDE 1.0 and CLI 3 send them."""

from typing import Any

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents._decode.tool_calls import result_text
from hookonce.model import Event, Object, Result, Tool

_LEGACY_EVENT_NAMES = name_table(
    "SessionStart=agentSpawn UserPromptSubmit=userPromptSubmit PreToolUse=preToolUse PostToolUse=postToolUse Stop=stop"
)


def wrap(flat: Object, event: Event) -> Object:
    """The payload with what the tables cannot express: the result, and the tool that lists a folder."""
    own, tool = event.agent == "kiro", event.tool
    if own and type(event.native) is dict:  # a hook that came with an older file keeps the names that it knows
        legacy_name = _LEGACY_EVENT_NAMES.get(flat["hook_event_name"])
        if legacy_name and event.native.get("hook_event_name") == legacy_name:
            flat["hook_event_name"] = legacy_name
    if event.type == "tool_batch":
        calls = flat.pop("tool_calls")
        return flat | {"hook_event_name": flat["hook_event_name"].partition(" ")[0], "hook_events": calls}
    if tool is None:
        return flat
    if not own and tool.name == "find" and "pattern" not in tool.input:
        flat["tool_name"] = "list_directory"
    return flat if tool.result is None else flat | _result_fields(tool, tool.result, own=own)


def _result_fields(tool: Tool, result: Result, *, own: bool) -> Object:
    """Text as today; a list of parts and the failure flag as older generations had them."""
    is_failure = result.ok is False and (not result.exit_code or (own and result.error is not None))
    if own and type(result.output) is list:
        return {"tool_response": {"success": not is_failure, "result": result.output}}
    output: Any = result.output if own else _result_text(tool, result)
    response_fields = {} if output is None else {"tool_response": output}
    return response_fields | ({"toolSuccess": False} if is_failure else {})


def _result_text(tool: Tool, result: Result) -> str:
    text = result_text(result)
    code = result.exit_code if tool.name == "shell" else None
    return text if code is None else f"Output:\n{text}\n\nExit Code: {code}"
