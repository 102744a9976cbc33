"""Agent table, decoder and encoder of Codex CLI: Claude Code's events with turns, patches, a notify program."""

import posixpath
import re
from typing import Any

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import (
    COMMAND_KEYS,
    DETAILS,
    KEYS,
    key_sets,
    mode_table,
    name_table,
    pick,
)
from hookonce.agents._decode.claude_vocabulary import EVENTS as CLAUDE_EVENTS
from hookonce.agents.codex.reply import read_reply, reply
from hookonce.base.jsontext import as_dict
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, CompactionRule, Config, Event, Facts, Object, Result, Tool
from hookonce.vocabulary.tools import WRITE_TOOLS

EVENTS = pick(
    CLAUDE_EVENTS,
    "PreToolUse PostToolUse PermissionRequest UserPromptSubmit SessionStart SessionEnd Stop SubagentStart SubagentStop "
    "PreCompact PostCompact",
) | {"Interrupt": "interrupt", "PreModelRequest": "before_model", "PostModelRequest": "after_model"}

# Codex writes this above the answer of a patch. The answer of a command is its bare output: nothing is read there.
_PATCH_EXIT_PATTERN = lazy_pattern(r"\AExit code: (\d{1,10})\nWall time: ")

# Codex itself carries out a patch that a command gives to `apply_patch`, in another folder if it goes there first.
_SHELL_PATCH_PATTERN = lazy_pattern(
    r"(?:\bcd[ ]+('[^'\n]+'|\"[^\"\n]+\"|[^\s&;|]+)[ ]*&&\s*)?\b(?:apply_patch|applypatch)\b[^\n]{0,200}\n?"
    r"(\*\*\* Begin Patch\n.*?\*\*\* End Patch)",
    re.DOTALL,
)

