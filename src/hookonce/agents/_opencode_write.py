"""The calls of an OpenCode plugin, put together again from flat ones."""

from collections.abc import Callable
from typing import Any

from hookonce.agents._encode import milliseconds
from hookonce.agents._tool import as_text
from hookonce.canon.events import FILE_FATES
from hookonce.canon.tools import WRITES
from hookonce.model import Event, Object, Result, Tool, Usage

_WATCHED = {kind: watched for kind, _, watched in FILE_FATES}


def wrap(flat: Object, event: Event) -> Object:
    """The call that a plugin would get for this event."""
    name = _name(flat.pop("hook").partition(" ")[0], event)
    if "time" in flat:
        flat["time"] = milliseconds(flat["time"])
    if "call_id" in event.data:
        flat["callID"] = event.data["call_id"]
    beside: Object = {"directory": flat.pop("cwd")} if "cwd" in flat else {}
    if event.tool is not None:
        beside |= _servers(event.tool)
    if "parentID" in flat and _POSTS.get(name) is not _session:
        beside["parentID"] = flat.pop("parentID")
    if name in _CALLS:
        given, back = _CALLS[name](flat, event)
        return {"hook": name, "input": given, "output": back} | beside
    posted = _POSTS[name](flat, event) if name in _POSTS else flat
    return {"hook": "event", "input": {"event": {"type": name, "properties": posted}}, "output": None} | beside


def _name(native: str, event: Event) -> str:
    """Of several names that have one canonical word, the one that says what this event says."""
    if event.data.get("repeat") is True and native == "chat.params":
        return "chat.headers"
    if event.type == "file_saved" and "change" not in event.data:
        return "file.edited"
    if native == "session.deleted" and event.session is None:
        return "dispose"
    return native


def _servers(tool: Tool) -> Object:
    """What a shim would add, so that an underscore in the tool's name can be understood."""
    if tool.mcp_server is not None:
        return {"mcp_servers": [tool.mcp_server]}
    return {"mcp_servers": []} if tool.name == tool.native and "_" in tool.name else {}


def _some(flat: Object, *keys: str) -> Object:
    return {key: flat[key] for key in keys if key in flat}


def _model(flat: Object, key: str) -> Object:
    """Provider and model apart, the latter under the key that this place of the payload uses."""
    provider, found, model = flat.get("model", "").partition("/")
    if not provider:
        return {}
    return {"providerID": provider, key: model} if found else {key: provider}


def _message(flat: Object, clock: str) -> Object:
    """The message that the event tells of: an answer names the user's message as its parent."""
    info: Object = _some(flat, "sessionID", "agent")
    if "messageID" in flat:
        info |= {"id": flat["messageID"], "role": "assistant", "parentID": flat.get("turn")} | _model(flat, "modelID")
    else:
        info |= {"id": flat.get("turn"), "role": "user", "model": _model(flat, "modelID")}
    return info | ({"time": {clock: flat["time"]}} if "time" in flat else {})


def _chat(flat: Object) -> Object:
    return _some(flat, "sessionID", "agent") | {"model": _model(flat, "id"), "message": _message(flat, "created")}


def _parts(flat: Object) -> list[Object]:
    return [{"type": "text", "text": flat["prompt"]}] if "prompt" in flat else []


def _prompted(flat: Object, event: Event) -> tuple[Object, Object]:
    return _some(flat, "sessionID", "agent"), {"message": _message(flat, "created"), "parts": _parts(flat)}


def _call(flat: Object, event: Event) -> tuple[Object, Any]:
    """A tool's call; another agent's patch goes to the tool that takes patches here."""
    tool = event.tool
    if tool is not None and event.agent != "opencode" and tool.name in WRITES and "patch" in tool.input:
        flat |= {"tool": "apply_patch", "args": {"patchText": tool.input["patch"]}}
    given = _some(flat, "tool", "sessionID", "callID")
    if event.type == "before_tool_execute":
        return given, {"args": flat.get("args")}
    return given | {"args": flat.get("args")}, _output(flat, event)


def _output(flat: Object, event: Event) -> Object:
    result = (event.tool and event.tool.result) or Result()
    output: Any = result.output
    if event.tool is not None and event.tool.name.startswith("mcp:"):
        content = (
            output
            if type(output) is list
            else [{"type": "text", "text": as_text(output) or as_text(result.error) or ""}]
        )
        return {"content": content} | ({"isError": True} if result.ok is False else {})
    text = output if event.agent == "opencode" else as_text(output) or as_text(result.error) or ""
    about = {"exit": result.exit_code, "sessionId": flat.get("childID")}
    metadata = {key: value for key, value in about.items() if value is not None}
    return {"title": "", "metadata": metadata, "output": text}


