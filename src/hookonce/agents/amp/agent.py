"""Agent table, decoder and encoder of Amp: our plugin forwards its calls, or a permission rule delegates them."""

from typing import Any

from hookonce.agents._config.generated_code import plugin_config
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import key_sets, name_table, tool_names
from hookonce.agents.amp.reply import read_reply, reply
from hookonce.base.jsontext import as_dict, drop_none, select_keys
from hookonce.model import Agent, Event, Facts, Object, Result
from hookonce.vocabulary.tools import WRITE_TOOLS

# A program that a permission rule asks gets the tool's input alone; the tool's name is in its environment.
_DELEGATE_EVENT = "delegate"
_PLUGIN_EVENTS = name_table(
    "session.start=session_start agent.start=before_prompt tool.call=before_tool_execute "
    "tool.result=after_tool_execute agent.end=agent_stop"
)
# The plugin tells a failed turn from others, and hears of one event that has no canonical word.
_ERROR_EVENT = "agent.end with error"
_CONFIG_EVENTS = _PLUGIN_EVENTS | {_ERROR_EVENT: "error_occurred", "changes.prompt": "vendor.amp.changes.prompt"}
_SHELL_TOOLS = {"cmd": "Bash", "command": "shell_command"}
_NATIVE_KEYS = {"tool_use_id": "toolUseID"}
_MUTABLE_KEYS = {"tool.call": ("input",), "tool.result": ("status", "output", "error")}
_ENVELOPE_KEYS = frozenset({"hook_event_name", "thread_id", "cwd"})


def _unwrap(payload: Object, event_hint: str | None) -> Object:
    if event_hint == _DELEGATE_EVENT and not (type(payload.get("tool")) is str and type(payload.get("input")) is dict):
        return _unwrap_delegate(payload)
    if type(payload.get("hook")) is str and type(payload.get("input")) is dict:
        envelope = {"cwd": payload.get("directory"), "hook_event_name": payload["hook"].partition(" ")[0]}
        return _unwrap(payload["input"], None) | drop_none(envelope)
    flat = dict(payload)
    thread = payload.get("thread")
    if type(thread) is dict and "thread_id" not in payload:
        flat["thread_id"] = thread.get("id")
    if type(payload.get("id")) is int:
        flat["id"] = str(payload["id"])
    if event_hint is None and "hook_event_name" not in payload:
        flat["hook_event_name"] = _infer_event(payload)
    return flat


def _unwrap_delegate(arguments: Object) -> Object:
    """Without a tool name only a shell command can be recognised by its argument."""
    for argument, tool in _SHELL_TOOLS.items():
        if type(arguments.get(argument)) is str:
            return {"tool": tool, "input": arguments, "guessed": True}
    return {"unnamed": arguments}


def _infer_event(payload: Object) -> str | None:
    """Infer the event by its keys: the plugin's own events carry no name, but no two of them look alike."""
    if type(payload.get("thread")) is not dict:
        return None
    if "toolUseID" in payload:
        return "tool.result" if "status" in payload else "tool.call"
    if "workflow" in payload:
        return "changes.prompt"
    if "message" in payload:
        return "agent.end" if "status" in payload else "agent.start"
    return "session.start" if len(payload) == 1 else None


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    status = facts.get("status")
    if status is not None:
        data["status"] = status
    if facts["kind"] != "agent_stop":
        return
    if status == "error":
        facts["kind"] = "error_occurred"
    event_input = as_dict(payload.get("input")) or payload  # the plugin's call holds the event
    if (response := _last_assistant_text(event_input.get("messages"))) is not None:
        data["response"] = response


def _last_assistant_text(messages: Any) -> str | None:
    for message in reversed(messages) if type(messages) is list else ():
        if type(message) is dict and message.get("role") == "assistant":
            content = message.get("content")
            parts = [part for part in content if type(part) is dict] if type(content) is list else []
            texts = [part["text"] for part in parts if type(part.get("text")) is str]
            return "\n".join(texts) if texts else None
    return None


def _result(facts: Facts, name: str) -> Result:
    output: Any = facts.get("output")
    error = tool_calls.as_text(facts.get("error"))
    is_done = facts.get("status") == "done" if "status" in facts else error is None
    code = None
    if name == "shell" and type(output) is dict and type(output.get("exitCode")) is int:
        code, output = output["exitCode"], output.get("output")
    return Result(ok=is_done and not code, exit_code=code, error=error, output=output)


