"""Copilot in Visual Studio Code, the harness that runs in the editor's extension host.

The documentation spells the common keys in camelCase, the extension writes them in snake_case: both are read.
"""

from hookonce.agents._family import DETAILS, EVENTS, KEYS, pick
from hookonce.agents._patch import shape as patch_shape
from hookonce.model import Agent, Facts, Object

_STORAGE = "GitHub.copilot-chat"


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """`mcp_server_tool`; the server's part is cut and mangled, so more than one joint cannot be told apart."""
    if not native.startswith("mcp_"):
        return None
    server, _, tool = native[4:].partition("_")
    return (server, tool) if server and tool and "_" not in tool else ("?", native)


def _pages(name: str, arguments: Object) -> tuple[str, Object]:
    """A fetch of several pages."""
    urls = arguments.get("urls")
    if type(urls) is not list or not all(type(url) is str for url in urls):
        return name, arguments
    return name, arguments | {"url": "\n".join(urls)}


def _replacements(name: str, arguments: Object) -> tuple[str, Object]:
    """Several replacements in one call, perhaps all of them in one file."""
    given = arguments.get("replacements")
    steps = given if type(given) is list else []
    found = [step["filePath"] for step in steps if type(step) is dict and type(step.get("filePath")) is str]
    paths = list(dict.fromkeys(found))
    if not paths:
        return name, arguments
    shaped = arguments | {"files": [{"path": path, "operation": "update"} for path in paths]}
    return name, shaped | {"path": paths[0]} if len(paths) == 1 else shaped


def _recognise(payload: Object) -> str | None:
    """In snake_case it differs from Copilot CLI by its call ids, and from Qwen Code by having no permission mode."""
    if type(payload.get("hookEventName")) is str and "sessionId" in payload:
        return str(payload["hookEventName"])
    named, stamp = payload.get("hook_event_name"), payload.get("timestamp")
    if type(named) is not str or type(stamp) is not str or named not in AGENT.events or "permission_mode" in payload:
        return None
    if "transcript_path" in payload:
        return named if _STORAGE in str(payload["transcript_path"]) else None
    return named if "tool_use_id" in payload else None


AGENT = Agent(
    name="vs-code-copilot",
    title="VS Code Copilot",
    source="Visual Studio Code's hooks documentation of 2026-06 and 2026-07, microsoft/vscode-copilot-chat",
    checked="2026-11-15",
    proof="documented",
    vendor="com.microsoft",
    events=pick(
        EVENTS,
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PreCompact",
        "SubagentStart",
        "SubagentStop",
        "Stop",
    ),
    tools={
        "run_in_terminal": "shell",
        "read_file": "file_read",
        "create_file": "file_write",
        "replace_string_in_file": "file_edit",
        "multi_replace_string_in_file": "file_edit",
        "insert_edit_into_file": "file_edit",
        "edit_notebook_file": "file_edit",
        "apply_patch": "file_edit",
        "grep_search": "search",
        "semantic_search": "search",
        "file_search": "find",
        "list_dir": "find",
        "fetch_webpage": "web_fetch",
        "runSubagent": "agent",
    },
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
        "hook_event_name",
        "session_id",
        "transcript_path",
        "cwd",
        "model",
        "prompt",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
        "agent_id",
        "agent_type",
    ),
    details=pick(DETAILS, "source", "trigger", "custom_instructions", "stop_hook_active")
    | {"initial_prompt": "initial_prompt"},
    home=_STORAGE,
    telltales=(frozenset({"hookEventName", "sessionId"}),),
    quirks=(
        "Matchers are read and then ignored: every hook of an event runs for every tool.",
        "A block on Stop is nested in hookSpecificOutput, on SubagentStop it stands at the top level.",
        "There is no event for a session's end, a refused call or a failed tool.",
        "Arguments are in camelCase (filePath), and the tool names are neither Copilot CLI's nor Claude Code's.",
        "It runs the hooks of ~/.claude/settings.json and ~/.copilot/hooks too.",
    ),
    shapes={
        "apply_patch": patch_shape,
        "fetch_webpage": _pages,
        "multi_replace_string_in_file": _replacements,
    },
    mcp=_mcp,
    mcp_name="mcp_{}_{}".format,
    recognise=_recognise,
)
