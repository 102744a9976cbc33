"""Encoder of Windsurf Cascade payloads: an envelope with the action's details in `tool_info`."""

from typing import Any

from hookonce.agents._decode.tool_calls import as_text
from hookonce.base.jsontext import drop_none, select_keys
from hookonce.errors import UnknownName
from hookonce.model import Event, Object, Result, Tool

_ENVELOPE_KEYS = ("trajectory_id", "execution_id", "timestamp", "model_name")
_MCP_ACTION = "mcp_tool_use"
_ACTIONS = {"shell": "run_command", "file_read": "read_code", "file_write": "write_code", "file_edit": "write_code"}
_OUTPUT_KEYS = {"run_command": "output", "read_code": "content", _MCP_ACTION: "mcp_result"}
# What another agent's event may tell here, where no tool is involved.
_EVENT_KEYS = {
    "pre_user_prompt": ("user_prompt",),
    "post_cascade_response": ("response",),
    "post_cascade_response_with_transcript": ("transcript_path",),
    "post_setup_worktree": ("worktree_path", "root_workspace_path"),
}


def wrap(flat: Object, event: Event) -> Object:
    """The payload in its envelope."""
    own = event.agent == "windsurf"
    if event.tool is None:
        action, info = _event_info(flat, own=own)
    else:
        action, info = _tool_info(flat, event.tool, own=own)
    return {"agent_action_name": action} | select_keys(flat, *_ENVELOPE_KEYS) | {"tool_info": info}


def _event_info(flat: Object, *, own: bool) -> tuple[str, Object]:
    action = flat["agent_action_name"]
    if action == "post_cascade_response" and "transcript_path" in flat and "response" not in flat:
        action += "_with_transcript"
    keys = [key for key in flat if key not in _ENVELOPE_KEYS and key != "agent_action_name"]
    return action, {key: flat[key] for key in keys if own or key in _EVENT_KEYS.get(action, ())}


def _tool_info(flat: Object, tool: Tool, *, own: bool) -> tuple[str, Object]:
    """There is an event for each kind of tool, and none for searching, the web or sub-agents."""
    kind = _MCP_ACTION if tool.name.startswith("mcp:") else _ACTIONS.get(tool.name)
    if kind is None:
        raise UnknownName(f"Windsurf Cascade has no event for the tool {tool.name}")
    if kind == _MCP_ACTION:
        info = _mcp_info(tool, own=own)
    elif own:
        info = dict(tool.native_input) if type(tool.native_input) is dict else {}
    else:
        info = _argument_info(kind, flat)
    phase = flat["agent_action_name"].partition("_")[0]
    return f"{phase}_{kind}", info | ({} if tool.result is None else _outcome_info(kind, tool.result, own=own))


def _mcp_info(tool: Tool, *, own: bool) -> Object:
    server, _, name = tool.name.removeprefix("mcp:").partition("/")
    if own:
        server, name = tool.mcp_server or "?", tool.native
    server_field = {} if server == "?" else {"mcp_server_name": server}
    return server_field | {"mcp_tool_name": name, "mcp_tool_arguments": tool.native_input if own else tool.input}


def _argument_info(kind: str, flat: Object) -> Object:
    """Another agent's arguments; of several files only the first is reported, as Cascade reports one by one."""
    arguments: Object = flat.get("input") or {}
    if kind == "run_command":
        return ({"cwd": flat["cwd"]} if "cwd" in flat else {}) | arguments
    files: Any = arguments.get("files")
    if "file_path" not in arguments and type(files) is list and files and type(files[0]) is dict:
        arguments = {"file_path": files[0].get("path")} | arguments
    return arguments if kind == "read_code" or type(arguments.get("edits")) is list else _edit_info(arguments)


def _edit_info(arguments: Object) -> Object:
    """Edits of a write or patch; a new file replaces an empty text."""
    old, new = arguments.get("old_text"), arguments.get("new_text", arguments.get("content"))
    if new is None and type(patch := arguments.get("patch")) is str:
        old, new = _patch_lines(patch, "-"), _patch_lines(patch, "+")
    other_arguments = {key: value for key, value in arguments.items() if key not in {"old_text", "new_text", "content"}}
    return other_arguments | {"edits": [{"old_string": old or "", "new_string": new or ""}]}


def _patch_lines(patch: str, mark: str) -> str:
    header = mark * 3 + " "  # a file's name in the older form of patches
    lines = [line for line in patch.splitlines() if line.startswith(mark) and not line.startswith(header)]
    return "\n".join(line[1:] for line in lines)


def _outcome_info(kind: str, result: Result, *, own: bool) -> Object:
    """Output where Cascade was seen to send one; only commands have an exit code, and nothing has an error."""
    output = result.output if own else as_text(result.output) or as_text(result.error)
    fields = {_OUTPUT_KEYS[kind]: output} if kind in _OUTPUT_KEYS else {}
    return drop_none(fields | {"exit_code": result.exit_code if kind == "run_command" else None})
