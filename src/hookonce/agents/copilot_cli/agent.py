"""Agent table, decoder and encoder of GitHub Copilot CLI, and of the cloud agent, which sends the same payloads.

An event spelt `preToolUse` in the configuration gets camelCase payloads that rarely name their event; one spelt
`PreToolUse` gets snake_case payloads with Claude Code's tool names and Copilot's own arguments.
"""

from functools import partial

from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, HTTP_KEYS, key_sets, name_table, pick, tool_names
from hookonce.agents._decode.encoder import to_epoch_ms
from hookonce.agents.copilot_cli.config import EntryKeys, parse, render
from hookonce.agents.copilot_cli.reply import camel_event, read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Config, Event, Facts, Object, Result, Tool
from hookonce.vocabulary.events import TOOL_END_EVENTS

# The last line of a command's output; earlier versions wrote the shorter one.
_EXIT_CODE_PATTERN = lazy_pattern(r"<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,10})>\s*\Z")
_EXIT_CODE_TEMPLATE = "{}\n<shellId: 0 completed with exit code {}>"
_TRANSCRIPT_HOME = lazy_pattern(r"[/\\]\.copilot[/\\]")
_CAMEL_BOUNDARY = lazy_pattern(r"(?<=[a-z])[A-Z]")
_MCP_CALL = "vendor.copilot-cli.preMcpToolCall"
# These are told from the parent's session, everything else of a sub-agent from its own.
_PARENT_SESSION_EVENTS = frozenset({"permission_request", "subagent_start", "subagent_stop"})
# A camelCase payload is known by the first of these keys that it has.
_EVENT_BY_KEY = name_table(
    "hookName=permissionRequest notification_type=notification transformedPrompt=userPromptTransformed "
    "serverName=preMcpToolCall errorContext=errorOccurred toolResult=postToolUse error=postToolUseFailure "
    "toolName=preToolUse trigger=preCompact response=subagentStop stopReason=agentStop agentName=subagentStart "
    "source=sessionStart reason=sessionEnd prompt=userPromptSubmitted"
)

_CAMEL_EVENTS = name_table(
    "sessionStart=session_start sessionEnd=session_end userPromptSubmitted=before_prompt "
    "userPromptTransformed=prompt_transformed preToolUse=before_tool_execute postToolUse=after_tool_execute "
    "postToolUseFailure=tool_use_failure permissionRequest=permission_request agentStop=agent_stop "
    "subagentStart=subagent_start subagentStop=subagent_stop errorOccurred=error_occurred "
    "preCompact=before_compact notification"
)
# The other spelling of an event, where there is one; it is as mighty, but only some of its payloads change.
_PASCAL_EVENTS = pick(
    EVENTS,
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest Stop "
    "SubagentStart SubagentStop ErrorOccurred PreCompact Notification",
)
_POINTS = {
    "preToolUse": point("prevent allow rewrite context", ask="denies_headless"),
    "permissionRequest": point("prevent allow"),  # reads are never asked about
    "postToolUse": point("prevent context output"),  # a block replaces the result; the tool has run
    "postToolUseFailure": point("context"),
    "userPromptSubmitted": point("prevent rewrite context"),
    "userPromptTransformed": point("rewrite"),
    "sessionStart": point("context"),
    "sessionEnd": point(hard_timeout_s=1),  # 1.4 seconds in a terminal; nobody has seen a fraction accepted
    "agentStop": point("retry"),
    "subagentStart": point("context"),
    "subagentStop": point("retry output"),
    "notification": point("context"),
}
_SPELLING = EntryKeys(
    systems={"windows": ("powershell", "windows"), "linux": ("bash", "linux"), "darwin": ("bash", "osx")},
    timeouts=("timeoutSec", "timeout"),
    overrides="bash/powershell",
    matcher_events=frozenset({"before_tool_execute", "after_tool_execute", "permission_request"}),
    head={"version": 1},
    allows_exec=True,
)


