"""Codex config codec, and the trust hashes of reviewed hooks: grouped hooks in JSON or TOML under a strict parser.

One value of a wrong type makes Codex leave out the whole file without a word, so all is validated before it is written.
It runs only hooks whose hash stands under `[hooks.state]` of the user's config.toml: the hash is over the hook with
defaults filled in, its key names the hook's place in the file. Agrees with `hooks/list` of Codex 0.166.0.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from math import ceil
from typing import Any

from msgspec.structs import replace

from hookonce.agents._config import groups
from hookonce.agents._config.gaps import lost_gap, misplaced_hook_gaps, skipped_gap, warning_gap
from hookonce.agents._config.groups import map_entries
from hookonce.agents._config.matchers.aliases import canonicalize_words, misread_word_gaps, restore_native_words
from hookonce.agents._config.provider_data import own_keys, placement_of, with_provider_data, without_keys
from hookonce.agents.codex.agent import EVENTS
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_SETTINGS = frozenset({"state", "managed_dir", "windows_managed_dir"})  # what TOML holds beside the events
_OTHER_HANDLER_TYPES = frozenset({"mcp_tool", "prompt", "agent"})  # what Codex's parser knows beside commands
# Further names that matchers may use for what Codex itself calls apply_patch and spawn_agent.
_WRITES: list[Json] = ["file_write", "file_edit"]
_ALIASES: dict[str, list[Json]] = {"Edit": _WRITES, "Write": _WRITES, "Agent": ["agent"]}
_WINDOWS_KEY, _WINDOWS_KEY_ALIAS = "commandWindows", "command_windows"
_VALUE_TYPES: dict[str, type] = {"timeout": int, "additionalContextLimit": int, "async": bool, "input": dict}
_VALUE_TYPES |= dict.fromkeys(("statusMessage", _WINDOWS_KEY, "server", "tool"), str)


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, with nothing in it that would cost the whole file."""
    accepted_hooks: list[tuple[int, Hook]] = []
    gaps: list[Gap] = []
    for index, hook in hooks:
        if (why := _explain_refusal(agent, hook)) is not None:
            gaps.append(lost_gap(index, hook, "handler", why))
            continue
        native_hook = restore_native_words(agent, _fit_handler(agent, index, hook, gaps), _word_meaning)
        accepted_hooks.append((index, native_hook))
    document, group_gaps = groups.render(agent, accepted_hooks, wording)
    gaps += group_gaps + misread_word_gaps(agent, accepted_hooks, _word_meaning)
    return {"hooks": map_entries(document["hooks"], _drop_wrong_types)}, gaps


def _explain_refusal(agent: Agent, hook: Hook) -> str | None:
    """Why Codex would refuse a file with this handler in it; what has no entry at all is not asked."""
    own = own_keys(agent, hook)
    if hook.handler.type == "command":
        return None if type(hook.handler.command) is str else "there is no command"
    kind = hook.handler.type.removeprefix(f"{agent.name}:")
    is_known = kind in _OTHER_HANDLER_TYPES and own.get("type") == kind
    if kind == "mcp_tool":
        is_known &= type(own.get("server")) is str and type(own.get("tool")) is str and _is_toml(own.get("input", {}))
    return None if is_known or not own else f"{agent.title} reads no file with a handler like this"


def _is_toml(value: Any) -> bool:
    """Whether TOML can say it: no null, and no number beyond 64 bits."""
    if type(value) in (dict, list):
        return all(map(_is_toml, value.values() if type(value) is dict else value))
    return value is not None and (type(value) is not int or -(2**63) <= value < 2**63)


