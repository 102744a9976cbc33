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

_USUAL, _BRIEF, _CLAMP = 600, 1, 3  # seconds: by default, by default where time is short, and at most there
_SHORT = frozenset({"SessionEnd", "Interrupt"})
_UNMATCHED = frozenset({"UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest", "PostModelRequest"})
_HEEDED = frozenset({"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"})
_LIMIT = 2500  # tokens of context, if an entry says nothing else
_NUMBER = "$serde_json::private::Number"  # how numbers in a tool's input come out of Codex's own library


def trust_entries(
    path: str, document: Object, wanted: Callable[[str], bool] = bool, *, windows: bool = os.name == "nt"
) -> dict[str, Object]:
    """The table of each wanted command of a configuration file, by its key: it was reviewed as it is now.

    `path` is the file as Codex names it: a link of that name is not followed, nor one to the home directory, but
    a folder that CODEX_HOME names is. A document that Codex would refuse gives tables that it never looks at.
    """
    return {
        f"{path}:{_label(event)}:{number}:{place}": {"trusted_hash": _hash(event, group, known)}
        for event, number, place, group, entry in _entries(document)
        if (known := _handler(event, entry, windows=windows)) is not None
        and (wanted is bool or wanted(str(entry.get("command"))))
    }


def _entries(document: Object) -> Iterator[tuple[str, int, int, Object, Object]]:
    table = document.get("hooks")
    for event, groups in table.items() if type(table) is dict else ():
        for number, group in enumerate(groups if event in EVENTS and type(groups) is list else ()):
            entries = group.get("hooks") if type(group) is dict else None
            for place, entry in enumerate(entries if type(entries) is list else ()):
                if type(entry) is dict:
                    yield event, number, place, group, entry


def _label(event: str) -> str:
    return re.sub(r"\B([A-Z])", r"_\1", event).lower()


def _handler(event: str, entry: Object, *, windows: bool) -> Object | None:
    """The handler as it is hashed; None if Codex does not run it."""
    known: Object = {"type": entry.get("type"), "timeout": _timeout(event, entry.get("timeout"))}
    if type(entry.get("statusMessage")) is str:
        known["statusMessage"] = entry["statusMessage"]
    if known["type"] == "command":
        command = _command(entry, windows=windows)
        limit = entry.get("additionalContextLimit")
        heeded = {"additionalContextLimit": limit} if event in _HEEDED and limit not in (None, _LIMIT) else {}
        return known | {"command": command, "async": entry.get("async") is True} | heeded if command.strip() else None
    if known["type"] == "mcp_tool" and event != "SessionEnd":
        return known | {"server": entry.get("server"), "tool": entry.get("tool"), "input": _input(entry)}
    return None


def _command(entry: Object, *, windows: bool) -> str:
    other = entry.get("commandWindows", entry.get("command_windows"))
    chosen = other if windows and type(other) is str else entry.get("command")
    return chosen if type(chosen) is str else ""


def _timeout(event: str, told: Any) -> int:
    seconds = max(told, 1) if type(told) is int else _BRIEF if event in _SHORT else _USUAL
    return min(seconds, _CLAMP) if event in _SHORT else seconds


def _input(entry: Object) -> Any:
    return _numbered(entry.get("input", {}))


def _numbered(value: Any) -> Any:
    if type(value) is dict:
        return {key: _numbered(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_numbered(inner) for inner in value]
    return {_NUMBER: json.dumps(value)} if type(value) in (int, float) else value


def _hash(event: str, group: Object, handler: Object) -> str:
    known: Object = {"event_name": _label(event), "hooks": [handler]}
    if event not in _UNMATCHED and type(group.get("matcher")) is str:
        known["matcher"] = group["matcher"]
    text = json.dumps(known, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode(errors='surrogatepass')).hexdigest()}"
