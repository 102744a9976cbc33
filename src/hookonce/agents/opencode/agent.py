"""Agent table and decoder of OpenCode: hooks are plugin functions, a payload is `{hook, input, output}`.

The function `event` receives bus messages `{type, properties}`; the native event is then the message's type.
"""

from collections.abc import Callable
from typing import Any

from hookonce.agents._config.generated_code import plugin_config
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import key_sets, name_table, tool_names
from hookonce.agents.opencode.encode import wrap
from hookonce.agents.opencode.reply import DENY_EVENTS, read_reply, reply
from hookonce.base.jsontext import as_dict
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Facts, Object, Result, Usage
from hookonce.vocabulary.events import FILE_EVENTS_BY_CHANGE

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
    flat["duration_ms"] = payload.get("duration_ms")  # as our plugin has measured it, without hooks
    return flat


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
    "tool.execute.before": lambda fields, back: {"args": back.get("args", fields.get("args"))},
    "tool.execute.after": _tool_result_fields,
    "chat.message": _prompt_fields,
    **dict.fromkeys(("chat.params", "chat.headers", "experimental.compaction.autocontinue"), _chat_fields),
    **dict.fromkeys(("experimental.chat.messages.transform", "experimental.chat.system.transform"), _chat_fields),
    "experimental.text.complete": lambda _, back: {"text": back.get("text")},
    "command.execute.before": _command_fields,
    "config": lambda _, __: {"agent": None, "tool": None},  # settings of these names, not this call's
    **{f"permission.{name}": _permission_fields for name in ("ask", "asked", "v2.asked", "updated")},
    **dict.fromkeys(("permission.replied", "permission.v2.replied"), _permission_reply_fields),
    **dict.fromkeys(("session.created", "session.updated"), _session_fields),
    "session.deleted": lambda fields, back: _session_fields(fields, back) | {"time": None},
    "session.error": _error_fields,
    "session.status": lambda fields, _: {"status": as_dict(fields.get("status")).get("type")},
    "message.updated": _message_update_fields,
    "message.part.updated": _part_fields,
}


# Names on the bus stand first: where one canonical word has several, a payload is written with the first.
_BUS_EVENTS: dict[str, str] = {
    "session.created": "session_start",
    "session.created with parentID": "subagent_start",
    "session.deleted": "session_end",
    "session.idle": "agent_stop",
    "session.idle with parentID": "subagent_stop",
    "session.error": "error_occurred",
    "session.compacted": "after_compact",
    "permission.asked": "permission_request",
    "permission.v2.asked": "permission_request",
    "permission.updated": "permission_request",
    "file.watcher.updated": "file_changed",
    "file.edited": "file_saved",
    "todo.updated": "after_task",
    "tui.toast.show": "notification",
}
_FUNCTION_EVENTS = name_table(
    "tool.execute.before=before_tool_execute tool.execute.after=after_tool_execute chat.message=before_prompt "
    "command.execute.before=prompt_expansion chat.params=before_model chat.headers=before_model "
    "experimental.chat.messages.transform=before_model experimental.chat.system.transform=before_model "
    "experimental.text.complete=after_model tool.definition=before_tool_selection "
    "experimental.session.compacting=before_compact permission.ask=permission_request dispose=session_end"
)
# What a hook is configured for: a session ends when its server does, long before anybody deletes it.
_CONFIG_EVENTS: dict[str, str] = (
    {"dispose": "session_end"}
    | _BUS_EVENTS
    | {"file.watcher.updated with add": "file_created", "file.watcher.updated with unlink": "file_deleted"}
    | _FUNCTION_EVENTS
)
_PLUGIN_FOLDERS = ("plugin", "plugins")
# Functions of a plugin that become the agent's own, and are no events.
_NON_EVENT_FUNCTIONS = frozenset({"auth", "config", "provider", "tool"})
_SUBAGENT_EVENTS = {"session_start": "subagent_start", "agent_stop": "subagent_stop"}  # of a session that has a parent
_BUILTIN_SUBAGENTS = frozenset({"general", "explore"})  # built in, and never the one that the user talks to
_BUILTIN_UNDERSCORE_TOOLS = frozenset({"plan_enter", "plan_exit"})
_UNSAFE_CHARACTERS = lazy_pattern(r"[^a-zA-Z0-9_-]")


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    name, kind = facts["event"], facts["kind"]
    if data.get("called_through") in {"event", f"event.{name}"}:
        del data["called_through"]  # that is the function which hears the bus, not another event
    if kind == "before_model" and name != "chat.params":
        data["repeat"] = True
    elif kind == "file_changed":
        facts["kind"] = FILE_EVENTS_BY_CHANGE.get(str(data.get("change")), kind)
    if "usage" in facts:
        facts["usage"] = _usage(as_dict(facts["usage"]))
    if "call_id" in facts and "tool" not in facts:
        data["call_id"] = facts["call_id"]
    _assign_subagent(facts)


def _assign_subagent(facts: Facts) -> None:
    """A sub-agent is a session with a parent; inside of it only the agent's name gives it away."""
    parent, agent = facts.get("parent_session"), facts.get("mode")
    agent = agent if type(agent) is str else None
    if type(parent) is str:
        facts["kind"] = _SUBAGENT_EVENTS.get(facts["kind"], facts["kind"])
    if type(parent) is str or agent in _BUILTIN_SUBAGENTS:
        facts |= {"subagent": facts.get("session"), "subagent_type": agent, "subagent_parent": parent}


