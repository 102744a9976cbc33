"""Agent table, decoder and encoder of Factory Droid: Claude Code's payloads; own tools, modes, MCP names."""

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import (
    DETAILS,
    EVENTS,
    KEYS,
    key_sets,
    mode_table,
    name_table,
    pick,
    tool_names,
)
from hookonce.agents.factory_droid.reply import read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Config, Event, Facts, Object
from hookonce.vocabulary.tools import WRITE_TOOLS

_EXIT_CODE_PATTERN = lazy_pattern(r"\[Process exited with code (-?[0-9]{1,10})\]\s*\Z")
_TASK_PROMPT_PATTERN = lazy_pattern(r"\A# Task Tool Invocation\s+Subagent type: (\S+)")


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """Three underscores join server and tool; a model may also use the name that it knows from elsewhere."""
    return tool_calls.split_mcp_name(native, "mcp__", "__") or tool_calls.split_mcp_name(native, "", "___")


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    """A sub-agent has a session of its own, which opens with a prompt that its parent wrote."""
    prompt = facts.get("prompt")
    if type(prompt) is str and (match := _TASK_PROMPT_PATTERN.match(prompt)):
        facts["subagent"], facts["subagent_type"] = facts.get("session"), match[1]
        facts["actor"] = "ai_agent"


def _wrap(flat: Object, event: Event) -> Object:
    """Output is always text here, and a command's text ends with its exit code."""
    if event.type == "session_end" and "elapsed_time" in flat:
        flat["session_duration_ms"] = flat.pop("elapsed_time")
    tool = event.tool
    if tool is None or event.agent == AGENT.name:
        return flat
    arguments = flat.get("tool_input")
    if type(arguments) is dict:
        flat["tool_name"], flat["tool_input"] = _native_call(tool.name, flat["tool_name"], arguments)
    if tool.result is not None:
        text = tool_calls.result_text(tool.result)
        code = tool.result.exit_code if tool.name == "shell" else None
        flat["tool_response"] = text if code is None else f"{text}\n\n[Process exited with code {code}]"
    return flat


def _native_call(name: str, native: str, arguments: Object) -> tuple[str, Object]:
    """Calls that the tables cannot express: a patch has its own tool, and patterns are a list."""
    if name in WRITE_TOOLS and "patch" in arguments:
        return "ApplyPatch", {"input": arguments["patch"]}
    if native == "Glob" and type(arguments.get("pattern")) is str:
        folder = {"folder": arguments["folder"]} if "folder" in arguments else {}
        return native, {"patterns": arguments["pattern"].split("\n")} | folder
    return native, arguments