def _to_snake_case(key: str) -> str:
    return _CAMEL_BOUNDARY.sub(lambda match: "_" + match.group().lower(), key)


def _with_snake_case(camel: dict[str, str]) -> dict[str, str]:
    """The table for both spellings; the encoder finds the camelCase keys first."""
    return camel | {_to_snake_case(key): value for key, value in camel.items()}


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    """A sub-agent's session is its own id; events are grouped under the session of its parent."""
    if facts["kind"] == "vendor.copilot-cli.PreMcpToolCall":
        facts["kind"] = _MCP_CALL
    parent = facts.get("subagent_parent")
    if type(parent) is str:
        if facts.get("subagent") == facts.get("session"):
            facts["session"] = parent
        if parent == facts.get("session"):
            del facts["subagent_parent"]
    if "agent_name" in data:
        facts.setdefault("subagent_type", data["agent_name"])


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """`tool` with the server beside it, `server/tool` when asking, else `server-tool`."""
    server_field = facts.get("mcp_server")
    if type(server_field) is str and server_field:
        return server_field, native
    server, separator, tool = native.rpartition("/" if "/" in native else "-")
    if not server or not tool:
        return None
    # Of several dashes the last one divides if the tool's own name is in snake_case; else nobody knows.
    return (server, tool) if separator == "/" or "-" not in server or "_" in tool else ("?", native)


def _shape_editor(name: str, arguments: Object) -> tuple[str, Object]:
    """One tool that reads, creates and edits; its command says which."""
    return {"view": "file_read", "create": "file_write"}.get(str(arguments.get("command")), name), arguments


def _result(facts: Facts, name: str) -> Result:
    """A command that ended with 3 is a success to Copilot; the exit code stands in the text's last line."""
    response = facts.get("output")
    if type(response) is not dict:
        return tool_calls.shell_result(facts, name, _EXIT_CODE_PATTERN, response)
    text = response.get("textResultForLlm", response.get("text_result_for_llm", response))
    result = tool_calls.shell_result(facts, name, _EXIT_CODE_PATTERN, text)
    if response.get("resultType", response.get("result_type", "success")) == "success":
        return result
    error = result.error or tool_calls.as_text(response.get("error"))
    return Result(ok=False, exit_code=result.exit_code, error=error, output=text)


def _recognise(payload: Object) -> str | None:
    timestamp, event_name = payload.get("timestamp"), payload.get("hook_event_name")
    if type(timestamp) is int and type(payload.get("sessionId")) is str:
        return next((event for key, event in _EVENT_BY_KEY.items() if key in payload), "")
    # Gemini and Qwen write the same time, but always say where their transcript is; VS Code numbers its calls.
    is_pascal = type(timestamp) is str and type(event_name) is str
    if not is_pascal or "session_id" not in payload or "tool_use_id" in payload:
        return None
    path = payload.get("transcript_path")
    is_copilot = "transcript_path" not in payload or _TRANSCRIPT_HOME.search(str(path)) is not None
    return event_name if is_copilot and event_name in AGENT.events else None


def _wrap(flat: Object, event: Event) -> Object:
    flat.pop("hookName")
    own = event.agent == AGENT.name
    if "timestamp" in flat:
        flat["timestamp"] = to_epoch_ms(flat["timestamp"])
    if event.tool is not None:
        _wrap_tool(flat, event.type, event.tool, own=own)
    elif type(flat.get("error")) is str:
        flat["error"] = {"message": flat["error"], "name": "Error"}
    _wrap_subagent(flat, event.type)
    if event.type == "notification":
        flat["hook_event_name"] = "Notification"
    elif own and type(event.native) is dict and event.native.keys() >= {"hook_event_name", "session_id"}:
        return _wrap_snake_case(flat, event)
    return flat