def _usage(tokens: Object) -> Usage | None:
    cache = as_dict(tokens.get("cache"))
    counts = {f"{name}_tokens": tokens.get(name) for name in ("input", "output", "reasoning", "total")}
    counts |= {"cache_read_tokens": cache.get("read"), "cache_write_tokens": cache.get("write")}
    int_counts = {name: count for name, count in counts.items() if type(count) is int}
    return Usage(**int_counts) if any(int_counts.values()) else None


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """One underscore joins server and tool, and both may contain more: only the list of servers tells them apart."""
    if "_" not in native or native in _BUILTIN_UNDERSCORE_TOOLS:
        return None
    servers = facts.get("mcp_server")
    if type(servers) is not list:
        return "?", native
    for server in sorted((name for name in servers if type(name) is str), key=len, reverse=True):
        prefix = _UNSAFE_CHARACTERS.sub("_", server) + "_"
        if native.startswith(prefix) and native != prefix:
            return server, native[len(prefix) :]
    return None


def _result(facts: Facts, name: str) -> Result:
    """A command's exit code stands in the metadata; an MCP tool gives its content and nothing beside it."""
    response = as_dict(facts.get("output"))
    code = as_dict(response.get("metadata")).get("exit") if name == "shell" else None
    error = as_dict(facts.get("input")).get("error") if name == "invalid" else None
    output = response.get("output", response.get("content"))
    if type(code) is int:
        return Result(ok=code == 0, exit_code=code, output=output)
    is_failure = response.get("isError") is True or type(error) is str
    return Result(ok=not is_failure, error=error if type(error) is str else None, output=output)


def _recognise(payload: Object) -> str | None:
    hook, hook_input = payload.get("hook"), payload.get("input")
    if type(hook) is not str or type(hook_input) is not dict:
        return None
    kind = as_dict(hook_input.get("event")).get("type")
    return kind if type(kind) is str else hook.removeprefix("event.")


AGENT = Agent(
    name="opencode",
    title="OpenCode",
    source="npm packages opencode-ai 1.18.33 (run) and @opencode-ai/plugin 1.18.33 (types)",
    checked="2026-11-15",
    proof="captured",
    vendor="ai.opencode",
    encodes=True,
    ends="sometimes",  # of the session that it was in when it is shut down
    events=_BUS_EVENTS | _FUNCTION_EVENTS,
    tools=tool_names(
        shell="bash",
        file_read="read",
        file_write="write",
        file_edit="edit apply_patch",
        search="grep",
        find="glob",
        web_search="websearch",
        web_fetch="webfetch",
        agent="task",
    ),
    arguments={
        "*": {"filepath": "path", "filePath": "path"},
        "edit": {"oldString": "old_text", "newString": "new_text", "replaceAll": "replace_all"},
        "apply_patch": {"patchText": "patch"},
        "task": {"subagent_type": "type"},
    },
    keys=name_table(
        "hook=event sessionID=session turn cwd time version parentID=parent_session agent=mode model tokens=usage "
        "prompt tool args=input result=output error callID=call_id mcp_servers=mcp_server "
        "duration_ms=duration"
    ),
    details=name_table(
        "messageID=message_id file=path event=change text=response command=command_name arguments=command_args "
        "always=permission_suggestions requestID=request_id errorType=error_type partType=part_type "
        "childID=child_session toolID=tool_name title message permission patterns reply status todos"
    ),
    modes={"build": "agent", "plan": "plan"},
    env_markers=("OPENCODE_PID",),
    script_words=("tool.execute.before", "tool.execute.after"),
    signature_keys=key_sets("hook input"),
    quirks=(
        "A hook denies by throwing; it can neither ask nor grant, and the typed permission.ask is never called.",
        "A plugin that fails to load is silently ignored, and --pure leaves out all of them.",
        "Nothing limits a hook's time: while it waits, the whole agent waits.",
        "A tool that throws, an MCP error and bad arguments send no tool.execute.after.",
        "A call of an unknown or forbidden tool arrives as the tool `invalid`.",
        "A sub-agent has its own session; only session.created and the result of `task` name the parent.",
        "A list of what is to be done is sent whole with every change, as todo.updated.",
    ),
    unwrap=unwrap,
    refine=_refine,
    shape_readers={"apply_patch": tool_calls.shape_patch},
    mcp=_mcp,
    mcp_name=lambda server, tool: tool if server == "?" else _UNSAFE_CHARACTERS.sub("_", f"{server}_{tool}"),
    result=_result,
    recognise=_recognise,
    recognise_keys=key_sets("hook input"),
    wrap=wrap,
    reply=reply,
    read_reply=read_reply,
    config=plugin_config(
        lambda native: native not in _NON_EVENT_FUNCTIONS,
        files={"user": "~/.config/opencode/plugin/hookonce.js", "project": ".opencode/plugin/hookonce.js"},
        points={
            "tool.execute.before": point("prevent rewrite"),
            "tool.execute.after": point("prevent context output"),  # an error stands for the result; the tool has run
            "chat.message": point("prevent context"),
            "experimental.chat.system.transform": point("prevent context"),
            "experimental.session.compacting": point("context"),
            "experimental.text.complete": point("output"),
            "permission.ask": point(install="never", why="is declared and never called"),
            "file.watcher.updated": point(install="opt-in", why="comes with every change of every file"),
            "file.watcher.updated with add": point(install="never", why="comes with file.watcher.updated as well"),
            "file.watcher.updated with unlink": point(install="never", why="comes with file.watcher.updated as well"),
            "tui.toast.show": point(install="opt-in", why="is about what is shown"),
        }
        | dict.fromkeys(DENY_EVENTS, point("prevent")),
        events=_CONFIG_EVENTS,
        reads={
            "user": tuple(f"~/.config/opencode/{folder}/*.{end}" for folder in _PLUGIN_FOLDERS for end in ("js", "ts")),
            "project": tuple(f".opencode/{folder}/*.{end}" for folder in _PLUGIN_FOLDERS for end in ("js", "ts")),
        },
        programs=("opencode",),
    ),
)
