"""Agent table, decoder and encoder of Augment's command line, Auggie."""

from typing import Any

from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, KEYS, key_sets, name_table, pick
from hookonce.agents.augment.config import FLAT_EVENTS, parse, render
from hookonce.agents.augment.reply import read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Config, Event, Facts, Object, Tool

_EXIT_CODE_PATTERN = lazy_pattern(
    r"\AHere are the results from executing the command\.\s+<return-code>\s*(-?\d{1,10})\s*</return-code>"
)
_SHELL_OUTPUT_TEMPLATE = (
    "Here are the results from executing the command.\n<return-code>\n{}\n</return-code>\n<output>\n{}\n</output>"
)
_OPERATIONS = {"create": "create", "edit": "update", "delete": "delete"}
# A second set of names, as Cursor has them.
_FLAT_BEFORE_EVENTS = ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
_FLAT_AFTER_EVENTS = ("afterShellExecution", "afterMCPExecution", "afterFileEdit")

# What a hook must ask for in its configuration comes in three objects: key there → key of the flat payload.
# The user's address is left where it is.
_OPT_IN_KEYS = {
    "context": {"modelName": "model", "toolVersion": "version", "timestamp": "time"},
    "conversation": {"userPrompt": "user_prompt", "agentTextResponse": "response", "timestamp": "time"}
    | {"agentCodeResponse": "file_changes"},
    "mcp_metadata": {"mcpExecutedToolServerName": "mcp_server", "timestamp": "time"},
}
_EXTRA_BLOCKS = {"agent_stop": "conversation"}  # the other object of an event, beside the context


def _unwrap(payload: Object, event_hint: str | None) -> Object:
    flat = dict(payload)
    roots = payload.get("workspace_roots")
    if type(roots) is list and roots:
        flat.setdefault("cwd", roots[0])
    for key, names in _OPT_IN_KEYS.items():
        if type(inner := payload.get(key)) is dict:
            flat |= {name: inner[native_key] for native_key, name in names.items() if inner.get(native_key) is not None}
    return flat


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    """A failed turn is marked by its cause; file changes come with and without their content."""
    if facts["kind"] == "agent_stop" and data.get("stop_reason") == "error":
        facts["kind"] = "error_occurred"
    changes = facts.get("changes")
    if type(changes) is list:
        data["files"] = [_decode_change(change) for change in changes if type(change) is dict]


def _decode_change(change: Object) -> Object:
    operation = change.get("changeType")
    operation = _OPERATIONS.get(operation, operation) if type(operation) is str else None
    return {"path": change.get("path"), "operation": operation}


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """A flag marks MCP tools; their name ends in the server's, which only a hook that requests it gets."""
    if facts.get("is_mcp") is not True:
        return None
    server = facts.get("mcp_server")
    if type(server) is not str or not server:
        return "?", native
    return server, native.removesuffix(f"_{server}") or native


def _wrap(flat: Object, event: Event) -> Object:
    """Fields that a hook must request go back into their objects, as if it had requested them."""
    roots = flat.setdefault("workspace_roots", [flat["cwd"]] if "cwd" in flat else [])
    if type(roots) is list and roots[:1] == [flat.get("cwd")]:
        flat.pop("cwd", None)
    if event.type == "agent_stop" and event.agent != AGENT.name:
        flat.setdefault("agent_stop_cause", "end_turn")
    if event.tool is not None:
        flat |= _tool_fields(flat, event.tool, own=event.agent == AGENT.name)
    if type(files := event.data.get("files")) is list:
        flat["file_changes"] = [_encode_change(file) for file in files if type(file) is dict]
    blocks = {name: _block_keys(name, flat) for name in ("context", _EXTRA_BLOCKS.get(event.type, "mcp_metadata"))}
    nested_keys = {name for block in blocks.values() for name in block.values()}
    payload = {key: value for key, value in flat.items() if key not in nested_keys}
    objects = {name: {native: flat[key] for native, key in block.items()} for name, block in blocks.items()}
    return payload | {name: fields for name, fields in objects.items() if fields}


def _block_keys(name: str, flat: Object) -> dict[str, str]:
    """Keys of an object that have a value; a time alone is not worth an object."""
    keys = {native_key: key for native_key, key in _OPT_IN_KEYS[name].items() if flat.get(key) is not None}
    return keys if name == "context" or keys.keys() - {"timestamp"} else {}


def _tool_fields(flat: Object, tool: Tool, *, own: bool) -> Object:
    """MCP tools have a flag and their server at the end of the name; a command's exit code stands in its output."""
    fields: Object = {"is_mcp_tool": tool.name.startswith("mcp:"), "tool_error": flat.get("tool_error")}
    if tool.mcp_server is not None:
        fields["mcp_server"] = tool.mcp_server
        fields |= {} if own else {"tool_name": f"{tool.name.partition('/')[2]}_{tool.mcp_server}"}
    if own or tool.result is None:
        return fields
    fields["tool_output"] = tool_calls.as_text(flat.get("tool_output"))
    if tool.name == "shell" and tool.result.exit_code is not None:
        fields["tool_output"] = _SHELL_OUTPUT_TEMPLATE.format(tool.result.exit_code, fields["tool_output"] or "")
    return fields


