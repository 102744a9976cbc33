"""Codex's configuration: groups as Claude Code has them, as JSON or within TOML, and a parser that forgives nothing.

A value of a wrong type, or a handler of a type that it does not know, makes Codex leave out the whole file
without a word. So whatever a hook brings along is looked at before it is written.
"""

from math import ceil
from typing import Any

from msgspec.structs import replace

from hookonce.agents._family import EVENTS as FAMILY
from hookonce.agents._family import pick
from hookonce.agents.configs import grouped as _grouped
from hookonce.agents.configs.entry import lost, own_keys, warned
from hookonce.agents.configs.mapped import mapped
from hookonce.agents.configs.misplaced import misplaced
from hookonce.agents.configs.words import as_written, misread, understood
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

EVENTS = pick(
    FAMILY,
    *("PreToolUse", "PostToolUse", "PermissionRequest", "UserPromptSubmit", "SessionStart", "SessionEnd"),
    *("Stop", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact"),
) | {"Interrupt": "interrupt", "PreModelRequest": "before_model", "PostModelRequest": "after_model"}

_SETTINGS = frozenset({"state", "managed_dir", "windows_managed_dir"})  # what TOML holds beside the events
_KINDS = frozenset({"mcp_tool", "prompt", "agent"})  # what Codex's parser knows beside commands
# Further names that matchers may use for what Codex itself calls apply_patch and spawn_agent.
_ALIASES: dict[str, list[Json]] = {
    "Edit": ["file_write", "file_edit"],
    "Write": ["file_write", "file_edit"],
    "Agent": ["agent"],
}
_WINDOWS, _ALIAS = "commandWindows", "command_windows"
_TYPES: dict[str, type] = {
    "timeout": int,
    "async": bool,
    "statusMessage": str,
    "additionalContextLimit": int,
    _WINDOWS: str,
    "server": str,
    "tool": str,
    "input": dict,
}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, with nothing in it that would cost the whole file."""
    kept: list[tuple[int, Hook]] = []
    gaps: list[Gap] = []
    for index, hook in hooks:
        why = _unknown(agent, hook)
        if why is not None:
            gaps.append(lost(index, hook, "handler", why))
        else:
            kept.append((index, as_written(agent, _fitted(agent, index, hook, gaps), _meaning)))
    made, unsaid = _grouped.render(agent, kept, wording)
    return {"hooks": mapped(made["hooks"], _strict)}, gaps + unsaid + misread(agent, kept, _meaning)


def _unknown(agent: Agent, hook: Hook) -> str | None:
    """Why Codex would refuse a file with this handler in it; what has no entry at all is not asked."""
    own = own_keys(agent, hook)
    if hook.handler.type == "command":
        return None if type(hook.handler.command) is str else "there is no command"
    kind = hook.handler.type.removeprefix(f"{agent.name}:")
    if not own or (kind in _KINDS and own.get("type") == kind and _is_entry(kind, own)):
        return None
    return f"{agent.title} reads no file with a handler like this"


def _is_entry(kind: str, own: Object) -> bool:
    if kind != "mcp_tool":
        return True
    return type(own.get("server")) is str and type(own.get("tool")) is str and _is_toml(own.get("input", {}))


def _is_toml(value: Any) -> bool:
    """Whether TOML can say it: no null, and no number beyond 64 bits."""
    if type(value) is dict:
        return all(map(_is_toml, value.values()))
    if type(value) is list:
        return all(map(_is_toml, value))
    return value is not None and (type(value) is not int or -(2**63) <= value < 2**63)


def _fitted(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> Hook:
    """The hook with a timeout and commands as Codex can hold them."""
    handler = hook.handler
    if handler.timeout is not None and (whole := ceil(handler.timeout)) != handler.timeout:
        told = f"{agent.title} counts whole seconds: {handler.timeout:g} become {whole}"
        gaps.append(warned(agent, index, hook, "timeout", told))
        handler = replace(handler, timeout=whole)
    odd = [name for name, text in handler.platform.items() if name != "windows" and text != handler.command]
    if odd:
        told = f"{agent.title} has another command for Windows only, none for {' and '.join(odd)}"
        gaps.append(warned(agent, index, hook, "platform_commands", told))
    windows = {name: text for name, text in handler.platform.items() if name == "windows"}
    data = {
        name: value for name, value in hook.provider_data.get(agent.name, {}).items() if name not in (_WINDOWS, _ALIAS)
    }
    return replace(
        hook, handler=replace(handler, platform=windows), provider_data=hook.provider_data | {agent.name: data}
    )


def _strict(entry: Object) -> Object:
    """The entry without values of a wrong type; of the commands, the one for Windows under its one key."""
    windows = entry.get(_WINDOWS)
    if type(windows) is dict:
        entry = entry | {_WINDOWS: windows.get("windows")}
    return {key: value for key, value in entry.items() if key != _ALIAS and _is_right(key, value)}


def _is_right(key: str, value: Any) -> bool:
    if value is None:
        return key != "async"
    if _TYPES.get(key) is int:
        return type(value) is int and value >= 0
    return key not in _TYPES or type(value) is _TYPES[key]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a hooks.json, of a config.toml or of a requirements.toml."""
    table = document.get("hooks")
    events = {key: value for key, value in table.items() if key not in _SETTINGS} if type(table) is dict else {}
    hooks, gaps = _grouped.parse(agent, {"hooks": mapped(events, _opened)})
    gaps += misplaced(agent, document)
    if "notify" in document:
        told = "the program under notify is told of a turn's end by its last argument, and is no hook"
        gaps.append(Gap(where="$.notify", capability="event", strategy="kept out", effect="lost", note=told))
    return [understood(agent, hook, _meaning) for hook in hooks], gaps


def _meaning(word: str) -> list[Json]:
    return _ALIASES.get(word, [word])


def _opened(entry: Object) -> Object:
    """The entry with its command for Windows as a handler holds it."""
    text = entry.get(_WINDOWS, entry.get(_ALIAS))
    if type(text) not in (str, dict):
        return entry
    rest = {key: value for key, value in entry.items() if key not in (_WINDOWS, _ALIAS)}
    return rest | {_WINDOWS: {"windows": text}} if type(text) is str else rest
