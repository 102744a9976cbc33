"""Names in other vocabularies: agent aliases, reasons, notification and error types, providers; labels; suggestions.

A native word that is in no table is kept in `Event.data` and left out of the format's closed list.
"""

from collections.abc import Iterable

from hookonce.model import Handler, Hook

MODEL_HANDLER_TYPES = frozenset({"prompt", "agent"})  # types of handlers that ask a language model
_MAX_LABEL_CHARS = 60  # of what a hook runs, in a message
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


def describe_handler(handler: Handler) -> str:
    """What a handler runs: its command, URL, prompt or file."""
    text = handler.command or handler.url or handler.prompt or handler.file or next(iter(handler.platform.values()), "")
    return text or f"a handler of type {handler.type}"


def hook_name(hook: Hook) -> str:
    """A hook's name in the record: its own, else its event."""
    return hook.name or hook.event


def hook_label(hook: Hook) -> str:
    """A hook's name for messages: its own, else its event and the beginning of what it runs."""
    text = " ".join(describe_handler(hook.handler).split())
    short_text = text if len(text) <= _MAX_LABEL_CHARS else f"{text[: _MAX_LABEL_CHARS - 1]}…"
    return hook.name or f"{hook.event} {short_text}"


def _invert(**words_by_name: str) -> dict[str, str]:
    return {word: name for name, words in words_by_name.items() for word in words.split()}


AGENT_HOOKS_START_REASONS = _invert(new="new startup fork branch", resume="resume", restart="restart clear compact")
AGENT_HOOKS_END_REASONS = _invert(
    exit="exit user_exit logout prompt_input_exit bypass_permissions_disabled window_close user_close",
    completed="completed complete",
    error="error abort aborted",
    manual_reset="manual_reset clear resume",
    idle_timeout="idle_timeout timeout",
)
OPENHOOK_END_REASONS = _invert(
    user_exit="user_exit exit manual_reset clear resume logout prompt_input_exit window_close user_close",
    timeout="timeout idle_timeout",
    error="error abort aborted",
    completed="completed complete",
)
NOTIFICATION_TYPES = _invert(
    ToolPermission="ToolPermission permission_prompt",
    IdleTimeout="IdleTimeout idle_prompt agent_idle",
    ErrorAlert="ErrorAlert",
)
# What failed: Agent Hooks' four words, and where Copilot says that an error came from.
ERROR_TYPES = _invert(
    ToolFailed="ToolFailed tool_execution",
    ModelError="ModelError model_call",
    HookError="HookError",
    UnhandledException="UnhandledException",
)

# Model ids as `provider/model`: by what the id begins with, else as they are.
MODEL_PROVIDERS = _invert(
    anthropic="claude anthropic",
    openai="gpt o1 o3 o4 codex",
    google="gemini",
    alibaba="qwen",
    xai="grok",
    deepseek="deepseek",
)