AGENT = Agent(
    name="factory-droid",
    title="Factory Droid",
    source="npm package @factory/cli 0.225.2, read; droid 0.215.0, run",
    checked="2026-11-15",
    proof="captured",
    vendor="ai.factory",
    encodes=True,
    events=pick(
        EVENTS,
        "PreToolUse PostToolUse UserPromptSubmit Notification Stop SubagentStop PreCompact SessionStart SessionEnd",
    ),
    tools=tool_names(
        shell="Execute",
        file_read="Read",
        file_write="Create Write",  # the latter is not its own, but models ask for it and the hook hears of it
        file_edit="Edit MultiEdit ApplyPatch",
        search="Grep",
        find="Glob LS",
        web_search="WebSearch",
        web_fetch="FetchUrl",
        agent="Task",
    ),
    arguments={
        "*": {"file_path": "path"},
        "Execute": {"fireAndForget": "background"},
        "file_edit": {"old_str": "old_text", "new_str": "new_text", "change_all": "replace_all"},
        "ApplyPatch": {"input": "patch"},
        "Glob": {"folder": "path"},
        "LS": {"directory_path": "path"},
        "Task": {"subagent_type": "type"},
    },
    keys=pick(
        KEYS, "hook_event_name session_id transcript_path cwd permission_mode prompt tool_name tool_input tool_response"
    )
    | {"calling_session_id": "parent_session"},
    details=pick(
        DETAILS, "message_id stop_hook_active source reason trigger custom_instructions message notification_type"
    )
    | name_table(
        "task_name=task_subject task_result=response task_error=error tool_execution_count=tool_call_count "
        "elapsed_time=duration_ms session_duration_ms=duration_ms message_count estimated_tokens=context_tokens "
        "has_images previous_session_id=previous_session CLAUDE_ENV_FILE=env_file"
    ),
    modes=mode_table("off auto-low auto-medium auto-high", plan="spec"),
    env_markers=("FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"),
    variables={"FACTORY_PROJECT_DIR": "project", "DROID_PROJECT_DIR": "project"} | {"CLAUDE_PROJECT_DIR": "project"},
    home=".factory",
    transcripts=(".factory/sessions", ".jsonl", {}),
    signature_keys=key_sets(
        "hook_event_name CLAUDE_ENV_FILE",
        "message_id has_images",
        "tool_execution_count elapsed_time",
        "hook_event_name session_duration_ms",
        "hook_event_name task_name stop_hook_active",
    ),
    permission_modes=frozenset({"off", "spec", "auto-low", "auto-medium", "auto-high"}),
    quirks=(
        "The first hook that names a permissionDecision decides; a later deny in JSON is never read, exit 2 is.",
        "ask changes nothing: in the auto modes the tool simply runs.",
        "A tool that fails sends no PostToolUse, and no call carries an id.",
        "UserPromptSubmit stays silent for the prompt of `droid exec`, yet comes for each sub-agent's orders.",
        "SessionEnd may come twice, the second time with empty stdin.",
        "A hooks.json, even an empty one, hides the hooks of the settings file beside it.",
        "Every plain field of the payload is also an environment variable of the hook, the prompt included.",
    ),
    refine=_refine,
    shape_readers={"ApplyPatch": tool_calls.shape_patch, "Glob": tool_calls.shape_list("patterns", "pattern")},
    mcp=_mcp,
    mcp_name="{}___{}".format,
    result=tool_calls.shell_result_reader(_EXIT_CODE_PATTERN),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        # A hooks.json beside a settings file keeps droid from looking for hooks in the latter.
        override_files={"user": "~/.factory/hooks.json", "project": ".factory/hooks.json"},
        files={
            "user": "~/.factory/settings.json",
            "project": ".factory/settings.json",
            "local": ".factory/settings.local.json",
        },
        reads={
            "user": ("~/.factory/hooks.json", "~/.factory/hooks/hooks.json", "~/.factory/settings.local.json"),
            "project": (".factory/hooks.json", ".factory/hooks/hooks.json"),
        },
        subjects={
            "SessionStart": ("source", "pattern"),
        },
        programs=("droid",),
        render=lazy_function("factory_droid.config", "render"),
        parse=lazy_function("factory_droid.config", "parse"),
        points={
            "PreToolUse": point("prevent rewrite allow stop", ask="ignored", rewrite="merge"),
            "PostToolUse": point("context stop message"),
            "UserPromptSubmit": point("prevent rewrite context", rewrite="fields"),  # the prompt is the only one
            "SessionStart": point("context"),
            "Stop": point("retry stop"),
            "PreCompact": point("prevent"),
        },
        capabilities=frozenset({"structured_output", "input_rewrite"}),
        matching="one name, else a pattern, unanchored",
        timeout=60,
        handlers={"command": {"type": "type", "command": "command", "timeout": "timeout"}},
        ambiguous={"ApplyPatch": ["file_write", "file_edit"]},
        excluded_tools=frozenset({"Write"}),
        switches=(
            ("~/.factory/settings.json", ("hooks", "hooksDisabled"), True),
            (".factory/settings.json", ("hooks", "hooksDisabled"), True),
            ("~/.factory/hooks.json", ("hooksDisabled",), True),
            (".factory/hooks.json", ("hooksDisabled",), True),
        ),
        trust="Trust the folder when droid asks at its start; `droid exec` runs hooks without asking.",
    ),
)