def _recognise(payload: Object) -> str | None:
    name, thread = payload.get("hook_event_name"), payload.get("thread")
    if type(name) is str:
        is_own_event = name in AGENT.events or name == "changes.prompt"
        return name if is_own_event and ("thread_id" in payload or type(thread) is dict) else None
    has_thread_id = type(thread) is dict and type(thread.get("id")) is str and thread["id"].startswith("T-")
    return _infer_event(payload) if has_thread_id else None


def _wrap(flat: Object, event: Event) -> Object:
    """The plugin's call for this event; a delegate program of a permission rule gets only the tool's input."""
    name, tool = flat["hook_event_name"].partition(" ")[0], event.tool
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
    return drop_none({"status": event.data.get("status") or ("error" if is_failure else "done"), "output": output})


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


AGENT = Agent(
    name="amp",
    title="Amp",
    source="command line build 0.0.1790142911 (2026-09-23): its plugin types and bundle, read but not run",
    checked="2026-11-15",
    proof="documented",
    vendor="com.ampcode",
    encodes=True,
    events=_PLUGIN_EVENTS | {_ERROR_EVENT: "error_occurred", _DELEGATE_EVENT: "permission_request"},
    tools=tool_names(
        shell="Bash shell_command async_shell_command",
        file_read="Read",
        file_write="create_file",
        file_edit="edit_file apply_patch",
        search="Grep",
        find="glob finder",
        web_search="web_search",
        web_fetch="read_web_page",
        agent="Task oracle",
    ),
    arguments={
        "Bash": {"cmd": "command"},
        "edit_file": {"old_str": "old_text", "new_str": "new_text"},
        "apply_patch": {"patchText": "patch", "input": "patch"},
        "glob": {"filePattern": "pattern"},
        "finder": {"query": "pattern"},
        "web_search": {"objective": "query"},
        "read_web_page": {"objective": "prompt"},
        "oracle": {"task": "prompt"},
    },
    keys=name_table(
        "hook_event_name=event thread_id=session cwd id=turn message=prompt tool input tool_use_id=call_id "
        "toolUseID=call_id status output error"
    ),
    details=name_table("workflow changesWorkflow=workflow guessed unnamed=input"),
    env_markers=("AMP_THREAD_ID",),
    signature_keys=key_sets("thread toolUseID", "thread_id hook_event_name tool_use_id", "thread_id hook input"),
    quirks=(
        "Plugins are code that runs as soon as a folder is opened; all of them are asked at once.",
        "Of several plugins' answers the first that is no allow counts: a rewrite may win over another's rejection.",
        "A plugin that throws stops the call; with PLUGINS=off in the environment none is loaded.",
        "A turn can begin before plugins are loaded unless --plugin-ready-timeout makes it wait.",
        "session.start comes again whenever the user returns to a thread.",
        "A permission program that gives its reason on stderr stops the whole thread; without one only the call.",
        "A permission program has ten seconds, then the call is rejected.",
        "Nothing is sent for compaction, notifications, sub-agents or the end of a session.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    shape_readers={"apply_patch": tool_calls.shape_patch},
    mcp=tool_calls.mcp_splitter("mcp__", "__"),
    mcp_name="mcp__{}__{}".format,
    result=_result,
    recognise=_recognise,
    recognise_keys=key_sets("thread", "thread_id"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=plugin_config(
        lambda native: native in _CONFIG_EVENTS,
        files={"user": "~/.config/amp/plugins/hookonce.ts", "project": ".amp/plugins/hookonce.ts"},
        points={
            "tool.call": point("prevent rewrite"),
            "tool.result": point("prevent output"),  # an error stands for the result; the tool has run
            "agent.start": point("context"),
            "agent.end": point("retry"),
            "changes.prompt": point("context", why="comes when changes are shipped"),
        },
        events=_CONFIG_EVENTS,
        reads={"user": ("~/.config/amp/plugins/*.ts",), "project": (".amp/plugins/*.ts",)},
        programs=("amp",),
        trust="Run `plugins: reload` or start Amp anew; without a terminal add --plugin-ready-timeout 30.",
    ),
)
