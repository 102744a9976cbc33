"""Encoder of OpenCode payloads: plugin function calls and bus messages, rebuilt from flat ones."""

from collections.abc import Callable
from typing import Any

from hookonce.agents._decode.encoder import to_epoch_ms
from hookonce.agents._decode.tool_calls import result_text, text_parts
from hookonce.base.jsontext import drop_none, select_keys
from hookonce.model import Event, Object, Result, Tool, Usage
from hookonce.vocabulary.events import CHANGES_BY_FILE_EVENT
from hookonce.vocabulary.tools import WRITE_TOOLS


def wrap(flat: Object, event: Event) -> Object:
    """The plugin call `{hook, input, output}` for this event."""
    name = _select_native_event(flat.pop("hook").partition(" ")[0], event)
    if "time" in flat:
        flat["time"] = to_epoch_ms(flat["time"])
    if "call_id" in event.data:
        flat["callID"] = event.data["call_id"]
    envelope: Object = {"directory": flat.pop("cwd")} if "cwd" in flat else {}
    if event.tool is not None:
        envelope |= _mcp_servers(event.tool)
    if "duration_ms" in flat:
        envelope["duration_ms"] = flat.pop("duration_ms")
    if "parentID" in flat and _BUS_BUILDERS.get(name) is not _session_properties:
        envelope["parentID"] = flat.pop("parentID")
    if name in _FUNCTION_BUILDERS:
        hook_input, hook_output = _FUNCTION_BUILDERS[name](flat, event)
        return {"hook": name, "input": hook_input, "output": hook_output} | envelope
    properties = _BUS_BUILDERS[name](flat, event) if name in _BUS_BUILDERS else flat
    return {"hook": "event", "input": {"event": {"type": name, "properties": properties}}, "output": None} | envelope


def _select_native_event(native: str, event: Event) -> str:
    if event.data.get("repeat") is True and native == "chat.params":
        return "chat.headers"
    if event.type == "file_saved" and "change" not in event.data:
        return "file.edited"
    if native == "session.deleted" and event.session is None:
        return "dispose"
    return native


def _mcp_servers(tool: Tool) -> Object:
    """The list of MCP servers that our plugin would add, which resolves underscores in the tool's name."""
    if tool.mcp_server is not None:
        return {"mcp_servers": [tool.mcp_server]}
    return {"mcp_servers": []} if tool.name == tool.native and "_" in tool.name else {}


def _model_fields(flat: Object, key: str) -> Object:
    """Provider and model as separate fields, the model under the key that this place uses."""
    provider, separator, model = flat.get("model", "").partition("/")
    if not provider:
        return {}
    return {"providerID": provider, key: model} if separator else {key: provider}


def _build_message(flat: Object, time_key: str) -> Object:
    """The message of the event: an answer names the user's message as its parent."""
    info: Object = select_keys(flat, "sessionID", "agent")
    if "messageID" in flat:
        info |= {"id": flat["messageID"], "role": "assistant", "parentID": flat.get("turn")}
        info |= _model_fields(flat, "modelID")
    else:
        info |= {"id": flat.get("turn"), "role": "user", "model": _model_fields(flat, "modelID")}
    return info | ({"time": {time_key: flat["time"]}} if "time" in flat else {})


def _chat_input(flat: Object) -> Object:
    fields = {"model": _model_fields(flat, "id"), "message": _build_message(flat, "created")}
    return select_keys(flat, "sessionID", "agent") | fields


def _prompt_parts(flat: Object) -> list[Object]:
    return [{"type": "text", "text": flat["prompt"]}] if "prompt" in flat else []


def _prompt_call(flat: Object, event: Event) -> tuple[Object, Object]:
    output = {"message": _build_message(flat, "created"), "parts": _prompt_parts(flat)}
    return select_keys(flat, "sessionID", "agent"), output


def _tool_call(flat: Object, event: Event) -> tuple[Object, Any]:
    """Function call of a tool; another agent's patch goes to OpenCode's own patch tool."""
    tool = event.tool
    if tool is not None and event.agent != "opencode" and tool.name in WRITE_TOOLS and "patch" in tool.input:
        flat |= {"tool": "apply_patch", "args": {"patchText": tool.input["patch"]}}
    hook_input = select_keys(flat, "tool", "sessionID", "callID")
    if event.type == "before_tool_execute":
        return hook_input, {"args": flat.get("args")}
    return hook_input | {"args": flat.get("args")}, _tool_output(flat, event)


