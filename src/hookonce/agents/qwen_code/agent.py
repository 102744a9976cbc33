"""Agent table, decoder and encoder of Qwen Code: Claude Code's events, Gemini CLI's tools and results."""

from typing import Any

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import (
    COMMAND_KEYS,
    DETAILS,
    EVENTS,
    HTTP_KEYS,
    KEYS,
    PROMPT_KEYS,
    TIMEOUT_KEYS,
    key_sets,
    mode_table,
    name_table,
    pick,
    tool_names,
)
from hookonce.agents.qwen_code.reply import read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, CompactionRule, Config, Event, Facts, Object, Result, Tool, Usage

# How every finished command's report ends; a hint about long runs may follow a blank line.
_REPORT_END_PATTERN = lazy_pattern(
    r"\nExit Code: (-?\d{1,10}|\(none\))\nSignal: (\w+|\(none\))\nProcess Group PGID: (?:\d+|\(none\))(?:\Z|\n\n)"
)
_REPORT_TEMPLATE = (
    "Command: {}\nDirectory: {}\nOutput: {}\nError: (none)\nExit Code: {}\nSignal: (none)\nProcess Group PGID: (none)"
)
_REPORT_PREFIXES = ("Command: ", "Tool output was too large and has been truncated")
_CANCEL_PREFIXES = ("Command was cancelled", "Command timed out")
_MAX_TOOL_NAME_CHARS = 63
_BUS_TIMEOUT_S = 60  # until the agent stops waiting for an answer on its own bus, whatever a hook's timeout says
_FILES = {
    "user": "~/.qwen/settings.json",
    "project": ".qwen/settings.json",
    "managed": "/etc/qwen-code/settings.json",
}
_UNSAFE_CHARACTERS = lazy_pattern(r"[^A-Za-z0-9_-]")
_HASH_SUFFIX_PATTERN = lazy_pattern(r"(.+)_[01][0-9a-z]{6}")  # 32 bits in base 36, as unsafe or long names carry them


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    if not native.startswith("mcp__"):
        return None
    match = _HASH_SUFFIX_PATTERN.fullmatch(native)
    return tool_calls.split_mcp_name(match[1] if match else native, "mcp__", "__") or ("?", native[5:])


