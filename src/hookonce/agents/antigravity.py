"""Google Antigravity, IDE and command line: payloads that name neither their event nor a working directory."""

from typing import Any

from hookonce.agents._family import EVENTS, pick
from hookonce.agents._tool import as_object
from hookonce.model import Agent, Facts, Object

_GATEWAY = "call_mcp_tool"  # every MCP call goes through this one tool


def _unwrap(payload: Object, told: str | None) -> Object:
    flat = dict(payload)
    paths, call, step = payload.get("workspacePaths"), payload.get("toolCall"), payload.get("stepIdx")
    if type(paths) is list and paths:
        flat["cwd"] = paths[0]
    if type(call) is dict:
        flat |= {"tool": call.get("name"), "input": call.get("args"), "call_id": step}
    if payload.get("error") == "":
        del flat["error"]
    if told is None:
        flat["event"] = _recognise(payload) or None
    return flat


def _recognise(payload: Object) -> str | None:
    """Stop and a tool's end can be told by their fields; a tool's or a model call's two sides often cannot."""
    if type(payload.get("conversationId")) is not str:
        return None
    if "terminationReason" in payload or "fullyIdle" in payload:
        return "Stop"
    if "stepIdx" in payload and ("error" in payload or "toolCall" not in payload):
        return "PostToolUse"
    return "" if "workspacePaths" in payload or "toolCall" in payload or "invocationNum" in payload else None


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    """A turn that broke off ends in the same event as one that is done."""
    if facts["kind"] == "agent_stop" and "error" in facts:
        facts["kind"] = "error_occurred"


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    given = as_object(facts.get("input"))
    server, tool = given.get("ServerName"), given.get("ToolName")
    if native != _GATEWAY or type(server) is not str or type(tool) is not str:
        return None
    # Some builds write strings with their quotation marks.
    return server.strip('"') or "?", tool.strip('"')


def _gateway(name: str, args: Object) -> tuple[str, Object]:
    return name, (as_object(args.get("Arguments")) if name.startswith("mcp:") else args)


def _view(name: str, args: Object) -> tuple[str, Object]:
    first: Any = args.get("offset")
    last: Any = args.get("EndLine")
    if type(first) is int and type(last) is int and last >= first:
        args = args | {"limit": last - first + 1}
    return name, args


AGENT = Agent(
    name="antigravity",
    title="Google Antigravity",
    source="antigravity.google hooks page as of 2026-10-04, field reports on agy 1.0.1 to 1.1.3",
    checked="2026-11-15",
    proof="documented",
    vendor="com.google",
    events=pick(EVENTS, "PreToolUse", "PostToolUse", "Stop")
    | {"PreInvocation": "before_model", "PostInvocation": "after_model"},
    tools={
        "run_command": "shell",
        "view_file": "file_read",
        "write_to_file": "file_write",
        "replace_file_content": "file_edit",
        "multi_replace_file_content": "file_edit",
        "grep_search": "search",
        "find_by_name": "find",
        "list_dir": "find",
        "search_web": "web_search",
        "read_url_content": "web_fetch",
        "browser_subagent": "agent",
        "invoke_subagent": "agent",
    },
    arguments={
        "*": {"TargetFile": "path", "AbsolutePath": "path"},
        "shell": {"CommandLine": "command"},
        "file_read": {"StartLine": "offset"},
        "file_write": {"CodeContent": "content"},
        "file_edit": {"TargetContent": "old_text", "ReplacementContent": "new_text", "AllowMultiple": "replace_all"},
        "search": {"Query": "pattern", "SearchPath": "path"},
        "find": {"Pattern": "pattern", "SearchDirectory": "path", "DirectoryPath": "path"},
        "web_search": {"Query": "query"},
        "web_fetch": {"Url": "url"},
        "agent": {"Task": "prompt", "TaskName": "description"},
    },
    # The last five are put there by `_unwrap`.
    keys={
        "conversationId": "session",
        "transcriptPath": "transcript",
        "modelName": "model",
        "error": "error",
        "event": "event",
        "cwd": "cwd",
        "tool": "tool",
        "input": "input",
        "call_id": "call_id",
    },
    details={
        "workspacePaths": "workspace_roots",
        "artifactDirectoryPath": "artifact_directory",
        "stepIdx": "step",
        "invocationNum": "invocation",
        "initialNumSteps": "initial_steps",
        "executionNum": "execution",
        "terminationReason": "stop_reason",
        "fullyIdle": "fully_idle",
    },
    home="antigravity-cli",
    telltales=(
        frozenset({"conversationId", "workspacePaths"}),
        frozenset({"conversationId", "toolCall"}),
        frozenset({"conversationId", "invocationNum"}),
    ),
    quirks=(
        "No payload says which event it is: the event must stand in the hook's command line.",
        "PostToolUse never carries the tool's result, and the IDE leaves out the tool as well.",
        "An allow does not spare the user the prompt; a missing decision makes it appear.",
        "Files of older versions are still read, so one hook can run twice.",
        "Stop with fullyIdle false means that work goes on in the background.",
        "Every MCP call is the one tool call_mcp_tool: match on its ServerName argument.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    shapes={_GATEWAY: _gateway, "view_file": _view},
    mcp=_mcp,
    recognise=_recognise,
)
