"""Agent table, decoder and encoder of Copilot in VS Code; its common keys are read in camelCase and in snake_case."""

from functools import partial

from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, KEYS, key_sets, name_table, pick, tool_names
from hookonce.agents.copilot_cli.config import EntryKeys, parse, render
from hookonce.agents.vs_code_copilot.reply import read_reply, reply
from hookonce.base.jsontext import drop_none
from hookonce.model import Agent, Config, Event, Facts, Object

_TRANSCRIPT_FOLDER = "GitHub.copilot-chat"
_SETTINGS_FILES = ("~/.config/Code/User/settings.json", ".vscode/settings.json")
# Copilot CLI's keys are read too, and where both stand the system's own is taken.
_SPELLING = EntryKeys(
    systems={"windows": ("windows", "powershell"), "linux": ("linux", "bash"), "darwin": ("osx", "bash")},
    timeouts=("timeout", "timeoutSec"),
    overrides="windows/linux/osx",
)


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """`mcp_server_tool`; the server's part is cut and cleaned, so a name with more underscores is ambiguous."""
    if not native.startswith("mcp_"):
        return None
    server, _, tool = native[4:].partition("_")
    return (server, tool) if server and tool and "_" not in tool else ("?", native)


def _shape_replacements(name: str, arguments: Object) -> tuple[str, Object]:
    replacements = arguments.get("replacements")
    steps = replacements if type(replacements) is list else []
    step_paths = [step["filePath"] for step in steps if type(step) is dict and type(step.get("filePath")) is str]
    paths = list(dict.fromkeys(step_paths))
    if not paths:
        return name, arguments
    file_arguments = arguments | {"files": [{"path": path, "operation": "update"} for path in paths]}
    return name, file_arguments | {"path": paths[0]} if len(paths) == 1 else file_arguments


def _recognise(payload: Object) -> str | None:
    """In snake_case it differs from Copilot CLI by its call ids, and from Qwen Code by having no permission mode."""
    if type(payload.get("hookEventName")) is str and "sessionId" in payload:
        return str(payload["hookEventName"])
    event_name, timestamp = payload.get("hook_event_name"), payload.get("timestamp")
    is_named = type(event_name) is str and event_name in AGENT.events
    if not is_named or type(timestamp) is not str or "permission_mode" in payload:
        return None
    if "transcript_path" in payload:
        return event_name if _TRANSCRIPT_FOLDER in str(payload["transcript_path"]) else None
    return event_name if "tool_use_id" in payload else None


def _wrap(flat: Object, event: Event) -> Object:
    """Common keys in both spellings, for hooks were written for either; a tool's result is a text."""
    flat |= drop_none({"hook_event_name": flat["hookEventName"], "session_id": flat.get("sessionId")})
    tool = event.tool
    if tool is not None and event.agent != AGENT.name:
        if tool.result is not None:
            flat["tool_response"] = tool_calls.result_text(tool.result)
        if tool.name == "web_fetch" and type(url := tool.input.get("url")) is str:
            flat["tool_input"] = {"urls": url.splitlines(), "query": tool.input.get("prompt", "")}
    return flat


AGENT = Agent(
    name="vs-code-copilot",
    title="VS Code Copilot",
    source="Visual Studio Code's hooks documentation of 2026-06 and 2026-07, microsoft/vscode-copilot-chat",
    checked="2026-11-15",
    proof="documented",
    vendor="com.microsoft",
    encodes=True,
    events=pick(
        EVENTS, "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact SubagentStart SubagentStop Stop"
    ),
    tools=tool_names(
        shell="run_in_terminal",
        file_read="read_file",
        file_write="create_file",
        file_edit="replace_string_in_file multi_replace_string_in_file insert_edit_into_file "
        "edit_notebook_file apply_patch",
        search="grep_search semantic_search",
        find="file_search list_dir",
        web_fetch="fetch_webpage",
        agent="runSubagent",
    ),
    arguments={
        "*": {"filePath": "path"},
        "shell": {"explanation": "description", "isBackground": "background"},
        "replace_string_in_file": {"oldString": "old_text", "newString": "new_text"},
        "insert_edit_into_file": {"code": "new_text"},
        "edit_notebook_file": {"newCode": "new_text"},
        "apply_patch": {"input": "patch"},
        "search": {"query": "pattern"},
        "find": {"query": "pattern"},
        "web_fetch": {"query": "prompt"},
        "agent": {"agentName": "type"},
    },
    keys={"hookEventName": "event", "sessionId": "session", "timestamp": "time"}
    | pick(
        KEYS,
        "hook_event_name session_id transcript_path cwd model prompt tool_name tool_input tool_response "
        "tool_use_id agent_id agent_type",
    ),
    details=pick(DETAILS, "source trigger custom_instructions stop_hook_active") | name_table("initial_prompt"),
    home=_TRANSCRIPT_FOLDER,
    signature_keys=key_sets("hookEventName sessionId"),
    quirks=(
        "Matchers are read and then ignored: every hook of an event runs for every tool.",
        "A block on Stop is nested in hookSpecificOutput, on SubagentStop it stands at the top level.",
        "There is no event for a session's end, a refused call or a failed tool.",
        "Arguments are in camelCase (filePath), and the tool names are neither Copilot CLI's nor Claude Code's.",
        "It runs the hooks of ~/.claude/settings.json and ~/.copilot/hooks too.",
    ),
    shape_readers={
        "apply_patch": tool_calls.shape_patch,
        "fetch_webpage": tool_calls.shape_list("urls", "url"),
        "multi_replace_string_in_file": _shape_replacements,
    },
    mcp=_mcp,
    mcp_name="mcp_{}_{}".format,
    recognise=_recognise,
    recognise_keys=key_sets("hookEventName sessionId", "hook_event_name timestamp"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        # All folders that it reads by default belong to Copilot CLI or to Claude Code: a name of its own keeps
        # this file apart from theirs, and `borrows` tells of the others.
        files={"user": "~/.copilot/hooks/hookonce.vscode.json", "project": ".github/hooks/hookonce.vscode.json"},
        render=partial(render, _SPELLING),
        parse=partial(parse, _SPELLING),
        points={
            "PreToolUse": point("prevent allow rewrite context message", ask="native"),
            "PostToolUse": point("stop context message"),
            "UserPromptSubmit": point("prevent message"),
            "SessionStart": point("context message"),
            "SubagentStart": point("context message"),
            "SubagentStop": point("retry stop message"),
            "Stop": point("retry stop message"),
        },
        programs=("code", "code-insiders"),
        borrows=("copilot-cli", "claude-code"),
        capabilities=frozenset({"structured_output", "input_rewrite", "platform_commands"})
        | {"custom_env", "configurable_cwd"},
        matching="ignored",
        timeout=30,
        handlers={
            "command": {"type": "type", "command": "command", "platform": _SPELLING.overrides}
            | {"cwd": "cwd", "env": "env", "timeout": "timeout"},
        },
        ambiguous={"apply_patch": ["file_write", "file_edit"]},
        switches=(
            *((file, ("chat.useHooks",), False) for file in _SETTINGS_FILES),
            (_SETTINGS_FILES[0], ("chat.hookFilesLocations", "~/.copilot/hooks"), False),
            (_SETTINGS_FILES[1], ("chat.hookFilesLocations", ".github/hooks"), False),
        ),
        trust="Trust the workspace; an organisation may have forbidden hooks.",
    ),
)
