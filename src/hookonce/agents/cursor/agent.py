"""Agent table, decoder and encoder of Cursor: the editor, its command line and its SDK."""

from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode as decode_json

from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, key_sets, name_table, pick, tool_names
from hookonce.agents.cursor.config import TOOL_EVENT_MATCHERS, parse, render
from hookonce.agents.cursor.reply import read_reply, reply
from hookonce.base.jsontext import dump
from hookonce.model import Agent, Config, Event, Facts, Object, Result, Tool, Usage

# Events about one kind of tool name no tool and spread its arguments over the payload:
# the tool that the generic event would name, and which keys are its arguments.
_TYPED_EVENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "beforeShellExecution": ("Shell", ("command", "cwd", "timeout")),
    "afterShellExecution": ("Shell", ("command", "cwd", "timeout")),
    "beforeReadFile": ("Read", ("file_path",)),
    "afterFileEdit": ("Write", ("file_path", "edits")),
}
# The model's own functions, by which the Hook Interchange Format knows the tools: the arguments of each.
# Hooks of today's Cursor tell the other names, so that these are read and never written.
_FUNCTION_ARGUMENTS = {
    "run_terminal_cmd": {"is_background": "background", "explanation": "description"},
    "read_file": {"target_file": "path"},
    "edit_file": {"target_file": "path", "code_edit": "new_text", "contents": "content"}
    | {"old_string": "old_text", "new_string": "new_text"},
    "grep_search": {"query": "pattern"},
    "file_search": {"query": "pattern"},
    "web_search": {"search_term": "query"},
}
_MCP_EVENTS = frozenset({"beforeMCPExecution", "afterMCPExecution"})
# What Cursor always says, and others do not.
_DEFAULT_FIELDS: dict[str, Object] = {
    "before_prompt": {"attachments": []},
    "session_start": {"is_background_agent": False},
    "agent_stop": {"status": "completed", "loop_count": 0},
    "subagent_stop": {"status": "completed", "loop_count": 0},
}
_USAGE_FIELDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_SHARED_EVENTS = pick(
    EVENTS,
    "PreToolUse PostToolUse PostToolUseFailure SessionStart SessionEnd Stop SubagentStart SubagentStop PreCompact",
)
_EVENTS = {name[0].lower() + name[1:]: kind for name, kind in _SHARED_EVENTS.items()} | name_table(
    "beforeSubmitPrompt=before_prompt beforeShellExecution=before_tool_execute "
    "beforeMCPExecution=before_tool_execute beforeReadFile=before_tool_execute "
    "afterShellExecution=after_tool_execute afterMCPExecution=after_tool_execute afterFileEdit=after_tool_execute "
    "afterAgentResponse=agent_response afterAgentThought=agent_thought"
)
_VENDOR_EVENTS = ("beforeTabFileRead", "afterTabFileEdit", "workspaceOpen")  # events that nobody else has a word for
_duplicate_point = partial(point, install="opt-in", why="the general events for tools tell of the same call")
_completion_point = partial(point, install="opt-in", why="comes with every completion while the user types")


def _unwrap(payload: Object, event_hint: str | None) -> Object:
    """Bring every tool call into the form of the generic events, whichever event reports it."""
    event = payload.get("hook_event_name") or event_hint
    if type(event) is not str:
        return payload
    if event in _MCP_EVENTS and type(payload.get("tool_name")) is str:
        return payload | {"tool_name": f"MCP:{payload['tool_name']}"}
    native, argument_keys = _TYPED_EVENTS.get(event, ("", ()))
    if not native:
        return payload
    flat = {key: value for key, value in payload.items() if key == "cwd" or key not in argument_keys}
    tool_input = {key: payload[key] for key in argument_keys if payload.get(key) is not None}
    return flat | {"tool_name": native, "tool_input": tool_input}


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    # Most events carry no working directory, and few a session beside the conversation.
    if not facts.get("cwd"):
        roots = payload.get("workspace_roots")
        facts["cwd"] = roots[0] if type(roots) is list and roots else None
    if "session" not in facts:
        facts["session"] = payload.get("session_id")
    if facts["kind"] in ("agent_stop", "agent_response"):
        counts = {name: payload[name] for name in _USAGE_FIELDS if type(payload.get(name)) is int}
        facts["usage"] = Usage(**counts) if counts else None
    if facts["kind"] == "agent_thought":
        data["native_event"] = "afterAgentThought"  # formats have one word for it and for a model's answer
        if "response" in data:
            data["thought"] = data.pop("response")
    if "subagent_parent" in facts:
        _resolve_parent_session(facts, data)
    # Only these two hold JSON text; what a terminal printed is never read as such.
    text = payload.get("tool_output") or payload.get("result_json")
    if type(text) is str:
        facts["output"] = text
        with suppress(DecodeError, RecursionError, UnicodeError):
            facts["output"] = decode_json(text) if text[:1] in ("{", "[") else text


