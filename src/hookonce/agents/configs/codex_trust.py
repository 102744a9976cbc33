"""What Codex writes down when its user has reviewed a hook: the hook's key, and a hash of what it is.

Codex keeps both under `[hooks.state]` of the user's config.toml and runs nothing else. The hash is over the
hook as Codex understands it, with defaults filled in, so that the layout of the file does not matter; the key
names its place in the file, so that the order does. Agrees with `hooks/list` of Codex 0.166.0.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from hookonce.agents.configs.codex import EVENTS
from hookonce.model import Object

_DEFAULT_TIMEOUT_S, _SHORT_DEFAULT_TIMEOUT_S, _SHORT_MAX_TIMEOUT_S = 600, 1, 3  # seconds: by default, by default where time is short, and at most there
_SHORT_EVENTS = frozenset({"SessionEnd", "Interrupt"})
_EVENTS_WITHOUT_MATCHER = frozenset({"UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest", "PostModelRequest"})
_EVENTS_WITH_CONTEXT = frozenset({"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"})
_DEFAULT_CONTEXT_TOKENS = 2500  # tokens of context, if an entry says nothing else
_NUMBER_KEY = "$serde_json::private::Number"  # how numbers in a tool's input come out of Codex's own library


def trust_entries(
    path: str, document: Object, is_selected: Callable[[str], bool] = bool, *, windows: bool = os.name == "nt"
) -> dict[str, Object]:
    """The table of each wanted command of a configuration file, by its key: it was reviewed as it is now.

    `path` is the file as Codex names it: a link of that name is not followed, nor one to the home directory, but
    a folder that CODEX_HOME names is. A document that Codex would refuse gives tables that it never looks at.
    """
    return {
        f"{path}:{_event_label(event)}:{number}:{place}": {"trusted_hash": _trust_hash(event, group, handler)}
        for event, number, place, group, entry in _iterate_entries(document)
        if (handler := _normalize_handler(event, entry, windows=windows)) is not None
        and (is_selected is bool or is_selected(str(entry.get("command"))))
    }


def _iterate_entries(document: Object) -> Iterator[tuple[str, int, int, Object, Object]]:
    table = document.get("hooks")
    for event, groups in table.items() if type(table) is dict else ():
        for number, group in enumerate(groups if event in EVENTS and type(groups) is list else ()):
            entries = group.get("hooks") if type(group) is dict else None
            for place, entry in enumerate(entries if type(entries) is list else ()):
                if type(entry) is dict:
                    yield event, number, place, group, entry


def _event_label(event: str) -> str:
    return re.sub(r"\B([A-Z])", r"_\1", event).lower()


def _normalize_handler(event: str, entry: Object, *, windows: bool) -> Object | None:
    """The handler as it is hashed; None if Codex does not run it."""
    fields: Object = {"type": entry.get("type"), "timeout": _timeout_s(event, entry.get("timeout"))}
    if type(entry.get("statusMessage")) is str:
        fields["statusMessage"] = entry["statusMessage"]
    if fields["type"] == "command":
        command = _command(entry, windows=windows)
        limit = entry.get("additionalContextLimit")
        context_limit = {"additionalContextLimit": limit} if event in _EVENTS_WITH_CONTEXT and limit not in (None, _DEFAULT_CONTEXT_TOKENS) else {}
        return fields | {"command": command, "async": entry.get("async") is True} | context_limit if command.strip() else None
    if fields["type"] == "mcp_tool" and event != "SessionEnd":
        return fields | {"server": entry.get("server"), "tool": entry.get("tool"), "input": _tool_input(entry)}
    return None


def _command(entry: Object, *, windows: bool) -> str:
    windows_command = entry.get("commandWindows", entry.get("command_windows"))
    command = windows_command if windows and type(windows_command) is str else entry.get("command")
    return command if type(command) is str else ""


def _timeout_s(event: str, value: Any) -> int:
    seconds = max(value, 1) if type(value) is int else _SHORT_DEFAULT_TIMEOUT_S if event in _SHORT_EVENTS else _DEFAULT_TIMEOUT_S
    return min(seconds, _SHORT_MAX_TIMEOUT_S) if event in _SHORT_EVENTS else seconds


def _tool_input(entry: Object) -> Any:
    return _wrap_numbers(entry.get("input", {}))


def _wrap_numbers(value: Any) -> Any:
    if type(value) is dict:
        return {key: _wrap_numbers(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_wrap_numbers(inner) for inner in value]
    return {_NUMBER_KEY: json.dumps(value)} if type(value) in (int, float) else value


def _trust_hash(event: str, group: Object, handler: Object) -> str:
    identity: Object = {"event_name": _event_label(event), "hooks": [handler]}
    if event not in _EVENTS_WITHOUT_MATCHER and type(group.get("matcher")) is str:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode(errors='surrogatepass')).hexdigest()}"