def _encode_change(file: Object) -> Object:
    operation = file.get("operation")
    return {
        "path": file.get("path"),
        "changeType": next((native for native, canonical in _OPERATIONS.items() if canonical == operation), operation),
    }


def _recognise(payload: Object) -> str | None:
    """Cursor sends the same two keys, with its version beside them."""
    name: Any = payload.get("hook_event_name")
    is_augment = "conversation_id" in payload and "workspace_roots" in payload and "cursor_version" not in payload
    return name if is_augment and type(name) is str and name[:1].isupper() and name in AGENT.events else None


AGENT = Agent(
    name="augment",
    title="Augment (Auggie)",
    source="npm package @augmentcode/auggie 0.36.0 and docs.augmentcode.com/cli/hooks",
    checked="2026-11-15",
    proof="documented",
    vendor="com.augmentcode",
    events=pick(EVENTS, "PreToolUse PostToolUse SessionStart SessionEnd Stop Notification")
    | {"PromptSubmit": "before_prompt", "stop": "agent_stop"}
    | dict.fromkeys(_FLAT_BEFORE_EVENTS, "before_tool_execute")
    | dict.fromkeys(_FLAT_AFTER_EVENTS, "after_tool_execute"),
    tools=name_table(
        "launch-process=shell view=file_read save-file=file_write str-replace-editor=file_edit grep-search=search "
        "web-search=web_search web-fetch=web_fetch sub-agent-*=agent"
    ),
    arguments={
        "file_write": {"file_content": "content"},
        "file_edit": {"old_str_1": "old_text", "new_str_1": "new_text"},
        "search": {"query": "pattern", "directory_absolute_path": "path"},
        "agent": {"instruction": "prompt"},
    },
    keys=pick(KEYS, "hook_event_name cwd tool_name tool_input tool_use_id")
    | name_table(
        "conversation_id=session tool_output=output tool_error=error user_prompt=prompt is_mcp_tool=is_mcp "
        "mcp_server model version time file_changes=changes"
    ),
    details=pick(DETAILS, "notification_type")
    | name_table("notification_message=message agent_stop_cause=stop_reason response workspace_roots"),
    env_markers=("AUGMENT_HOOK_EVENT", "AUGMENT_CONVERSATION_ID"),
    variables={"AUGMENT_PROJECT_DIR": "project", "AUGMENT_CONVERSATION_ID": "session"}
    | {"AUGMENT_HOOK_EVENT": "event", "AUGMENT_TOOL_NAME": "tool"},
    home=".augment",
    signature_keys=key_sets(
        "conversation_id is_mcp_tool", "conversation_id agent_stop_cause", "conversation_id notification_message"
    ),
    quirks=(
        "A matcher never meets MCP tools unless it is .* or begins with mcp: as in mcp:*.",
        "One unknown event name in the settings and the whole hooks block is dropped.",
        "Commands run without a shell unless they contain shell characters; timeouts are milliseconds.",
        "Prompt, model and MCP server are sent only to hooks whose metadata asks for them.",
        "Stop is held up only by a decision inside hookSpecificOutput; one at the top is ignored.",
        "Exit code 2 blocks at PreToolUse alone; at PromptSubmit nothing that a hook prints is read.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    shape_readers={"view": lambda name, args: ("find" if args.get("type") == "directory" else name, args)},
    mcp=_mcp,
    result=tool_calls.shell_result_reader(_EXIT_CODE_PATTERN),
    recognise=_recognise,
    recognise_keys=key_sets("conversation_id workspace_roots"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    encodes=True,
    config=Config(
        files={
            "user": "~/.augment/settings.json",
            "project": ".augment/settings.json",
            "local": ".augment/settings.local.json",
            "managed": "/etc/augment/settings.json",
        },
        reads={"managed": ("C:\\ProgramData\\Augment\\settings.json",)},
        render=render,
        parse=parse,
        points={
            # The hooks page says of ask and allow that they are still to come. Whether new input is merged into the old
            # is not told; to say so is safe, for all of it is sent.
            "PreToolUse": point("prevent rewrite message suppress", ask="ignored", rewrite="merge"),
            "PostToolUse": point("context message suppress"),
            "SessionStart": point("context message suppress"),
            "Stop": point("retry message suppress"),
        }
        # What an answer can do there is not told; so these are only kept where they are.
        | dict.fromkeys(
            FLAT_EVENTS, point(install="never", why="is another way to say PreToolUse, PostToolUse or Stop")
        ),
        programs=("auggie",),
        capabilities=frozenset({"structured_output", "input_rewrite"}),
        matching="pattern, unanchored; MCP tools only behind mcp:",
        units=1000,
        timeout=60,
        handlers={"command": {"type": "type", "command": "command", "timeout": "timeout"}},
    ),
)
