"""Agent table, decoder and encoder of Devin: its command line, and the local agent of Devin Desktop."""

import re
from typing import Any

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, KEYS, name_table, pick, tool_names
from hookonce.agents.devin.reply import read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Config, Event, Facts, Object, Result

# Devin frames what a command printed: a headline above it, the exit code as the last line.
_EXIT_CODE_PATTERN = lazy_pattern(r"\AOutput from command in shell .*\nExit code: (-?\d+)\s*\Z", re.DOTALL)


def _result(facts: Facts, name: str) -> Result:
    """Every tool returns the same three fields; `success` is true for a command that exited with an error."""
    response: Any = facts.get("output")
    if type(response) is not dict:
        return tool_calls.plain_result(facts)
    result = tool_calls.shell_result({"error": response.get("error")}, name, _EXIT_CODE_PATTERN, response.get("output"))
    if response.get("success") is not False:
        return result
    return Result(ok=False, exit_code=result.exit_code, error=result.error, output=result.output)


def _wrap(flat: Object, event: Event) -> Object:
    """The three fields of a result; another agent's command gets the frame that contains its exit code."""
    result = event.tool.result if event.tool is not None else None
    if event.tool is None or result is None:
        return flat
    output, code = flat.pop("tool_response", None), result.exit_code
    if event.tool.name == "shell" and event.agent != AGENT.name and code is not None:
        output = f"Output from command in shell 0:\n{tool_calls.as_text(output) or ''}\n\nExit code: {code}"
    is_success = result.ok is not False if code is None else True
    return flat | {"tool_response": {"success": is_success, "output": output, "error": result.error}}


AGENT = Agent(
    name="devin",
    title="Devin",
    source="docs.devin.ai/cli/extensibility/hooks of 2026-09, and payloads published for 3000.2.17 to 3000.11.3",
    checked="2026-11-15",
    proof="documented",
    vendor="ai.devin",
    encodes=True,
    events=pick(EVENTS, "PreToolUse PostToolUse PermissionRequest UserPromptSubmit Stop SessionStart SessionEnd")
    | {"PostCompaction": "after_compact"},
    tools=tool_names(
        shell="exec",
        file_read="read notebook_read",
        file_write="write",
        file_edit="edit apply_patch notebook_edit",
        search="grep",
        find="glob find_file_by_name",
        web_search="web_search",
        web_fetch="webfetch",
        agent="run_subagent",
    ),
    arguments={
        "*": {"file_path": "path", "notebook_path": "path"},
        "edit": {"old_string": "old_text", "new_string": "new_text"},
        "apply_patch": {"input": "patch"},
        "notebook_edit": {"new_source": "new_text"},
        "agent": {"task": "prompt", "title": "description", "profile": "type"},
    },
    keys=pick(KEYS, "hook_event_name session_id prompt_id prompt tool_name tool_input tool_response tool_use_id"),
    details=pick(DETAILS, "source reason stop_hook_active last_assistant_message") | name_table("summary"),
    env_markers=("DEVIN_PROJECT_DIR",),
    variables={"DEVIN_PROJECT_DIR": "project"},
    quirks=(
        "No payload tells the working directory or the transcript: the project is in DEVIN_PROJECT_DIR.",
        "Hooks of .claude/settings.json run here too, but matchers for Claude's tool names never match Devin's.",
        "A sub-agent's calls and its Stop arrive in the parent's session, with nothing that tells whose they are.",
        "A call that the user or a hook refused has no PostToolUse.",
        "decision: block on PreToolUse was seen to end the whole turn, not just the call.",
        "Compaction is reported only when it is over, and a Stop hook may block without limit.",
    ),
    shape_readers={"apply_patch": tool_calls.shape_patch},
    mcp=tool_calls.mcp_splitter("mcp__", "__"),
    mcp_name="mcp__{}__{}".format,
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        files={
            "user": "~/.config/devin/config.json",
            "project": ".devin/config.json",
            "local": ".devin/config.local.json",
        },
        reads={"project": (".devin/hooks.v1.json",)},
        render=lazy_function("devin.config", "render"),
        parse=lazy_function("devin.config", "parse"),
        points={
            "PreToolUse": point("prevent"),
            "PermissionRequest": point("prevent allow"),
            "PostToolUse": point("context"),
            "UserPromptSubmit": point("prevent"),
            "Stop": point("retry"),
        },
        programs=("devin",),
        borrows=("claude-code",),
        capabilities=frozenset({"structured_output", "llm_evaluated"}),
        matching="a pattern on the tool's name",
        handlers={
            "command": {"type": "type", "command": "command", "timeout": "timeout"},
            "prompt": {"type": "type", "prompt": "prompt", "timeout": "timeout"},
        },
        ambiguous={"apply_patch": ["file_write", "file_edit"]},
        trust="Leave Restricted Mode, in which hooks are said not to run.",
    ),
)
