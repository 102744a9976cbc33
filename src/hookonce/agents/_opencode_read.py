"""The calls of an OpenCode plugin, made flat.

A function gets `input` and `output`; the function `event` gets a message `{type, properties}` of the bus. Both become
one object with the keys of the agent's table, which are the agent's own wherever it has one.
"""

from collections.abc import Callable
from typing import Any

from hookonce.model import Object

_NOT_TOOLS = frozenset({"external_directory", "doom_loop"})
_CALLED = ("tool", "sessionID", "callID", "args", "agent", "messageID", "toolID", "cwd", "directory")
_POSTED = ("sessionID", "messageID", "file", "event", "todos", "title", "message", "directory")


def unwrap(payload: Object, told: str | None) -> Object:
    """What a call was given and what it may change, side by side; a shim may also send them bare."""
    given = as_dict(payload.get("input")) or payload
    bus = as_dict(given.get("event")) or given
    posted = bus.get("properties")
    name = (type(posted) is dict and bus.get("type")) or payload.get("hook") or told
    if type(name) is not str:
        return {"hook": name}
    name = name.removeprefix("event.")
    given, plain = (posted, _POSTED) if type(posted) is dict else (given, _CALLED)
    flat: Object = {key: given[key] for key in plain if key in given}
    if (read := _READERS.get(name)) is not None:
        flat |= read(given, as_dict(payload.get("output")))
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


def _model(given: Any) -> str | None:
    """`provider/model`, as the agent's own settings and command line spell it."""
    about = as_dict(given)
    name, provider = about.get("modelID") or about.get("id"), about.get("providerID")
    if type(name) is not str:
        return None
    return f"{provider}/{name}" if type(provider) is str and provider else name


def _message(info: Object, given: Object) -> Object:
    """A turn is named after the user's message that began it, which every answer calls its parent."""
    answer = info.get("role") == "assistant"
    own = {"modelID": info.get("modelID"), "providerID": info.get("providerID")}
    return {
        "sessionID": given.get("sessionID") or info.get("sessionID"),
        "turn": info.get("parentID" if answer else "id"),
        "messageID": info.get("id") if answer else None,
        "agent": given.get("agent") or info.get("agent"),
        "model": _model(given.get("model") or info.get("model") or own),
        "cwd": as_dict(info.get("path")).get("cwd"),
    }


def _done(given: Object, back: Object) -> Object:
    """The result of the tool that starts a sub-agent is the one place which names that sub-agent's session."""
    child = as_dict(back.get("metadata")).get("sessionId") if given.get("tool") == "task" else None
    return {"result": back or given, "childID": child}


def _chat(given: Object, back: Object) -> Object:
    messages = back.get("messages")
    last = messages[-1] if type(messages) is list and messages else None
    return _message(as_dict(given.get("message") or as_dict(last).get("info")), given)


def _prompted(given: Object, back: Object) -> Object:
    message = as_dict(back.get("message"))
    time = as_dict(message.get("time")).get("created")
    return _message(message, given) | {"prompt": _text(back.get("parts")), "time": time}


def _text(parts: Any) -> str | None:
    """What was typed: parts that the agent made up itself are left out."""
    known = [as_dict(part) for part in parts] if type(parts) is list else []
    texts = [part.get("text") for part in known if part.get("type") == "text" and not part.get("synthetic")]
    return "\n".join(text for text in texts if type(text) is str) if texts else None


def _commanded(given: Object, back: Object) -> Object:
    own = {"command": given.get("command"), "arguments": given.get("arguments")}
    return own | {"prompt": _text(back.get("parts"))}


def _session(given: Object, back: Object) -> Object:
    info = as_dict(given.get("info"))
    own = {key: info.get(key) for key in ("version", "directory", "parentID", "title", "agent")}
    own["time"] = as_dict(info.get("time")).get("updated")
    return own | {"sessionID": given.get("sessionID") or info.get("id"), "model": _model(info.get("model"))}


def _updated(given: Object, back: Object) -> Object:
    """Only an answer's end is a moment of its own; other updates tell when the message was made, long ago."""
    info = as_dict(given.get("info"))
    time = as_dict(info.get("time")).get("completed")
    return _message(info, given) | {"tokens": info.get("tokens"), "time": time}


def _part(given: Object, back: Object) -> Object:
    part = as_dict(given.get("part"))
    own = {"sessionID": given.get("sessionID") or part.get("sessionID"), "partType": part.get("type")}
    return own | {"messageID": part.get("messageID"), "tokens": part.get("tokens"), "time": given.get("time")}


def _asked(given: Object, back: Object) -> Object:
    """A permission bears the name of a tool, or of the few things that are none; two generations of fields."""
    call = as_dict(given.get("tool"))
    what = given.get("permission") or given.get("type")
    return {
        "tool": what if type(what) is str and what not in _NOT_TOOLS else None,
        "args": given.get("metadata"),
        "callID": call.get("callID") or given.get("callID"),
        "messageID": call.get("messageID") or given.get("messageID"),
        "requestID": given.get("id"),
        "permission": what,
        "patterns": given.get("patterns") or given.get("pattern"),
        "always": given.get("always"),
    }


def _replied(given: Object, back: Object) -> Object:
    request = given.get("requestID") or given.get("permissionID")
    return {"requestID": request, "reply": given.get("reply") or given.get("response")}


def _failed(given: Object, back: Object) -> Object:
    error = given.get("error")
    about = as_dict(error)
    return {"error": as_dict(about.get("data")).get("message") or error, "errorType": about.get("name")}


_READERS: dict[str, Callable[[Object, Object], Object]] = {
    "tool.execute.before": lambda given, back: {"args": back.get("args", given.get("args"))},
    "tool.execute.after": _done,
    "chat.message": _prompted,
    "chat.params": _chat,
    "chat.headers": _chat,
    "experimental.chat.messages.transform": _chat,
    "experimental.chat.system.transform": _chat,
    "experimental.compaction.autocontinue": _chat,
    "experimental.text.complete": lambda _, back: {"text": back.get("text")},
    "command.execute.before": _commanded,
    "config": lambda _, __: {"agent": None, "tool": None},  # settings of these names, not this call's
    "permission.ask": _asked,
    "permission.asked": _asked,
    "permission.v2.asked": _asked,
    "permission.updated": _asked,
    "permission.replied": _replied,
    "permission.v2.replied": _replied,
    "session.created": _session,
    "session.updated": _session,
    "session.deleted": lambda given, back: _session(given, back) | {"time": None},
    "session.error": _failed,
    "session.status": lambda given, _: {"status": as_dict(given.get("status")).get("type")},
    "message.updated": _updated,
    "message.part.updated": _part,
}
