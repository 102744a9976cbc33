"""Cascade's payloads, put together from flat ones: an envelope, and in it what is told of the action."""

from typing import Any

from hookonce.agents._tool import as_text
from hookonce.errors import UnknownName
from hookonce.model import Event, Object, Result, Tool

_HEAD = ("trajectory_id", "execution_id", "timestamp", "model_name")
_MCP = "mcp_tool_use"
_ACTIONS = {"shell": "run_command", "file_read": "read_code", "file_write": "write_code", "file_edit": "write_code"}
_OUTCOMES = {"run_command": "output", "read_code": "content", _MCP: "mcp_result"}
# What another agent's event may tell here, where no tool is involved.
_TELLS = {
    "pre_user_prompt": ("user_prompt",),
    "post_cascade_response": ("response",),
    "post_cascade_response_with_transcript": ("transcript_path",),
    "post_setup_worktree": ("worktree_path", "root_workspace_path"),
}


def wrap(flat: Object, event: Event) -> Object:
    """The payload in its envelope."""
    own = event.agent == "windsurf"
    if event.tool is None:
        action, info = _told(flat, own=own)
    else:
        action, info = _acted(flat, event.tool, own=own)
    return {"agent_action_name": action} | {key: flat[key] for key in _HEAD if key in flat} | {"tool_info": info}


def _told(flat: Object, *, own: bool) -> tuple[str, Object]:
    action = flat["agent_action_name"]
    if action == "post_cascade_response" and "transcript_path" in flat and "response" not in flat:
        action += "_with_transcript"
    keys = [key for key in flat if key not in _HEAD and key != "agent_action_name"]
    return action, {key: flat[key] for key in keys if own or key in _TELLS.get(action, ())}


def _acted(flat: Object, tool: Tool, *, own: bool) -> tuple[str, Object]:
    """There is an event for each kind of tool, and none for searching, the web or sub-agents."""
    kind = _MCP if tool.name.startswith("mcp:") else _ACTIONS.get(tool.name)
    if kind is None:
        raise UnknownName(f"Windsurf Cascade has no event for the tool {tool.name}")
    if kind == _MCP:
        info = _mcp_call(tool, own=own)
    elif own:
        info = dict(tool.native_input) if type(tool.native_input) is dict else {}
    else:
        info = _arguments(kind, flat)
    moment = flat["agent_action_name"].partition("_")[0]
    return f"{moment}_{kind}", info | ({} if tool.result is None else _outcome(kind, tool.result, own=own))


def _mcp_call(tool: Tool, *, own: bool) -> Object:
    server, _, name = tool.name.removeprefix("mcp:").partition("/")
    if own:
        server, name = tool.mcp_server or "?", tool.native
    told = {} if server == "?" else {"mcp_server_name": server}
    return told | {"mcp_tool_name": name, "mcp_tool_arguments": tool.native_input if own else tool.input}


def _arguments(kind: str, flat: Object) -> Object:
    """Another agent's arguments; of several files Cascade would tell one by one, and the first stands for them."""
    given: Object = flat.get("input") or {}
    if kind == "run_command":
        return ({"cwd": flat["cwd"]} if "cwd" in flat else {}) | given
    files: Any = given.get("files")
    if "file_path" not in given and type(files) is list and files and type(files[0]) is dict:
        given = {"file_path": files[0].get("path")} | given
    return given if kind == "read_code" or type(given.get("edits")) is list else _edited(given)


def _edited(given: Object) -> Object:
    """A new file replaces nothing; of a patch, what is taken out and what is put in."""
    old, new = given.get("old_text"), given.get("new_text", given.get("content"))
    if new is None and type(patch := given.get("patch")) is str:
        old, new = _lines(patch, "-"), _lines(patch, "+")
    rest = {key: value for key, value in given.items() if key not in {"old_text", "new_text", "content"}}
    return rest | {"edits": [{"old_string": old or "", "new_string": new or ""}]}


def _lines(patch: str, mark: str) -> str:
    heads = (mark * 3 + " ",)  # a file's name in the older form of patches
    return "\n".join(line[1:] for line in patch.splitlines() if line.startswith(mark) and not line.startswith(heads))


def _outcome(kind: str, result: Result, *, own: bool) -> Object:
    """Output where some event was seen with one; only commands have an exit code, and nothing has an error."""
    output = result.output if own else as_text(result.output) or as_text(result.error)
    told = {} if output is None or kind not in _OUTCOMES else {_OUTCOMES[kind]: output}
    return told | ({"exit_code": result.exit_code} if result.exit_code is not None and kind == "run_command" else {})