def _resolve_parent_session(facts: Facts, data: Object) -> None:
    """The session is the one that the user sees; a parent is kept only if it is another one."""
    session, parent = facts["session"], facts["subagent_parent"]
    if session in (None, facts.get("subagent"), data.get("child_session")):
        facts["session"] = session = parent
    if parent == session:
        del facts["subagent_parent"]


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """The generic events leave the server out, the MCP events tell it."""
    if not native.startswith("MCP:") or native == "MCP:":
        return None
    server = facts.get("mcp_server")
    return (server if type(server) is str and server else "?"), native[4:]


def _shape_edit(name: str, arguments: Object) -> tuple[str, Object]:
    """One tool writes and edits: hunks mean an edit, and a single hunk becomes old_text and new_text."""
    edits = arguments.get("edits")
    if type(edits) is not list:
        return name, arguments
    if len(edits) == 1 and type(edits[0]) is dict:
        arguments = arguments | {"old_text": edits[0].get("old_string"), "new_text": edits[0].get("new_string")}
    return "file_edit", arguments


def _shape_function_edit(name: str, arguments: Object) -> tuple[str, Object]:
    """The model's function for both: who gives the whole content writes, who gives a piece of it edits."""
    name, arguments = _shape_edit(name, arguments)
    is_edit = "content" not in arguments and not {"old_text", "new_text"}.isdisjoint(arguments)
    return "file_edit" if is_edit else name, arguments


def _result(facts: Facts, name: str) -> Result:
    output: Any = facts.get("output")
    if name != "shell" or type(output) is not dict or type(output.get("exitCode")) is not int:
        return tool_calls.plain_result(facts)
    code, stdout = output["exitCode"], output.get("stdout")
    return Result(ok=code == 0, exit_code=code, output=stdout if type(stdout) is str else output)


def _wrap(flat: Object, event: Event) -> Object:
    roots = [flat["cwd"]] if "cwd" in flat else []
    payload = {"workspace_roots": roots, "user_email": None, "transcript_path": None} | flat
    payload["session_id"] = payload.get("conversation_id")
    if event.type == "subagent_stop" and "text" in payload:
        payload["summary"] = payload.pop("text")
    if event.type == "agent_thought":
        payload["text"] = event.data.get("thought", "")
    if event.agent != AGENT.name:
        payload = _DEFAULT_FIELDS.get(event.type, {}) | payload
    if event.usage is not None and event.type in ("agent_stop", "agent_response"):
        payload |= {name: count for name in _USAGE_FIELDS if (count := getattr(event.usage, name)) is not None}
    return payload if event.tool is None else payload | _tool_fields(payload, event.tool, own=event.agent == AGENT.name)


def _tool_fields(payload: Object, tool: Tool, *, own: bool) -> Object:
    """An edit is a Write with its hunk, and output is the JSON text of an object."""
    fields: Object = {"mcp_server_name": tool.mcp_server} if tool.mcp_server is not None else {}
    tool_input = payload.get("tool_input")
    if tool.name == "file_edit" and not own and type(tool_input) is dict:
        hunk = {"old_string": tool_input.get("old_text"), "new_string": tool_input.get("new_text")}
        others = {key: value for key, value in tool_input.items() if key not in ("old_text", "new_text", "edits")}
        fields |= {"tool_name": "Write", "tool_input": others | {"edits": tool_input.get("edits", [hunk])}}
    output, result = payload.get("tool_output"), tool.result
    if tool.name == "shell" and result is not None and result.exit_code is not None and type(output) is not dict:
        output = {"exitCode": result.exit_code, "stdout": output or ""}
    if output is not None:
        fields["tool_output"] = output if type(output) is str else dump(output).decode()
    return fields


