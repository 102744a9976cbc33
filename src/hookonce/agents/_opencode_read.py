"""Agent table and decoder of OpenCode: hooks are plugin functions, a payload is `{hook, input, output}`.

The function `event` receives bus messages `{type, properties}`; the native event is then the message's type.
Both forms are flattened to one object with the keys of the agent's table.
"""

from collections.abc import Callable
from typing import Any

from hookonce.model import Object

_NON_TOOL_PERMISSIONS = frozenset({"external_directory", "doom_loop"})
_FUNCTION_KEYS = ("tool", "sessionID", "callID", "args", "agent", "messageID", "toolID", "cwd", "directory")
_BUS_KEYS = ("sessionID", "messageID", "file", "event", "todos", "title", "message", "directory")


def unwrap(payload: Object, event_hint: str | None) -> Object:
    """Flatten a call's input and output into one object; our plugin may also send them bare."""
    hook_input = as_dict(payload.get("input")) or payload
    bus_message = as_dict(hook_input.get("event")) or hook_input
    properties = bus_message.get("properties")
    name = (type(properties) is dict and bus_message.get("type")) or payload.get("hook") or event_hint
    if type(name) is not str:
        return {"hook": name}
    name = name.removeprefix("event.")
    hook_input, keys = (properties, _BUS_KEYS) if type(properties) is dict else (hook_input, _FUNCTION_KEYS)
    flat: Object = {key: hook_input[key] for key in keys if key in hook_input}
    if (read_fields := _FIELD_READERS.get(name)) is not None:
        flat |= read_fields(hook_input, as_dict(payload.get("output")))
    flat["hook"] = name
    # Where the agent names neither, a shim may add what it was told when the plugin started.
    flat["cwd"] = flat.get("cwd") or flat.get("directory") or payload.get("directory")
    flat["sessionID"] = flat.get("sessionID") or payload.get("sessionID")
    flat["parentID"] = flat.get("parentID") or payload.get("parentID")  # remembered from the session's beginning
    flat["mcp_servers"] = payload.get("mcp_servers")
    return flat


def as_dict(value: Any) -> Object:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def _model_name(model: Any) -> str | None:
    """`provider/model`, as the agent's own settings and command line spell it."""
    fields = as_dict(model)
    name, provider = fields.get("modelID") or fields.get("id"), fields.get("providerID")
    if type(name) is not str:
        return None
    return f"{provider}/{name}" if type(provider) is str and provider else name


def _message_fields(info: Object, hook_input: Object) -> Object:
    """A turn is named after the user's message that began it, which every answer calls its parent."""
    is_answer = info.get("role") == "assistant"
    own = {"modelID": info.get("modelID"), "providerID": info.get("providerID")}
    return {
        "sessionID": hook_input.get("sessionID") or info.get("sessionID"),
        "turn": info.get("parentID" if is_answer else "id"),
        "messageID": info.get("id") if is_answer else None,
        "agent": hook_input.get("agent") or info.get("agent"),
        "model": _model_name(hook_input.get("model") or info.get("model") or own),
        "cwd": as_dict(info.get("path")).get("cwd"),
    }


def _tool_result_fields(hook_input: Object, hook_output: Object) -> Object:
    """The result of the `task` tool is the one place that names a sub-agent's session."""
    child = as_dict(hook_output.get("metadata")).get("sessionId") if hook_input.get("tool") == "task" else None
    return {"result": hook_output or hook_input, "childID": child}


def _chat_fields(hook_input: Object, hook_output: Object) -> Object:
    messages = hook_output.get("messages")
    last = messages[-1] if type(messages) is list and messages else None
    return _message_fields(as_dict(hook_input.get("message") or as_dict(last).get("info")), hook_input)


def _prompt_fields(hook_input: Object, hook_output: Object) -> Object:
    message = as_dict(hook_output.get("message"))
    time = as_dict(message.get("time")).get("created")
    return _message_fields(message, hook_input) | {"prompt": _parts_text(hook_output.get("parts")), "time": time}