def _fit_handler(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> Hook:
    handler = hook.handler
    if handler.timeout is not None and (whole := ceil(handler.timeout)) != handler.timeout:
        note = f"{agent.title} counts whole seconds: {handler.timeout:g} become {whole}"
        gaps.append(warning_gap(agent, index, hook, "timeout", note))
        handler = replace(handler, timeout=whole)
    other_systems = [name for name, text in handler.platform.items() if name != "windows" and text != handler.command]
    if other_systems:
        note = f"{agent.title} has another command for Windows only, none for {' and '.join(other_systems)}"
        gaps.append(warning_gap(agent, index, hook, "platform_commands", note))
    windows = {name: text for name, text in handler.platform.items() if name == "windows"}
    keys = without_keys(own_keys(agent, hook), _WINDOWS_KEY, _WINDOWS_KEY_ALIAS)
    fitting_hook = replace(hook, handler=replace(handler, platform=windows))
    return with_provider_data(agent, fitting_hook, keys, placement_of(agent, hook))


def _drop_wrong_types(entry: Object) -> Object:
    """The entry without values of a wrong type; of the commands, the one for Windows under its one key."""
    windows = entry.get(_WINDOWS_KEY)
    if type(windows) is dict:
        entry = entry | {_WINDOWS_KEY: windows.get("windows")}
    return {key: value for key, value in entry.items() if key != _WINDOWS_KEY_ALIAS and _has_right_type(key, value)}


def _has_right_type(key: str, value: Any) -> bool:
    if value is None:
        return key != "async"
    if _VALUE_TYPES.get(key) is int:
        return type(value) is int and value >= 0
    return key not in _VALUE_TYPES or type(value) is _VALUE_TYPES[key]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a hooks.json, of a config.toml or of a requirements.toml."""
    table = document.get("hooks")
    events = without_keys(table, *_SETTINGS) if type(table) is dict else {}
    hooks, gaps = groups.parse(agent, {"hooks": map_entries(events, _read_windows_command)})
    gaps += misplaced_hook_gaps(agent, document)
    if "notify" in document:
        why = "gets the end of a turn as its last argument, and is not a hook"
        gaps.append(skipped_gap("$.notify", why, "the program under notify", "event"))
    return [canonicalize_words(agent, hook, _word_meaning) for hook in hooks], gaps


def _word_meaning(word: str) -> list[Json]:
    return _ALIASES.get(word, [word])


def _read_windows_command(entry: Object) -> Object:
    text = entry.get(_WINDOWS_KEY, entry.get(_WINDOWS_KEY_ALIAS))
    if type(text) not in (str, dict):
        return entry
    rest = without_keys(entry, _WINDOWS_KEY, _WINDOWS_KEY_ALIAS)
    return rest | {_WINDOWS_KEY: {"windows": text}} if type(text) is str else rest


_DEFAULT_TIMEOUT_S = 600
_SHORT_DEFAULT_TIMEOUT_S, _SHORT_MAX_TIMEOUT_S = 1, 3  # at the events at which time is short
_SHORT_EVENTS = frozenset({"SessionEnd", "Interrupt"})
_EVENTS_WITHOUT_MATCHER = frozenset({"UserPromptSubmit", "Stop", "Interrupt", "PreModelRequest", "PostModelRequest"})
_EVENTS_WITH_CONTEXT = frozenset({"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"})
_DEFAULT_CONTEXT_TOKENS = 2500  # tokens of context, if an entry says nothing else
_NUMBER_KEY = "$serde_json::private::Number"  # how numbers in a tool's input come out of Codex's own library


def trust_entries(
    path: str, document: Object, is_selected: Callable[[str], bool] = bool, *, windows: bool = os.name == "nt"
) -> dict[str, Object]:
    """The table of each wanted command of a configuration file, by its key: it was reviewed as it is now.

    `path` is the file as Codex names it: links are not followed, but a folder that CODEX_HOME names is.
    """
    return {
        f"{path}:{_event_label(event)}:{number}:{place}": {"trusted_hash": _trust_hash(event, group, handler)}
        for event, number, place, group, entry in _iterate_entries(document)
        if (handler := _normalize_handler(event, entry, windows=windows)) is not None
        and (is_selected is bool or is_selected(str(entry.get("command"))))
    }


def _iterate_entries(document: Object) -> Iterator[tuple[str, int, int, Object, Object]]:
    table = document.get("hooks")
    for event, items in table.items() if type(table) is dict else ():
        for number, group in enumerate(items if event in EVENTS and type(items) is list else ()):
            entries = group.get("hooks") if type(group) is dict else None
            for place, entry in enumerate(entries if type(entries) is list else ()):
                if type(entry) is dict:
                    yield event, number, place, group, entry


def _event_label(event: str) -> str:
    return re.sub(r"\B([A-Z])", r"_\1", event).lower()


def _normalize_handler(event: str, entry: Object, *, windows: bool) -> Object | None:
    fields: Object = {"type": entry.get("type"), "timeout": _timeout_s(event, entry.get("timeout"))}
    if type(entry.get("statusMessage")) is str:
        fields["statusMessage"] = entry["statusMessage"]
    if fields["type"] == "command":
        windows_command = entry.get(_WINDOWS_KEY, entry.get(_WINDOWS_KEY_ALIAS)) if windows else None
        command = windows_command if type(windows_command) is str else entry.get("command")
        command, limit = command if type(command) is str else "", entry.get("additionalContextLimit")
        fields |= {"command": command, "async": entry.get("async") is True}
        if event in _EVENTS_WITH_CONTEXT and limit not in (None, _DEFAULT_CONTEXT_TOKENS):
            fields["additionalContextLimit"] = limit
        return fields if command.strip() else None
    if fields["type"] == "mcp_tool" and event != "SessionEnd":
        tool_input = _wrap_numbers(entry.get("input", {}))
        return fields | {"server": entry.get("server"), "tool": entry.get("tool"), "input": tool_input}
    return None


def _timeout_s(event: str, value: Any) -> int:
    is_short = event in _SHORT_EVENTS
    seconds = max(value, 1) if type(value) is int else _SHORT_DEFAULT_TIMEOUT_S if is_short else _DEFAULT_TIMEOUT_S
    return min(seconds, _SHORT_MAX_TIMEOUT_S) if is_short else seconds


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