def _tool_output(flat: Object, event: Event) -> Object:
    result = (event.tool and event.tool.result) or Result()
    if event.tool is not None and event.tool.name.startswith("mcp:"):
        return {"content": text_parts(result)} | ({"isError": True} if result.ok is False else {})
    text = result.output if event.agent == "opencode" else result_text(result)
    metadata = drop_none({"exit": result.exit_code, "sessionId": flat.get("childID")})
    return {"title": "", "metadata": metadata, "output": text}


# Every function of a plugin; a name that is not here is one of the bus.
_FUNCTION_BUILDERS: dict[str, Callable[[Object, Event], tuple[Object, Any]]] = {
    "tool.execute.before": _tool_call,
    "tool.execute.after": _tool_call,
    "tool.definition": lambda flat, _: (select_keys(flat, "toolID", "sessionID"), {}),
    "shell.env": lambda flat, event: (select_keys(flat, "sessionID", "callID") | {"cwd": event.cwd}, {"env": {}}),
    "command.execute.before": lambda flat, _: (
        select_keys(flat, "command", "sessionID", "arguments"),
        {"parts": _prompt_parts(flat)},
    ),
    "chat.message": _prompt_call,
    "chat.params": lambda flat, _: (_chat_input(flat), {"options": {}}),
    "chat.headers": lambda flat, _: (_chat_input(flat), {"headers": {}}),
    "experimental.text.complete": lambda flat, _: (
        select_keys(flat, "sessionID", "messageID"),
        {"text": flat.get("text")},
    ),
    "experimental.session.compacting": lambda flat, _: (select_keys(flat, "sessionID"), {"context": []}),
    "experimental.compaction.autocontinue": lambda flat, _: (_chat_input(flat), {"enabled": True}),
    "experimental.provider.small_model": lambda _, __: ({}, {}),
    "plugin.init": lambda _, event: ({"directory": event.cwd}, None),
    "config": lambda _, __: ({}, None),
    "dispose": lambda _, __: ({}, None),
}


def _session_properties(flat: Object, event: Event) -> Object:
    """A sub-agent is a session of its own here; another agent's sub-agent has only an id."""
    subagent = event.subagent
    session_id = (subagent and subagent.id) or event.session
    parent = event.parent_session or (None if session_id == event.session else event.session)
    info: Object = {"id": session_id, "parentID": parent, "directory": event.cwd}
    info |= select_keys(flat, "version", "title")
    info |= {"agent": flat.get("agent") or (subagent and subagent.type), "model": _model_fields(flat, "id")}
    if "time" in flat:
        info["time"] = {"created": flat["time"], "updated": flat["time"]}
    return {"sessionID": session_id, "info": {key: value for key, value in info.items() if value}}


def _permission_properties(flat: Object, event: Event) -> Object:
    properties = {"id": flat.get("requestID"), "permission": flat.get("permission") or flat.get("tool")}
    properties |= select_keys(flat, "sessionID", "patterns", "always")
    return properties | {"metadata": flat.get("args"), "tool": select_keys(flat, "messageID", "callID")}


def _error_properties(flat: Object, event: Event) -> Object:
    error = {"name": flat.get("errorType"), "data": {"message": flat.get("error")}}
    return select_keys(flat, "sessionID") | {"error": error}


def _message_properties(flat: Object, event: Event) -> Object:
    tokens = {} if event.usage is None else {"tokens": _token_counts(event.usage)}
    path = {} if event.cwd is None else {"path": {"cwd": event.cwd}}
    return select_keys(flat, "sessionID") | {"info": _build_message(flat, "completed") | path | tokens}


def _part_properties(flat: Object, event: Event) -> Object:
    part = {"type": flat.get("partType")} | select_keys(flat, "messageID", "sessionID")
    tokens = {} if event.usage is None else {"tokens": _token_counts(event.usage)}
    return select_keys(flat, "sessionID", "time") | {"part": part | tokens}


def _token_counts(usage: Usage) -> Object:
    cache = {"read": usage.cache_read_tokens, "write": usage.cache_write_tokens}
    counts = {name: getattr(usage, f"{name}_tokens") for name in ("total", "input", "output", "reasoning")}
    return drop_none(counts) | {"cache": cache}


_BUS_BUILDERS: dict[str, Callable[[Object, Event], Object]] = {
    **dict.fromkeys(("session.created", "session.updated", "session.deleted"), _session_properties),
    "session.error": _error_properties,
    "session.status": lambda flat, _: select_keys(flat, "sessionID") | {"status": {"type": flat.get("status")}},
    "message.updated": _message_properties,
    "message.part.updated": _part_properties,
    "permission.asked": _permission_properties,
    "file.watcher.updated": lambda flat, event: (
        {"event": CHANGES_BY_FILE_EVENT.get(event.type)} | select_keys(flat, "file", "event")
    ),
}
