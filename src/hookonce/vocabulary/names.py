"""Names in other vocabularies: agent aliases, reasons, notification and error types, providers; suggestions.

A native word that is in no table is kept in `Event.data` and left out of the format's closed list.
"""

from collections.abc import Iterable

AGENT_ALIASES: dict[str, str] = {
    "amazon-q": "kiro",
    "auggie": "augment",
    "cascade": "windsurf",
    "claude": "claude-code",
    "copilot": "copilot-cli",
    "droid": "factory-droid",
    "gemini": "gemini-cli",
    "github copilot": "copilot-cli",
    "github-copilot": "copilot-cli",
    "qwen": "qwen-code",
    "vscode-copilot": "vs-code-copilot",
    "windsurf cascade": "windsurf",
    "windsurf-cascade": "windsurf",
}


def suggest_name(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean …?` where something has nearly that name, else nothing."""
    from difflib import get_close_matches

    name_by_lower = {word.lower(): word for word in candidates}
    matches = get_close_matches(name.lower(), name_by_lower, n=1)
    return f"; did you mean {name_by_lower[matches[0]]}?" if matches else ""


AGENT_HOOKS_START_REASONS: dict[str, str] = {
    "new": "new",
    "startup": "new",
    "fork": "new",
    "branch": "new",
    "resume": "resume",
    "restart": "restart",
    "clear": "restart",
    "compact": "restart",
}

AGENT_HOOKS_END_REASONS: dict[str, str] = {
    "exit": "exit",
    "completed": "completed",
    "error": "error",
    "manual_reset": "manual_reset",
    "idle_timeout": "idle_timeout",
    "user_exit": "exit",
    "timeout": "idle_timeout",
    "clear": "manual_reset",
    "resume": "manual_reset",
    "logout": "exit",
    "prompt_input_exit": "exit",
    "bypass_permissions_disabled": "exit",
    "complete": "completed",
    "abort": "error",
    "aborted": "error",
    "window_close": "exit",
    "user_close": "exit",
}

OPENHOOK_END_REASONS: dict[str, str] = {
    "user_exit": "user_exit",
    "timeout": "timeout",
    "error": "error",
    "completed": "completed",
    "exit": "user_exit",
    "idle_timeout": "timeout",
    "manual_reset": "user_exit",
    "clear": "user_exit",
    "resume": "user_exit",
    "logout": "user_exit",
    "prompt_input_exit": "user_exit",
    "complete": "completed",
    "abort": "error",
    "aborted": "error",
    "window_close": "user_exit",
    "user_close": "user_exit",
}

NOTIFICATION_TYPES: dict[str, str] = {
    "ToolPermission": "ToolPermission",
    "IdleTimeout": "IdleTimeout",
    "ErrorAlert": "ErrorAlert",
    "permission_prompt": "ToolPermission",
    "idle_prompt": "IdleTimeout",
    "agent_idle": "IdleTimeout",
}

# What failed: Agent Hooks' four words, and where Copilot says that an error came from.
ERROR_TYPES: dict[str, str] = {
    "ToolFailed": "ToolFailed",
    "ModelError": "ModelError",
    "HookError": "HookError",
    "UnhandledException": "UnhandledException",
    "tool_execution": "ToolFailed",
    "model_call": "ModelError",
}

# Model ids as `provider/model`: by what the id begins with, else as they are.
MODEL_PROVIDERS: tuple[tuple[str, str], ...] = (
    ("claude", "anthropic"),
    ("anthropic", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex", "openai"),
    ("gemini", "google"),
    ("qwen", "alibaba"),
    ("grok", "xai"),
    ("deepseek", "deepseek"),
)