def _wrap_subagent(flat: Object, kind: str) -> None:
    subagent_id, session = flat.get("agentId"), flat.get("sessionId")
    if subagent_id is None or session is None:
        return
    if flat.setdefault("parentAgentId", session) == session and kind not in _PARENT_SESSION_EVENTS:
        flat["sessionId"] = subagent_id


def _wrap_tool(flat: Object, kind: str, tool: Tool, *, own: bool) -> None:
    if not own and type(patch := tool.input.get("patch")) is str:
        flat |= {"toolName": "apply_patch", "toolArgs": patch}
    if kind == "permission_request":
        flat |= {"hookName": "permissionRequest", "toolInput": flat.pop("toolArgs", {})}
        if not own and tool.name.startswith("mcp:"):
            flat["toolName"] = tool.name[4:]
    elif kind == _MCP_CALL:
        flat |= {"serverName": tool.mcp_server, "arguments": flat.pop("toolArgs", {})}
    elif kind in TOOL_END_EVENTS:
        flat.pop("toolResult", None)
        if kind == "after_tool_execute":
            flat["toolResult"] = _native_result(tool.result or Result(), tool.name, own=own)


def _native_result(result: Result, name: str, *, own: bool) -> Object:
    text = tool_calls.as_text(result.output) or ""
    if name == "shell" and not own and result.exit_code is not None:
        text = _EXIT_CODE_TEMPLATE.format(text, result.exit_code)
    is_failure = result.ok is False and result.exit_code is None
    return {"resultType": "failure" if is_failure else "success", "textResultForLlm": text}


def _wrap_snake_case(flat: Object, event: Event) -> Object:
    native_keys = {"toolArgs": "tool_input", "response": "last_assistant_message"}
    payload = {native_keys.get(key) or _to_snake_case(key): value for key, value in flat.items()}
    payload["hook_event_name"] = event.native["hook_event_name"]
    if "timestamp" in payload:
        payload["timestamp"] = event.time
    if "tool_result" in payload:
        payload["tool_result"] = {_to_snake_case(key): value for key, value in payload["tool_result"].items()}
    return payload