def _parts_text(parts: Any) -> str | None:
    """The text that the user typed, without synthetic parts."""
    part_objects = [as_dict(part) for part in parts] if type(parts) is list else []
    texts = [part.get("text") for part in part_objects if part.get("type") == "text" and not part.get("synthetic")]
    return "\n".join(text for text in texts if type(text) is str) if texts else None


def _command_fields(hook_input: Object, hook_output: Object) -> Object:
    own = {"command": hook_input.get("command"), "arguments": hook_input.get("arguments")}
    return own | {"prompt": _parts_text(hook_output.get("parts"))}


def _session_fields(hook_input: Object, hook_output: Object) -> Object:
    info = as_dict(hook_input.get("info"))
    own = {key: info.get(key) for key in ("version", "directory", "parentID", "title", "agent")}
    own["time"] = as_dict(info.get("time")).get("updated")
    return own | {"sessionID": hook_input.get("sessionID") or info.get("id"), "model": _model_name(info.get("model"))}


def _message_update_fields(hook_input: Object, hook_output: Object) -> Object:
    """Only an answer's completion has a time of its own; other updates carry the message's creation time."""
    info = as_dict(hook_input.get("info"))
    time = as_dict(info.get("time")).get("completed")
    return _message_fields(info, hook_input) | {"tokens": info.get("tokens"), "time": time}


def _part_fields(hook_input: Object, hook_output: Object) -> Object:
    part = as_dict(hook_input.get("part"))
    own = {"sessionID": hook_input.get("sessionID") or part.get("sessionID"), "partType": part.get("type")}
    return own | {"messageID": part.get("messageID"), "tokens": part.get("tokens"), "time": hook_input.get("time")}


def _permission_fields(hook_input: Object, hook_output: Object) -> Object:
    """A permission bears the name of a tool, or of the few things that are none; two generations of fields."""
    call = as_dict(hook_input.get("tool"))
    permission = hook_input.get("permission") or hook_input.get("type")
    return {
        "tool": permission if type(permission) is str and permission not in _NON_TOOL_PERMISSIONS else None,
        "args": hook_input.get("metadata"),
        "callID": call.get("callID") or hook_input.get("callID"),
        "messageID": call.get("messageID") or hook_input.get("messageID"),
        "requestID": hook_input.get("id"),
        "permission": permission,
        "patterns": hook_input.get("patterns") or hook_input.get("pattern"),
        "always": hook_input.get("always"),
    }


def _permission_reply_fields(hook_input: Object, hook_output: Object) -> Object:
    request = hook_input.get("requestID") or hook_input.get("permissionID")
    return {"requestID": request, "reply": hook_input.get("reply") or hook_input.get("response")}


def _error_fields(hook_input: Object, hook_output: Object) -> Object:
    error = hook_input.get("error")
    error_object = as_dict(error)
    return {"error": as_dict(error_object.get("data")).get("message") or error, "errorType": error_object.get("name")}


_FIELD_READERS: dict[str, Callable[[Object, Object], Object]] = {
    "tool.execute.before": lambda given, back: {"args": back.get("args", given.get("args"))},
    "tool.execute.after": _tool_result_fields,
    "chat.message": _prompt_fields,
    "chat.params": _chat_fields,
    "chat.headers": _chat_fields,
    "experimental.chat.messages.transform": _chat_fields,
    "experimental.chat.system.transform": _chat_fields,
    "experimental.compaction.autocontinue": _chat_fields,
    "experimental.text.complete": lambda _, back: {"text": back.get("text")},
    "command.execute.before": _command_fields,
    "config": lambda _, __: {"agent": None, "tool": None},  # settings of these names, not this call's
    "permission.ask": _permission_fields,
    "permission.asked": _permission_fields,
    "permission.v2.asked": _permission_fields,
    "permission.updated": _permission_fields,
    "permission.replied": _permission_reply_fields,
    "permission.v2.replied": _permission_reply_fields,
    "session.created": _session_fields,
    "session.updated": _session_fields,
    "session.deleted": lambda given, back: _session_fields(given, back) | {"time": None},
    "session.error": _error_fields,
    "session.status": lambda given, _: {"status": as_dict(given.get("status")).get("type")},
    "message.updated": _message_update_fields,
    "message.part.updated": _part_fields,
}