def _mcp_name(server: str, tool: str) -> str:
    """A name that a model provider would reject is cleaned, and made unique by an FNV-1a hash of the original."""
    name = f"mcp__{server}__{tool}"
    if len(name) <= _MAX_TOOL_NAME_CHARS and not _UNSAFE_CHARACTERS.search(name):
        return name
    hash_value = 0x811C9DC5
    for byte in name.encode():
        hash_value = (hash_value ^ byte) * 0x01000193 & 0xFFFFFFFF
    digits = ""
    for _ in range(7):
        hash_value, digit = divmod(hash_value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return f"{_UNSAFE_CHARACTERS.sub('_', name)[: _MAX_TOOL_NAME_CHARS - 8]}_{digits}"


def _result(facts: Facts, name: str) -> Result:
    """The content that the model gets, or the error; a command's report is parsed in either."""
    output, failure = facts.get("output"), facts.get("error")
    if type(output) is dict:
        failure = output.get("error") if failure is None else failure
        content = output.get("llmContent", output)
        texts = tool_calls.part_texts(content)
        output = content if texts is None else "\n".join(texts)
    error = tool_calls.as_text(failure)
    report = output if type(output) is str else error
    if name != "shell" or report is None:
        return Result(ok=error is None, error=error, output=output)
    if report.startswith(_REPORT_PREFIXES):
        return _report_result(report, facts, output, error)
    return Result(ok=error is None and not report.startswith(_CANCEL_PREFIXES), error=error, output=output)


def _report_result(report: str, facts: Facts, output: Any, error: str | None) -> Result:
    """The last exit code is the agent's own: the command's output stands before it."""
    trailer_start = report.rfind("\nExit Code: ")
    match = _REPORT_END_PATTERN.match(report, trailer_start) if trailer_start >= 0 else None
    if match is None:
        return Result(ok=error is None, error=error, output=output)
    code = None if match[1] == "(none)" else int(match[1])
    if match[2] not in {"(none)", "0"} and error is None:  # older versions write 0
        error = f"ended by {match[2]}"
    return Result(ok=code == 0, exit_code=code, error=error, output=_report_output(report, trailer_start, facts))


def _report_output(report: str, trailer_start: int, facts: Facts) -> str:
    command = tool_calls.as_object(facts.get("input")).get("command")
    head = f"Command: {command}\nDirectory: "
    start = report.find("\nOutput: ", len(head) if report.startswith(head) else 0, trailer_start)
    end = report.rfind("\nError: ", start, trailer_start)
    if start < 0 or end < 0 or not report.startswith("Command: "):
        return report
    output = report[start + len("\nOutput: ") : end]
    return "" if output == "(empty)" else output


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    kind = facts["kind"]
    if kind == "tool_batch":
        data["tool_calls"] = tool_calls.decode_batch(AGENT, payload.get("tool_calls"))
    elif kind == "before_prompt" and payload.get("prompt") == "" and payload.get("submitted_prompt") is None:
        data["repeat"] = True  # sent along with a tool's result: nobody has said anything
        facts["actor"] = "ai_agent"
    elif type(tokens := payload.get("input_tokens")) is int:
        facts["usage"] = Usage(input_tokens=tokens)


def _wrap(flat: Object, event: Event) -> Object:
    if event.usage is not None and event.type == "agent_stop":
        flat["input_tokens"] = event.usage.input_tokens
    if event.type == "tool_batch":
        flat["tool_calls"] = [_add_call_id(call) for call in flat["tool_calls"]]
    if event.type == "before_prompt" and event.agent != AGENT.name:
        flat["submitted_prompt"] = event.prompt
    if event.tool is not None and event.tool.result is not None:
        _wrap_result(flat, event.tool, event.tool.result, is_failure=event.type == "tool_use_failure")
    return flat


def _add_call_id(call: Any) -> Any:
    """Within a batch both ids are the model's own."""
    return call | {"tool_call_id": call["tool_use_id"]} if type(call) is dict and "tool_use_id" in call else call


def _wrap_result(flat: Object, tool: Tool, result: Result, *, is_failure: bool) -> None:
    """A success has the forms for model and user, a failure a text."""
    output, error = flat.pop("tool_response", ""), flat.pop("error", None)
    report: Any = output
    if tool.name == "shell" and result.exit_code is not None and not str(error).startswith(_REPORT_PREFIXES):
        directory = tool.input.get("directory", "(root)")
        command, text = tool.input.get("command"), output or error or "(empty)"
        report = _REPORT_TEMPLATE.format(command, directory, text, result.exit_code)
    if is_failure:
        flat["error"] = tool_calls.as_text(report if error is None or report is not output else error)
        return
    parts = [{"text": report}] if tool.mcp_server is not None and type(report) is str else report
    flat["tool_response"] = {"llmContent": parts, "returnDisplay": output if type(output) is str else ""}
    if error is not None:
        flat["tool_response"]["error"] = {"message": error}


AGENT = Agent(
    name="qwen-code",
    title="Qwen Code",
    source="npm package @qwen-code/qwen-code 0.24.4",
    checked="2026-11-15",
    proof="captured",
    vendor="com.alibaba",
    encodes=True,
    events={"TodoCreated": "task_created", "TodoCompleted": "task_completed"}
    | pick(
        EVENTS,
        "PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionRequest PermissionDenied "
        "UserPromptSubmit UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop "
        "PreCompact PostCompact Notification MessageDisplay InstructionsLoaded",
    ),
    tools=tool_names(
        shell="run_shell_command",
        file_read="read_file",
        file_write="write_file",
        file_edit="edit replace notebook_edit",
        search="grep_search",
        find="glob list_directory",
        web_search="web_search",
        web_fetch="web_fetch",
        agent="agent task",
    ),
    arguments={
        "*": {"file_path": "path"},
        "shell": {"is_background": "background"},
        "file_edit": {"old_string": "old_text", "new_string": "new_text"},
        "notebook_edit": {"notebook_path": "path", "new_source": "new_text"},
        "agent": {"subagent_type": "type"},
    },
    keys={key: slot for key, slot in KEYS.items() if key != "mcp_server"} | {"timestamp": "time"},
    details=name_table(
        "tool_call_id=model_call_id displayed_text=text is_final=final trigger_file_path=trigger_path "
        "parent_file_path=parent_path deleted_session_id=deleted_session todo_id=task_id "
        "todo_content=task_subject todo_status=status all_todos=tasks submitted_prompt previous_status phase "
        "background_tasks crons context_usage context_limit source_type source_id"
    )
    | pick(
        DETAILS,
        "source reason trigger custom_instructions compact_summary stop_hook_active last_assistant_message "
        "agent_transcript_path error_details is_interrupt message title notification_type permission_suggestions "
        "file_path memory_type load_reason command_name command_args message_id",
    ),
    modes=mode_table("default auto_edit auto-edit auto yolo"),
    env_markers=("QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID", "QWEN_CODE_PROJECT_DIR"),
    variables={"QWEN_PROJECT_DIR": "project", "QWEN_CODE_SESSION_ID": "session", "GEMINI_PROJECT_DIR": "project"}
    | {"CLAUDE_PROJECT_DIR": "project"},
    home=".qwen",
    transcripts=(".qwen/projects", ".jsonl", {"QWEN_RUNTIME_DIR": "projects", "QWEN_HOME": "projects"}),
    ends="sometimes",  # not where it was given its prompt on the command line
    signature_keys=key_sets(
        "tool_call_id", "submitted_prompt", "timestamp permission_mode", "displayed_text", "crons", "todo_id"
    ),
    permission_modes=frozenset({"auto_edit", "auto-edit", "yolo"}),
    quirks=(
        "UserPromptSubmit comes again, empty, after every tool result.",
        "In default mode PreToolUse comes only after the user has said yes: a deny then contradicts them.",
        "A denial on exit 2 needs text on stderr; what stands on stdout is thrown away then.",
        "An explicit allow of one hook beats the deny of another.",
        "PreToolUse cannot rewrite the input, although the documentation claims it.",
        "Answers are waited for a minute, and fifteen seconds after a batch, whatever a hook's timeout says.",
        "A command's timeout is in milliseconds from 1000 up and in seconds below; for http and prompt always seconds.",
        "What a hook says at SubagentStart reaches no model, though the code takes it.",
        "In PostToolBatch the call's id is the model's, elsewhere the agent's; SessionEnd needs a terminal.",
    ),
    refine=_refine,
    mcp=_mcp,
    mcp_name=_mcp_name,
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    compaction=CompactionRule(
        share=0.85,
        reserve=33_000,  # 20,000 for the summary and 13,000 beside it
        source="shipped code of 0.24.4 (computeThresholds); in the lab between 160,000 and 170,000 of 200,000",
        date="2026-11-16",
    ),
    config=Config(
        repairable=True,
        files=_FILES,
        reads={
            "managed": ("/etc/qwen-code/system-defaults.json", "/Library/Application Support/QwenCode/settings.json")
        },
        render=lazy_function("qwen_code.config", "render"),
        parse=lazy_function("qwen_code.config", "parse"),
        points={
            "PreToolUse": point("prevent", ask="denies_headless", hard_timeout_s=_BUS_TIMEOUT_S),
            "PostToolUse": point("context", hard_timeout_s=_BUS_TIMEOUT_S),
            "PostToolUseFailure": point("context", hard_timeout_s=_BUS_TIMEOUT_S),
            "PostToolBatch": point("prevent", hard_timeout_s=15),
            # New input comes only with an allow.
            "PermissionRequest": point("prevent allow", hard_timeout_s=_BUS_TIMEOUT_S),
            "UserPromptSubmit": point("prevent stop context", hard_timeout_s=_BUS_TIMEOUT_S),
            "UserPromptExpansion": point("prevent"),
            "SessionStart": point("context"),
            "SessionEnd": point(hard_timeout_s=2),
            "Stop": point("retry", hard_timeout_s=_BUS_TIMEOUT_S),
            "SubagentStop": point("retry"),
            "PreCompact": point("context"),
            "TodoCreated": point("prevent"),
            "TodoCompleted": point("prevent"),
        },
        subjects={
            "SessionStart": ("source", "pattern"),
            "SessionEnd": ("end_reason", "pattern"),
            "SubagentStart": ("agent_type", "pattern"),
            "SubagentStop": ("agent_type", "pattern"),
            "PreCompact": ("trigger", "exact"),
            "PostCompact": ("trigger", "exact"),
            "Notification": ("notification_type", "exact"),
        },
        programs=("qwen",),
        capabilities=frozenset({"structured_output", "async_execution", "custom_env", "http_handler", "llm_evaluated"}),
        matching="names joined by bars, else a pattern, unanchored",
        units=1000,
        min_unit=1000,
        timeout=60,
        handlers={
            "command": {"type": "type", "env": "env"} | COMMAND_KEYS,
            "http": HTTP_KEYS | TIMEOUT_KEYS,
            "prompt": PROMPT_KEYS | TIMEOUT_KEYS,
        },
        excluded_tools=frozenset({"replace", "task"}),
        switches=tuple((file, ("disableAllHooks",), True) for file in _FILES.values()),
        trust="Nothing by default; where security.folderTrust is on, no hook runs in a folder that is not trusted.",
    ),
)
