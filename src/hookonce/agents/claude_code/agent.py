"""Agent table, decoder and encoder of Claude Code."""

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
    mode_table,
    tool_names,
)
from hookonce.agents.claude_code.reply import read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, CompactionRule, Config, Event, Facts, Object, Result
from hookonce.vocabulary.events import CHANGES_BY_FILE_EVENT, FILE_EVENTS_BY_CHANGE

_HUMAN_SOURCES = ("user", "sdk")  # other sources of a prompt are the agent's own: timers, polls, the system
_EXIT_CODE_PATTERN = lazy_pattern(r"\AExit code (\d+)\b")
_FILES = {
    "user": "~/.claude/settings.json",
    "project": ".claude/settings.json",
    "local": ".claude/settings.local.json",
    "managed": "/etc/claude-code/managed-settings.json",
}
_MACOS_SETTINGS = "/Library/Application Support/ClaudeCode/managed-settings"
_TEXT_CAPABILITIES = "context message suppress"
_WORKTREE_REASON = "the hook itself, and no longer Claude Code,"


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """The payload's own server name is better than the one split off the tool name."""
    server_and_tool = tool_calls.split_mcp_name(native, "mcp__", "__")
    server = facts.get("mcp_server")
    if server_and_tool and type(server) is dict and type(server.get("name")) is str:
        return server["name"], server_and_tool[1]
    return server_and_tool


def _result(facts: Facts, name: str) -> Result:
    """A failed command begins its error with the exit code; a successful one has no code but is 0."""
    output: Any = facts.get("output")
    if name == "shell" and type(output) is dict and type(output.get("stdout")) is str:
        is_complete = not output.get("interrupted")
        return Result(ok=is_complete, exit_code=0 if is_complete else None, output=output["stdout"])
    return tool_calls.shell_result(facts, name, _EXIT_CODE_PATTERN, output)


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    kind = facts["kind"]
    if kind == "file_changed":
        facts["kind"] = FILE_EVENTS_BY_CHANGE.get(str(payload.get("event")), kind)
    elif kind == "tool_batch":
        data["tool_calls"] = tool_calls.decode_batch(AGENT, payload.get("tool_calls"))
    elif kind == "before_prompt" and payload.get("source", "user") not in _HUMAN_SOURCES:
        facts["actor"] = "ai_agent"
    elif kind == "after_tool_execute" and (file := _file_change(payload.get("tool_response"))):
        data["files"] = [file]


def _file_change(response: Any) -> Object | None:
    if type(response) is not dict or type(response.get("structuredPatch")) is not list:
        return None
    operation = "create" if response.get("type") == "create" else "update"
    file: Object = {"path": response.get("filePath"), "operation": operation}
    spans = [_changed_lines(hunk) for hunk in response["structuredPatch"]]
    if spans and None not in spans:
        numbers = [number for span in spans if span is not None for number in span]
        file |= {"start_line": min(numbers), "end_line": max(numbers)}
    elif operation == "create" and type(text := response.get("content")) is str and text:
        file |= {"start_line": 1, "end_line": len(text.splitlines())}
    return file if type(file["path"]) is str else None


def _changed_lines(hunk: Any) -> tuple[int, int] | None:
    """The first and the last line that a hunk has changed, without the lines around them; None where it tells none."""
    first, count, lines = map(hunk.get, ("newStart", "newLines", "lines")) if type(hunk) is dict else (None, None, None)
    if type(first) is not int or type(count) is not int:
        return None
    if type(lines) is not list or not all(type(line) is str for line in lines):
        return first, first + count - 1
    additions, removals, number = list[int](), list[int](), first
    for line in lines:
        if line[:1] == "-":
            removals.append(max(number - 1, 1))  # the line behind which it stood
        elif line[:1] == "+":
            additions.append(number)
        number += line[:1] in {"+", " ", ""}
    numbers = additions or removals
    return (numbers[0], numbers[-1]) if numbers else (first, first + count - 1)


def _wrap(flat: Object, event: Event) -> Object:
    """A hook for this agent expects a command's output as an object, and a file's fate as `event`."""
    if event.type in CHANGES_BY_FILE_EVENT:
        flat["event"] = CHANGES_BY_FILE_EVENT[event.type]
    tool = event.tool
    if tool is None or tool.result is None or event.type != "after_tool_execute":
        return flat
    if tool.name == "shell" and type(tool.result.output) is str:
        was_interrupted = tool.result.exit_code is None
        flat["tool_response"] = {"stdout": tool.result.output, "stderr": "", "interrupted": was_interrupted}
    return flat


AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    source="npm package 2.1.325 and its type declarations",
    checked="2026-11-15",
    proof="captured",
    vendor="com.anthropic",
    encodes=True,
    events=EVENTS,
    tools=tool_names(
        shell="Bash PowerShell",
        file_read="Read",
        file_write="Write",
        file_edit="Edit MultiEdit NotebookEdit",
        search="Grep",
        find="Glob",
        web_search="WebSearch",
        web_fetch="WebFetch",
        agent="Agent Task",
    ),
    arguments={
        "*": {"file_path": "path"},
        "shell": {"run_in_background": "background"},
        "file_edit": {"old_string": "old_text", "new_string": "new_text"},
        "NotebookEdit": {"notebook_path": "path", "new_source": "new_text"},
        "agent": {"subagent_type": "type"},
    },
    keys=KEYS,
    details=DETAILS,
    modes=mode_table("default acceptEdits bypassPermissions dontAsk auto"),
    env_markers=("CLAUDECODE",),
    variables={"CLAUDE_PROJECT_DIR": "project", "CLAUDE_CODE_SESSION_ID": "session"},
    home=".claude",
    transcripts=(".claude/projects", ".jsonl", {"CLAUDE_CONFIG_DIR": "projects"}),
    script_words=(
        *("tool_input", "tool_response", "hook_event_name", "hookEventName", "hookSpecificOutput"),
        *("permissionDecision", ".tool_name", "decision: block|approve"),
    ),
    permission_modes=frozenset({"acceptEdits", "dontAsk"}),
    quirks=(
        "Hooks that match one event run in parallel; deny beats defer, ask and allow.",
        "A hook that crashes or times out is ignored unless the entry says onFailure: block.",
        "Tool output is an object per tool, a string in PostToolBatch, a list of parts for MCP.",
        "PermissionRequest carries no call id.",
        "A hook on WorktreeCreate or WorktreeRemove does the work in place of git.",
        "No http hook runs on SessionStart or Setup; no prompt or agent there either, nor on SubagentStart.",
        "SessionEnd has 1.5 seconds, or as long as the longest timeout of its hooks, up to a minute.",
    ),
    refine=_refine,
    mcp=_mcp,
    mcp_name="mcp__{}__{}".format,
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    compaction=CompactionRule(
        reserve=33_000,  # 20,000 for the summary and 13,000 beside it
        max_window=200_000,  # a larger window may be set by its server, for each model
        source="shipped code of 2.1.325 (autoCompactWindow)",
        date="2026-11-16",
    ),
    config=Config(
        repairable=True,
        files=_FILES,
        reads={
            "managed": (
                "/etc/claude-code/managed-settings.d/*.json",
                f"{_MACOS_SETTINGS}.json",
                f"{_MACOS_SETTINGS}.d/*.json",
            )
        },
        render=lazy_function("claude_code.config", "render"),
        parse=lazy_function("claude_code.config", "parse"),
        events={native: kind for native, kind in EVENTS.items() if native != "ErrorOccurred"},
        points={
            # Told to end the turn here, it ends it after the tool has run.
            "PreToolUse": point(f"prevent allow rewrite {_TEXT_CAPABILITIES}", ask="denies_headless"),
            "PermissionRequest": point("prevent allow"),  # new input comes only with an allow
            "PostToolUse": point(f"stop {_TEXT_CAPABILITIES}"),
            "PostToolBatch": point(f"prevent {_TEXT_CAPABILITIES}"),
            "UserPromptSubmit": point(f"prevent stop {_TEXT_CAPABILITIES}"),
            "UserPromptExpansion": point(f"prevent {_TEXT_CAPABILITIES}"),
            "SessionEnd": point(hard_timeout_s=60),
            "Stop": point(f"retry stop {_TEXT_CAPABILITIES}"),
            "SubagentStop": point(f"retry stop {_TEXT_CAPABILITIES}"),
            "PreModelSwitch": point("prevent allow", ask="native"),
            "PostModelSwitch": point("context", hard_timeout_s=5),
            "Notification": point("context"),
            "TaskCreated": point("prevent stop"),
            "TaskCompleted": point("prevent stop"),
            "TeammateIdle": point("retry stop"),
            "WorktreeCreate": point("prevent", install="never", why=f"{_WORKTREE_REASON} makes the worktree"),
            "WorktreeRemove": point(install="never", why=f"{_WORKTREE_REASON} removes the worktree"),
        }
        | dict.fromkeys(("PostToolUseFailure", "SessionStart", "Setup", "SubagentStart"), point(_TEXT_CAPABILITIES))
        | dict.fromkeys(("PreCompact", "ConfigChange", "Elicitation", "ElicitationResult"), point("prevent")),
        subjects={
            "SessionStart": ("source", "list"),
            "SessionEnd": ("end_reason", "list"),
            "PreCompact": ("trigger", "list"),
            "PostCompact": ("trigger", "list"),
            "SubagentStart": ("agent_type", "list"),
            "SubagentStop": ("agent_type", "list"),
            "Notification": ("notification_type", "list"),
        },
        programs=("claude",),
        exec_since="2.1.139",
        capabilities=frozenset(
            {"structured_output", "input_rewrite", "llm_evaluated", "http_handler", "async_execution"}
        ),
        matching="names joined by bars or commas, else a pattern, unanchored",
        timeout=600,
        handlers={
            "command": {"type": "type"} | COMMAND_KEYS,
            "http": HTTP_KEYS | TIMEOUT_KEYS,
            "prompt": PROMPT_KEYS | TIMEOUT_KEYS,
            "agent": PROMPT_KEYS | TIMEOUT_KEYS,
        },
        fail_closed_key=("onFailure", "block"),
        excluded_tools=frozenset({"PowerShell", "MultiEdit", "Task"}),
        switches=(
            *((file, ("disableAllHooks",), True) for file in _FILES.values()),
            (_FILES["managed"], ("allowManagedHooksOnly",), True),
        ),
        notice=("SessionStart", "seen in 2.1.325, and in no request to the model (tests/integration/test_notice.py)"),
        trust="Trust a folder when Claude Code asks in the terminal; until then no hook runs there, not even your own. "
        "`claude -p` does not ask, and runs hooks.",
    ),
)