AGENT = Agent(
    name="cursor",
    title="Cursor",
    source="npm package @cursor/sdk 1.0.32 and cursor.com/docs/hooks of 2026-08-25",
    checked="2026-11-15",
    proof="documented",
    vendor="com.cursor",
    events=_EVENTS,
    tools=tool_names(
        shell="Shell run_terminal_cmd",
        file_read="Read read_file",
        file_write="Write edit_file",
        search="Grep grep_search",
        find="List file_search",
        web_search="WebSearch web_search",
        web_fetch="WebFetch Fetch",
        agent="Task",
    ),
    arguments={"*": {"file_path": "path"}, "agent": {"subagent_type": "type"}, **_FUNCTION_ARGUMENTS},
    user_key="user_email",  # only ever told as a pseudonym: an address is no identity that anybody agreed to
    keys=name_table(
        "hook_event_name=event conversation_id=session generation_id=turn cwd model composer_mode=mode prompt "
        "cursor_version=version transcript_path=transcript tool_name=tool tool_input=input tool_output=output "
        "result_json=output output error_message=error tool_use_id=call_id duration mcp_server_name=mcp_server "
        "subagent_id=subagent subagent_type parent_conversation_id=subagent_parent"
    ),
    details=pick(DETAILS, "reason trigger agent_transcript_path is_interrupt file_path context_tokens")
    | name_table(
        "text=response summary=response failure_type=error_type url=mcp_server_url command=mcp_server_command "
        "is_background_agent=background tool_call_id=call_id parent_tool_call_id=parent_call_id "
        "child_conversation_id=child_session is_parallel_worker=parallel is_first_compaction=first_compaction "
        "status final_status loop_count duration_ms model_id model_params workspace_roots attachments content "
        "edits sandbox agent_message mcp_server_url task description subagent_model git_branch modified_files "
        "message_count tool_call_count context_usage_percent context_window_size messages_to_compact"
    ),
    modes={"agent": "agent", "ask": "chat", "edit": "edit", "plan": "plan"},
    env_markers=("CURSOR_VERSION", "CURSOR_PROJECT_DIR"),
    variables={"CURSOR_PROJECT_DIR": "project"} | {"CLAUDE_PROJECT_DIR": "project"},
    home=".cursor",
    transcripts=(".cursor/projects", ".jsonl", {}),
    script_words=("cursor_version", "agent_message", "followup_message", "permission: allow|deny|ask"),
    signature_keys=key_sets("cursor_version", "conversation_id generation_id"),
    quirks=(
        "A shell, MCP or read call fires its own event as well as preToolUse, and only preToolUse has a call id.",
        "An answer that is no valid JSON blocks the action on the six permission events, elsewhere it is ignored.",
        "Printing nothing counts as a failure, which blocks if the entry says failClosed: always print {}.",
        "ask holds on beforeShellExecution only; preToolUse accepts it and lets the call pass.",
        "One unknown event name, or a missing version, makes Cursor drop the whole hooks.json.",
        "Hooks of .claude/settings.json run here too, so one script can be called for both agents.",
        "The payload is a here-document behind the command, so of `a && b` only b can read it.",
        "A follow-up at stop must be requested in JSON: exit code 2 does nothing there.",
        "New input is taken field by field; what Write is to write cannot be changed.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    shape_readers={"Write": _shape_edit, "edit_file": _shape_function_edit},
    mcp=_mcp,
    mcp_name="MCP:{1}".format,
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    encodes=True,
    config=Config(
        repairable=True,
        files={"user": "~/.cursor/hooks.json", "project": ".cursor/hooks.json", "managed": "/etc/cursor/hooks.json"},
        reads={"managed": ("/Library/Application Support/Cursor/hooks.json", "C:\\ProgramData\\Cursor\\hooks.json")},
        render=render,
        parse=parse,
        events=_EVENTS | {name: f"vendor.cursor.{name}" for name in _VENDOR_EVENTS},
        points={
            "preToolUse": point("prevent rewrite context", ask="ignored", rewrite="fields"),
            "postToolUse": point("context"),
            "postToolUseFailure": point("context"),
            "beforeSubmitPrompt": point("prevent context"),
            "sessionStart": point("context"),  # its continue:false is heeded by the SDK alone
            "preCompact": point("message"),
            "stop": point("retry"),
            "subagentStart": point("prevent", ask="ignored"),
            "subagentStop": point("retry"),
        }
        | {name: _duplicate_point() for name in TOOL_EVENT_MATCHERS}
        | {
            "beforeShellExecution": _duplicate_point("prevent", ask="native"),
            "beforeMCPExecution": _duplicate_point("prevent", ask="ignored"),
            "beforeReadFile": _duplicate_point("prevent"),
            "beforeTabFileRead": _completion_point("prevent"),
            "afterTabFileEdit": _completion_point(),
            "workspaceOpen": point(install="opt-in", why="asks for plugins, before there is any session"),
        },
        subjects={
            "subagentStart": ("agent_type", "pattern"),
            "subagentStop": ("agent_type", "pattern"),
        },
        programs=("cursor-agent", "cursor"),
        borrows=("claude-code",),
        capabilities=frozenset({"structured_output", "input_rewrite", "llm_evaluated"}),
        matching="pattern, unanchored",
        timeout=60,
        handlers={
            "command": {"command": "command", "timeout": "timeout"},
            "prompt": {"type": "type", "prompt": "prompt", "model": "model", "timeout": "timeout"},
        },
        fail_closed_key=("failClosed", True),
        ambiguous={name: ["file_write", "file_edit"] for name in ("Write", "edit_file")},
        excluded_tools=frozenset(_FUNCTION_ARGUMENTS),
        silence="{}",
        trust="Declare the workspace trusted; hooks of a project do not run in any other.",
    ),
)
