"""Agent table and decoder of Google Antigravity: payloads name neither their event nor a working directory."""

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode.claude_vocabulary import EVENTS, key_sets, name_table, pick, tool_names
from hookonce.agents._decode.tool_calls import as_object, line_span
from hookonce.agents.antigravity.reply import read_reply, reply
from hookonce.model import Agent, Config, Event, Facts, Object

MAX_TIMEOUT_S = 2**31 - 1  # seconds; a larger number, or a broken one, costs the whole file
MCP_GATEWAY_TOOL = "call_mcp_tool"  # every MCP call goes through this one tool
_SYNTHETIC_KEYS = ("event", "cwd", "tool", "input", "call_id")  # by `_unwrap`; no payload has them


def _unwrap(payload: Object, event_hint: str | None) -> Object:
    flat = dict(payload)
    paths, call, step = payload.get("workspacePaths"), payload.get("toolCall"), payload.get("stepIdx")
    if type(paths) is list and paths:
        flat["cwd"] = paths[0]
    if type(call) is dict:
        flat |= {"tool": call.get("name"), "input": call.get("args"), "call_id": step}
    if payload.get("error") == "":
        del flat["error"]
    flat["event"] = (_recognise(payload) or None) if event_hint is None else event_hint
    return flat


def _recognise(payload: Object) -> str | None:
    """Stop and a tool's end are recognisable by their keys; before and after of a tool or model call often are not."""
    if type(payload.get("conversationId")) is not str:
        return None
    if "terminationReason" in payload or "fullyIdle" in payload:
        return "Stop"
    if "stepIdx" in payload and ("error" in payload or "toolCall" not in payload):
        return "PostToolUse"
    return "" if "workspacePaths" in payload or "toolCall" in payload or "invocationNum" in payload else None


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    """A turn that failed ends in the same event as one that is complete."""
    if facts["kind"] == "agent_stop" and "error" in facts:
        facts["kind"] = "error_occurred"


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    arguments = as_object(facts.get("input"))
    server, tool = arguments.get("ServerName"), arguments.get("ToolName")
    if native != MCP_GATEWAY_TOOL or type(server) is not str or type(tool) is not str:
        return None
    # Some builds write strings with their quotation marks.
    return server.strip('"') or "?", tool.strip('"')


def _shape_view(name: str, args: Object) -> tuple[str, Object]:
    first = args.get("offset")
    return name, args | line_span(first, args.get("EndLine")) if type(first) is int else args


def _wrap(flat: Object, event: Event) -> Object:
    """The payload names neither its event nor, in one key, its working directory."""
    payload = {key: value for key, value in flat.items() if key not in _SYNTHETIC_KEYS}
    payload.setdefault("workspacePaths", [flat["cwd"]] if "cwd" in flat else [])
    if event.tool is not None:
        arguments, server = flat.get("input"), event.tool.mcp_server
        if event.agent != AGENT.name and server is not None:
            arguments = {"ServerName": server, "ToolName": event.tool.name.partition("/")[2], "Arguments": arguments}
        payload["toolCall"] = {"name": flat["tool"], "args": arguments}
    if event.type == "agent_stop" and event.agent != AGENT.name:
        payload = {"terminationReason": "NO_TOOL_CALL", "fullyIdle": True} | payload
    return payload


