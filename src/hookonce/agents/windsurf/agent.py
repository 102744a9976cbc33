"""Agent table, decoder and encoder of Windsurf, whose agent is called Cascade: the older half of Devin Desktop."""

from typing import Any

from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, key_sets, name_table, pick
from hookonce.agents.windsurf.config import EVENT_MATCHERS, EVENT_PREFIXES, parse, render
from hookonce.agents.windsurf.reply import read_reply, reply
from hookonce.base.jsontext import drop_none, select_keys
from hookonce.errors import UnknownName
from hookonce.model import Agent, Config, Event, Facts, Object, Result, Tool

# What `tool_info` tells of the outcome; everything else in it is an argument.
_OUTCOME_KEYS = frozenset({"content", "output", "exit_code"})
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


def _unwrap(payload: Object, event_hint: str | None) -> Object:
    """The details of an action lie in `tool_info`; the action's name is the only name of the tool."""
    info = payload.get("tool_info")
    if type(info) is not dict:
        return payload
    flat = info | payload
    action = payload.get("agent_action_name") or event_hint
    tool = action.partition("_")[2] if type(action) is str else ""
    if tool in AGENT.tools:
        flat["tool"] = tool
        flat["input"] = {key: value for key, value in info.items() if key not in _OUTCOME_KEYS}
    return flat


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    # Elsewhere a worktree is announced before it exists.
    if facts["kind"] == "worktree_create":
        data["phase"] = "after"


def _mcp(native: str, facts: Facts) -> tuple[str, str]:
    """A tool that is none of the three actions belongs to an MCP server."""
    server = facts.get("mcp_server")
    return (server if type(server) is str and server else "?"), native


def _shape_edit(name: str, arguments: Object) -> tuple[str, Object]:
    """Replacing an empty text is writing; a single replacement becomes old_text and new_text."""
    edits = arguments.get("edits")
    if type(edits) is not list or not edits or not all(type(edit) is dict for edit in edits):
        return name, arguments
    if not any(edit.get("old_string") for edit in edits):
        return "file_write", arguments | ({"content": edits[0].get("new_string")} if len(edits) == 1 else {})
    if len(edits) == 1:
        return name, arguments | {"old_text": edits[0]["old_string"], "new_text": edits[0].get("new_string")}
    return name, arguments


def _result(facts: Facts, name: str) -> Result:
    code = facts.get("exit_code")
    if name != "shell" or type(code) is not int:
        return tool_calls.plain_result(facts)
    return Result(ok=code == 0, exit_code=code, output=facts.get("output"))


def _wrap(flat: Object, event: Event) -> Object:
    own = event.agent == "windsurf"
    if event.tool is not None:
        action, info = _tool_info(flat, event.tool, own=own)
    else:
        action = flat["agent_action_name"]
        if action == "post_cascade_response" and "transcript_path" in flat and "response" not in flat:
            action += "_with_transcript"
        keys = [key for key in flat if key not in _ENVELOPE_KEYS and key != "agent_action_name"]
        info = {key: flat[key] for key in keys if own or key in _EVENT_KEYS.get(action, ())}
    return {"agent_action_name": action} | select_keys(flat, *_ENVELOPE_KEYS) | {"tool_info": info}


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
    output = result.output if own else tool_calls.as_text(result.output) or tool_calls.as_text(result.error)
    fields = {_OUTPUT_KEYS[kind]: output} if kind in _OUTPUT_KEYS else {}
    return drop_none(fields | {"exit_code": result.exit_code if kind == "run_command" else None})


AGENT = Agent(
    name="windsurf",
    title="Windsurf Cascade",
    source="docs.windsurf.com/windsurf/cascade/hooks of 2026-09-19",
    checked="2026-11-15",
    proof="documented",
    vendor="com.windsurf",
    encodes=True,
    events={prefix + action: kind for kind, prefix in EVENT_PREFIXES.items() for action in EVENT_MATCHERS}
    | {
        "pre_user_prompt": "before_prompt",
        "post_cascade_response": "agent_stop",
        "post_cascade_response_with_transcript": "agent_stop",
        "post_setup_worktree": "worktree_create",
    },
    tools={"run_command": "shell", "read_code": "file_read", "write_code": "file_edit"},
    arguments={"*": {"file_path": "path"}, "shell": {"command_line": "command"}},
    keys=name_table(
        "agent_action_name=event trajectory_id=session execution_id=turn timestamp=time model_name=model "
        "user_prompt=prompt transcript_path=transcript cwd tool mcp_tool_name=tool input mcp_tool_arguments=input "
        "mcp_server_name=mcp_server mcp_result=output content=output output exit_code"
    ),
    details=pick(DETAILS, "worktree_path") | {"response": "response", "root_workspace_path": "root_workspace"},
    home=".windsurf",
    script_words=("agent_action_name", ".tool_info"),
    signature_keys=key_sets("agent_action_name"),
    quirks=(
        "Only the exit code counts: 2 on a pre_ event blocks and shows stderr to the agent, all else lets it pass.",
        "Nothing printed is ever parsed, so a hook can neither ask nor rewrite nor add context.",
        "Entries have no matcher and no timeout: every hook of an event runs, and must sort out tools by itself.",
        "Searching, web and sub-agent calls have no event, nor have the begin and the end of a session.",
        "post_run_command comes without output and exit code.",
        "A read may name a directory, when it is read as a whole.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    shape_readers={"write_code": _shape_edit},
    mcp=_mcp,
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        files={
            "user": "~/.codeium/windsurf/hooks.json",
            "project": ".windsurf/hooks.json",
            "managed": "/etc/windsurf/hooks.json",
        },
        reads={
            "user": ("~/.codeium/hooks.json",),  # the plugin for JetBrains
            "managed": ("/Library/Application Support/Windsurf/hooks.json",),
        },
        programs=("windsurf",),
        render=render,
        parse=parse,
        points={f"pre_{action}": point("prevent") for action in (*EVENT_MATCHERS, "user_prompt")}
        | {
            "post_cascade_response_with_transcript": point(
                install="opt-in", why="comes with post_cascade_response and makes Cascade keep transcripts on disk"
            ),
        },
        capabilities=frozenset({"configurable_cwd", "platform_commands"}),
        matching="none, but an event for each kind of tool",
        handlers={"command": {"command": "command", "cwd": "working_directory"}},
    ),
)