# Models in the catalogue of the program, which gives each a window of its own; of others it asks a server.
_CATALOGUE_MODELS = (
    *("gpt-6-astra", "gpt-6.1-sol", "gpt-6-sol", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"),
    *("gpt-daybreak-blue-latest", "gpt-5.5", "codex-auto-review"),
)

# What each event carries, with the value that stands for what another agent's event does not know.
_TURN_FIELDS: Object = {"turn_id": "", "transcript_path": None, "model": "", "permission_mode": "default"}
_CALL_FIELDS = _TURN_FIELDS | {"tool_name": "", "tool_input": {}}
_COMPACT_FIELDS: Object = {"turn_id": "", "transcript_path": None, "model": "", "trigger": "auto"}
_STOP_FIELDS = _TURN_FIELDS | {"stop_hook_active": False, "last_assistant_message": None}
_EVENT_FIELDS: dict[str, Object] = {
    "SessionStart": {"transcript_path": None, "model": "", "permission_mode": "default", "source": "startup"},
    "SessionEnd": {"transcript_path": None, "reason": "other"},
    "UserPromptSubmit": _TURN_FIELDS | {"prompt": ""},
    "PreToolUse": _CALL_FIELDS | {"tool_use_id": ""},
    "PermissionRequest": _CALL_FIELDS,
    "PostToolUse": _CALL_FIELDS | {"tool_use_id": "", "tool_response": ""},
    "PreCompact": _COMPACT_FIELDS,
    "PostCompact": _COMPACT_FIELDS,
    "SubagentStart": _TURN_FIELDS | {"agent_id": "", "agent_type": "default"},
    "SubagentStop": _STOP_FIELDS | {"agent_id": "", "agent_type": "default", "agent_transcript_path": None},
    "Stop": _STOP_FIELDS,
    "Interrupt": _TURN_FIELDS,
}
_MAIN_AGENT_EVENTS = ("SessionStart", "SessionEnd", "Stop", "Interrupt")
_ALLOWED_VALUES = {
    "permission_mode": ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"),
    "source": ("startup", "resume", "clear", "compact", "fork"),
    "trigger": ("manual", "auto"),
    "reason": ("other",),
}


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    """The notify program gets all prompts of the turn at once; a patch may come through the shell."""
    messages = payload.get("input-messages")
    if type(messages) is list and messages and all(type(text) is str for text in messages):
        facts["prompt"] = "\n".join(messages)
    command = as_dict(facts.get("input")).get("command") if facts.get("tool") == "Bash" else None
    if type(command) is str and (match := _SHELL_PATCH_PATTERN.search(command)) is not None:
        folder = match[1].strip("'\"") if match[1] else ""
        files = tool_calls.list_patch_files(match[2])
        if files:
            data["files"] = [file | {"path": posixpath.join(folder, file["path"])} for file in files]


def _result(facts: Facts, name: str) -> Result:
    """Codex reports successes only, and a command that ran is one, whatever its exit code was: see `transcript.py`."""
    output: Any = facts.get("output")
    if facts["tool"] == "apply_patch":
        return tool_calls.shell_result(facts, "shell", _PATCH_EXIT_PATTERN, output)
    is_failure = type(output) is dict and output.get("isError") is True
    return Result(ok=not is_failure, output=output)


def _wrap(flat: Object, event: Event) -> Object:
    """An own event gets back the keys that were null; another agent's is cut to the fields that Codex has."""
    native = flat["hook_event_name"]
    fields = _EVENT_FIELDS.get(native)
    if fields is None:
        return flat
    if event.agent == AGENT.name:
        return {key: None for key, value in fields.items() if value is None} | flat
    if event.tool is not None:
        flat |= _foreign_call_fields(event.tool)
    subagent_keys = ("agent_id", "agent_type") if native not in _MAIN_AGENT_EVENTS else ()
    payload = {"session_id": flat.get("session_id", ""), "cwd": flat.get("cwd", ""), "hook_event_name": native}
    payload |= {key: flat[key] for key in subagent_keys if key in flat}
    for key, default in fields.items():
        value = flat.get(key)
        payload[key] = default if value is None or value not in _ALLOWED_VALUES.get(key, (value,)) else value
    if event.mode == "plan" and "permission_mode" in payload:
        payload["permission_mode"] = "plan"
    return payload


def _foreign_call_fields(tool: Tool) -> Object:
    fields: Object = {}
    if tool.name in WRITE_TOOLS:
        fields = {"tool_name": "apply_patch", "tool_input": {"command": _as_patch(tool.input)}}
    elif tool.name == "shell":
        fields["tool_input"] = {key: tool.input[key] for key in ("command", "description") if key in tool.input}
    if tool.result is not None:
        if not tool.name.startswith("mcp:"):
            fields["tool_response"] = tool_calls.result_text(tool.result)
        elif type(tool.result.output) is not dict:
            fields["tool_response"] = {"content": tool_calls.text_parts(tool.result)}
    return fields


def _as_patch(arguments: Object) -> str:
    if type(arguments.get("patch")) is str:
        return str(arguments["patch"])
    before, after, whole = (tool_calls.as_text(arguments.get(key)) or "" for key in ("old_text", "new_text", "content"))
    verb = "Add" if "content" in arguments else "Update"
    lines = ["*** Begin Patch", f"*** {verb} File: {arguments.get('path', '')}"]
    if verb == "Update":
        lines += ["@@", *(f"-{line}" for line in before.splitlines())]
    lines += [f"+{line}" for line in (whole or after).splitlines()]
    return "\n".join([*lines, "*** End Patch", ""])


AGENT = Agent(
    name="codex",
    title="Codex CLI",
    source="npm package 0.166.0 with its embedded schemas, and the Rust source of 2026-08-22",
    checked="2026-11-15",
    proof="captured",
    vendor="com.openai",
    encodes=True,
    events=EVENTS | {"agent-turn-complete": "agent_stop"},
    tools={"Bash": "shell", "apply_patch": "file_edit", "spawn_agent": "agent"},
    arguments={"apply_patch": {"command": "patch"}, "agent": {"message": "prompt", "agent_type": "type"}},
    shape_readers={"apply_patch": tool_calls.shape_patch},
    keys=pick(
        KEYS,
        "hook_event_name session_id transcript_path cwd permission_mode model prompt tool_name tool_input "
        "tool_response tool_use_id agent_id agent_type",
    )
    | name_table("turn_id=turn type=event thread-id=session turn-id=turn"),
    details=pick(DETAILS, "source reason trigger stop_hook_active last_assistant_message agent_transcript_path")
    | {"last-assistant-message": "response", "client": "client"},
    modes=mode_table("default bypassPermissions acceptEdits dontAsk"),
    home=".codex",
    transcripts=(".codex/sessions", ".jsonl", {"CODEX_HOME": "sessions"}),
    signature_keys=key_sets("turn_id model", "thread-id turn-id"),
    quirks=(
        "A hook that was not reviewed, or whose command or timeout changed since, is silently left out.",
        "An answer with one field too many is refused as a whole, and the tool runs; so is an ask.",
        "One value of a wrong type, an unknown handler or a comment in hooks.json, and none of its hooks runs.",
        "A trusted project turns off every hook, the user's too, by features.hooks in its config.toml.",
        "No PostToolUse follows a failed patch, a failed MCP call or a command that still runs when the model goes on.",
        "The exit code of a command reaches no hook: PostToolUse has its output, the session file the rest.",
        "SessionEnd and Interrupt have three seconds at most; the former is a minute late after a session by hand.",
        "Hooks run in the environment of a daemon, not of the terminal that asked.",
    ),
    refine=_refine,
    mcp=tool_calls.mcp_splitter("mcp__", "__"),
    mcp_name=lambda server, tool: f"mcp__{server.replace('-', '_')}__{tool}",
    result=_result,
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    compaction=CompactionRule(
        share=0.9,
        windows=dict.fromkeys(_CATALOGUE_MODELS, 272_000)
        | {"gpt-6.1-terra": 500_000, "gpt-daybreak-red-latest": 372_000},
        source="model catalogue in the shipped program of 0.166.0; auto_compact_token_limit of its published source",
        date="2026-11-16",
    ),
    config=Config(
        repairable=True,
        review=("~/.codex/config.toml", ("hooks", "state"), lazy_function("codex.config", "trust_entries")),
        files={
            "user": "~/.codex/hooks.json",
            "project": ".codex/hooks.json",
            "managed": "/etc/codex/requirements.toml",
        },
        reads={
            "user": ("~/.codex/config.toml",),
            "project": (".codex/config.toml",),
            "managed": ("/etc/codex/config.toml", "/etc/codex/hooks.json"),
        },
        render=lazy_function("codex.config", "render"),
        parse=lazy_function("codex.config", "parse"),
        events=EVENTS,
        points={
            "PreToolUse": point("prevent rewrite context message", ask="ignored"),
            "PermissionRequest": point("prevent allow message"),
            "PostToolUse": point("prevent context message"),  # a block replaces the result; the tool has run
            "UserPromptSubmit": point("prevent stop context message"),
            "SessionStart": point("prevent context message"),
            "SessionEnd": point(hard_timeout_s=3),
            "Stop": point("retry stop message"),
            "SubagentStart": point("context message"),
            "SubagentStop": point("retry stop message"),
            "PreCompact": point("prevent message"),
            "PostCompact": point("message"),
            "Interrupt": point("message", hard_timeout_s=3),
        },
        subjects={
            "SessionStart": ("source", "list"),
            "PreCompact": ("trigger", "list"),
            "PostCompact": ("trigger", "list"),
            "SubagentStart": ("agent_type", "list"),
            "SubagentStop": ("agent_type", "list"),
        },
        programs=("codex",),
        capabilities=frozenset({"structured_output", "input_rewrite", "async_execution", "platform_commands"}),
        matching="names joined by bars, else a pattern, unanchored",
        timeout=600,
        handlers={"command": {"type": "type"} | COMMAND_KEYS | {"platform": "commandWindows"}},
        ambiguous={"apply_patch": ["file_write", "file_edit"]},
        switches=(
            ("~/.codex/config.toml", ("features", "hooks"), False),
            ("~/.codex/config.toml", ("features", "codex_hooks"), False),
            (".codex/config.toml", ("features", "hooks"), False),
            (".codex/config.toml", ("features", "codex_hooks"), False),
            ("/etc/codex/requirements.toml", ("allow_managed_hooks_only",), True),
        ),
        notice=("SessionStart", "seen in 0.166.0, and in no request to the model (tests/integration/test_notice.py)"),
        trust="Review the hooks with /hooks in Codex, and again whenever a command or a timeout has changed; "
        "until then they are silently left out. A project must be trusted as well.",
    ),
)