AGENT = Agent(
    name="antigravity",
    title="Google Antigravity",
    source="antigravity.google hooks page as of 2026-10-04, field reports on agy 1.0.1 to 1.3.3",
    checked="2026-11-15",
    proof="documented",
    vendor="com.google",
    events=pick(EVENTS, "PreToolUse PostToolUse Stop SessionStart")
    | {"PreInvocation": "before_model", "PostInvocation": "after_model"},
    tools=tool_names(
        shell="run_command",
        file_read="view_file",
        file_write="write_to_file",
        file_edit="replace_file_content multi_replace_file_content",
        search="grep_search",
        find="find_by_name list_dir",
        web_search="search_web",
        web_fetch="read_url_content",
        agent="browser_subagent invoke_subagent",
    ),
    arguments={
        "*": {"TargetFile": "path", "AbsolutePath": "path"},
        "shell": {"CommandLine": "command"},
        "file_read": {"StartLine": "offset"},
        "file_write": {"TargetFile": "path", "CodeContent": "content"},
        "file_edit": name_table(
            "TargetFile=path TargetContent=old_text ReplacementContent=new_text AllowMultiple=replace_all"
        ),
        "search": {"Query": "pattern", "SearchPath": "path"},
        "find_by_name": {"Pattern": "pattern", "SearchDirectory": "path"},
        "find": {"Pattern": "pattern", "SearchDirectory": "path", "DirectoryPath": "path"},
        "web_search": {"Query": "query"},
        "web_fetch": {"Url": "url"},
        "agent": {"Task": "prompt", "TaskName": "description"},
    },
    # The last five are put there by `_unwrap`.
    keys=name_table(
        "conversationId=session transcriptPath=transcript modelName=model error event cwd tool input call_id"
    ),
    details=name_table(
        "workspacePaths=workspace_roots artifactDirectoryPath=artifact_directory stepIdx=step "
        "invocationNum=invocation initialNumSteps=initial_steps executionNum=execution "
        "terminationReason=stop_reason fullyIdle=fully_idle"
    ),
    home=".gemini/antigravity-cli",
    script_words=(".toolCall",),
    signature_keys=key_sets("conversationId workspacePaths", "conversationId toolCall", "conversationId invocationNum"),
    quirks=(
        "No payload contains its event: the event must be in the hook's command line.",
        "PostToolUse never carries the tool's result, and the IDE leaves out the tool as well.",
        "An allow does not skip the user's prompt; to make no decision at PreToolUse, print nothing: {} refuses.",
        "Printing nothing passes on 1.0.3 and 1.2.3; one report says it refuses, and only a bare ask suits both.",
        "Refuse by a decision in JSON alone: reports of hooks that fail disagree, some go on, 1.2.3 refused at exit 1.",
        "SessionStart is in no documentation; it comes with the first model call of a new conversation.",
        "One broken entry, even a timeout that is not a whole number, and the whole file is silently ignored.",
        "Files of older versions are still read, so one hook can run twice.",
        "Stop with fullyIdle false means that work goes on in the background.",
        "Every MCP call is the one tool call_mcp_tool: match on its ServerName argument.",
    ),
    unwrap=_unwrap,
    refine=_refine,
    shape_readers={
        MCP_GATEWAY_TOOL: lambda name, args: (
            name,
            as_object(args.get("Arguments")) if name.startswith("mcp:") else args,
        ),
        "view_file": _shape_view,
    },
    mcp=_mcp,
    mcp_name=lambda *_: MCP_GATEWAY_TOOL,
    recognise=_recognise,
    recognise_keys=key_sets("conversationId"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    encodes=True,
    config=Config(
        files={"user": "~/.gemini/config/hooks.json", "project": ".agents/hooks.json"},
        reads={
            "user": ("~/.gemini/config/plugins/*/hooks.json", "~/.gemini/hooks.json"),
            "project": (
                ".agent/hooks.json",
                "_agents/hooks.json",
                "_agent/hooks.json",
                ".agents/plugins/*/hooks.json",
                ".antigravitycli/hooks.json",
            ),
        },
        render=lazy_function("antigravity.config", "render"),
        parse=lazy_function("antigravity.config", "parse"),
        points={
            "PreToolUse": point("prevent", ask="denies_headless"),
            "PreInvocation": point("context"),
            "PostInvocation": point("retry context"),
            "SessionStart": point("context"),
            "Stop": point("retry"),
        },
        programs=("agy", "antigravity"),
        capabilities=frozenset({"structured_output"}),
        exit_code_refuses=False,
        matching="pattern",
        timeout=30,
        longest=MAX_TIMEOUT_S,
        handlers={
            "command": {"command": "command", "timeout": "timeout"},
            "prompt": {"type": "type", "prompt": "prompt", "model": "model", "timeout": "timeout"},
        },
    ),
)
