"""Agent table and decoder of Windsurf, whose agent is called Cascade: today the older half of Devin Desktop."""

from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, key_sets, name_table, pick
from hookonce.agents.windsurf.config import EVENT_MATCHERS, EVENT_PREFIXES, parse, render
from hookonce.agents.windsurf.encode import wrap
from hookonce.agents.windsurf.reply import read_reply, reply
from hookonce.model import Agent, Config, Facts, Object, Result

# What `tool_info` tells of the outcome; everything else in it is an argument.
_OUTCOME_KEYS = frozenset({"content", "output", "exit_code"})


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
    wrap=wrap,
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