AGENT = Agent(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    source="npm package @github/copilot 1.0.102, its SDK types and bundled changelog; GitHub's hooks reference",
    checked="2026-11-15",
    proof="captured",
    vendor="com.github",
    encodes=True,
    events=_CAMEL_EVENTS | _PASCAL_EVENTS,
    tools=tool_names(
        shell="bash powershell Bash PowerShell",
        file_read="view Read",
        file_write="create Write",
        file_edit="edit str_replace_editor apply_patch Edit",
        search="grep rg Grep",
        find="glob Glob",
        web_search="web_search WebSearch",
        web_fetch="web_fetch WebFetch",
        agent="task Agent Task",
    ),
    arguments={
        # Only a permission request says file_path; of two native names the last is the one that encode writes.
        "*": {"file_path": "path", "path": "path", "file_text": "content"},
        "file_edit": {"old_str": "old_text", "new_str": "new_text"},
        "apply_patch": {"input": "patch"},
        "Edit": {"old_str": "old_text", "new_str": "new_text", "input": "patch"},
        "agent": {"agent_type": "type"},
    },
    keys=_with_snake_case(
        name_table(
            "hookName=event sessionId=session timestamp=time cwd prompt transcriptPath=transcript toolName=tool "
            "toolArgs=input toolInput=input arguments=input toolResult=output error toolCallId=call_id "
            "serverName=mcp_server agentId=subagent agentType=subagent_type parentAgentId=subagent_parent "
            "hook_event_name=event"
        )
    ),
    details=_with_snake_case(
        name_table(
            "initialPrompt=initial_prompt transformedPrompt=transformed_prompt customInstructions=instructions "
            "stopReason=stop_reason agentName=agent_name agentDisplayName=agent_display_name "
            "agentDescription=agent_description errorContext=error_context "
            "permissionSuggestions=permission_suggestions _meta=meta response recoverable traceparent"
        )
    )
    | pick(DETAILS, "source reason trigger message title notification_type stop_hook_active")
    | {"last_assistant_message": "response"},
    env_markers=("COPILOT_CLI", "COPILOT_PROJECT_DIR", "COPILOT_HOOK_DIR"),
    variables={"COPILOT_PROJECT_DIR": "project"} | {"CLAUDE_PROJECT_DIR": "project"},
    home=".copilot",
    transcripts=(".copilot/session-state", ".jsonl", {"COPILOT_HOME": "session-state"}),
    script_words=("toolArgs", "modifiedArgs", ".toolName"),
    signature_keys=key_sets("sessionId toolName toolArgs", "hookName permissionSuggestions"),
    quirks=(
        "The spelling of the event in the configuration decides about the payload's keys and tool names.",
        "A preToolUse hook that exits with anything but 0 denies the call; one that times out lets it pass.",
        "agentStop goes on only for JSON with decision block; exit code 2 does nothing there.",
        "postToolUse also comes for commands that failed; postToolUseFailure means that the tool did not run.",
        "Hooks run one after the other, and those of .claude/settings.json in the repository run too.",
        "PermissionRequest and SubagentStart send the camelCase payload even when spelt in PascalCase.",
    ),
    refine=_refine,
    shape_readers={
        "apply_patch": tool_calls.shape_patch,
        "Edit": tool_calls.shape_patch,
        "str_replace_editor": _shape_editor,
    },
    mcp=_mcp,
    mcp_name="{}-{}".format,
    result=_result,
    recognise=_recognise,
    recognise_keys=key_sets("timestamp sessionId", "timestamp hook_event_name session_id"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        repairable=True,
        files={
            "user": "~/.copilot/hooks/hookonce.json",
            "project": ".github/hooks/hookonce.json",
            "managed": "/etc/github-copilot/policy.d/hookonce.json",
        },
        reads={
            "user": ("~/.copilot/hooks/*.json", "~/.copilot/settings.json"),
            "project": (".github/hooks/*.json", ".github/copilot/settings.json"),
            "local": (".github/copilot/settings.local.json",),
            "managed": ("/etc/github-copilot/policy.d/*.json",),
        },
        render=partial(render, _SPELLING),
        parse=partial(parse, _SPELLING),
        points=_POINTS | {name: _POINTS[camel] for name in _PASCAL_EVENTS if (camel := camel_event(name)) in _POINTS},
        events=_CAMEL_EVENTS,
        subjects={
            "preCompact": ("trigger", "full"),
            "subagentStart": ("agent_type", "full"),
            "notification": ("notification_type", "full"),
        },
        programs=("copilot",),
        borrows=("claude-code", "vs-code-copilot"),
        capabilities=frozenset({"structured_output", "input_rewrite", "http_handler", "platform_commands"})
        | {"custom_env", "configurable_cwd"},
        matching="a pattern that fits the whole name, or names joined by a bar",
        timeout=30,
        crash="closed",
        handlers={
            "command": {"type": "type", "command": "command", "platform": _SPELLING.overrides}
            | {"cwd": "cwd", "env": "env", "timeout": "timeoutSec"},
            "http": HTTP_KEYS | {"timeout": "timeoutSec"},
        },
        ambiguous={name: ["file_write", "file_edit"] for name in ("str_replace_editor", "apply_patch")},
        switches=(
            ("~/.copilot/settings.json", ("disableAllHooks",), True),
            (".github/copilot/settings.json", ("disableAllHooks",), True),
            (".github/copilot/settings.local.json", ("disableAllHooks",), True),
            ("~/.copilot/hooks/hookonce.json", ("disableAllHooks",), True),
            (".github/hooks/hookonce.json", ("disableAllHooks",), True),
        ),
        trust="Trust the folder when Copilot asks; with -p a project's hooks run only after --trust-folder.",
    ),
)