# Every function of a plugin; a name that is not here is one of the bus.
_CALLS: dict[str, Callable[[Object, Event], tuple[Object, Any]]] = {
    "tool.execute.before": _call,
    "tool.execute.after": _call,
    "tool.definition": lambda flat, _: (_some(flat, "toolID", "sessionID"), {}),
    "shell.env": lambda flat, event: (_some(flat, "sessionID", "callID") | {"cwd": event.cwd}, {"env": {}}),
    "command.execute.before": lambda flat, _: (
        _some(flat, "command", "sessionID", "arguments"),
        {"parts": _parts(flat)},
    ),
    "chat.message": _prompted,
    "chat.params": lambda flat, _: (_chat(flat), {"options": {}}),
    "chat.headers": lambda flat, _: (_chat(flat), {"headers": {}}),
    "experimental.text.complete": lambda flat, _: (
        _some(flat, "sessionID", "messageID"),
        {"text": flat.get("text")},
    ),
    "experimental.session.compacting": lambda flat, _: (_some(flat, "sessionID"), {"context": []}),
    "experimental.compaction.autocontinue": lambda flat, _: (_chat(flat), {"enabled": True}),
    "experimental.provider.small_model": lambda _, __: ({}, {}),
    "plugin.init": lambda _, event: ({"directory": event.cwd}, None),
    "config": lambda _, __: ({}, None),
    "dispose": lambda _, __: ({}, None),
}


def _session(flat: Object, event: Event) -> Object:
    """A sub-agent is a session of its own here; another agent's has only an id."""
    sub = event.subagent
    own = (sub and sub.id) or event.session
    parent = event.parent_session or (None if own == event.session else event.session)
    info: Object = {"id": own, "parentID": parent, "directory": event.cwd} | _some(flat, "version", "title")
    info |= {"agent": flat.get("agent") or (sub and sub.type), "model": _model(flat, "id")}
    if "time" in flat:
        info["time"] = {"created": flat["time"], "updated": flat["time"]}
    return {"sessionID": own, "info": {key: value for key, value in info.items() if value}}


def _permission(flat: Object, event: Event) -> Object:
    asked = {"id": flat.get("requestID"), "permission": flat.get("permission") or flat.get("tool")}
    asked |= _some(flat, "sessionID", "patterns", "always")
    return asked | {"metadata": flat.get("args"), "tool": _some(flat, "messageID", "callID")}


def _error(flat: Object, event: Event) -> Object:
    about = {"name": flat.get("errorType"), "data": {"message": flat.get("error")}}
    return _some(flat, "sessionID") | {"error": about}


def _updated(flat: Object, event: Event) -> Object:
    tokens = {} if event.usage is None else {"tokens": _tokens(event.usage)}
    path = {} if event.cwd is None else {"path": {"cwd": event.cwd}}
    return _some(flat, "sessionID") | {"info": _message(flat, "completed") | path | tokens}


def _part(flat: Object, event: Event) -> Object:
    part = {"type": flat.get("partType")} | _some(flat, "messageID", "sessionID")
    tokens = {} if event.usage is None else {"tokens": _tokens(event.usage)}
    return _some(flat, "sessionID", "time") | {"part": part | tokens}


def _tokens(usage: Usage) -> Object:
    cache = {"read": usage.cache_read_tokens, "write": usage.cache_write_tokens}
    plain = {name: getattr(usage, f"{name}_tokens") for name in ("total", "input", "output", "reasoning")}
    return {key: count for key, count in plain.items() if count is not None} | {"cache": cache}


_POSTS: dict[str, Callable[[Object, Event], Object]] = {
    "session.created": _session,
    "session.updated": _session,
    "session.deleted": _session,
    "session.error": _error,
    "session.status": lambda flat, _: _some(flat, "sessionID") | {"status": {"type": flat.get("status")}},
    "message.updated": _updated,
    "message.part.updated": _part,
    "permission.asked": _permission,
    "file.watcher.updated": lambda flat, event: {"event": _WATCHED.get(event.type)} | _some(flat, "file", "event"),
}
