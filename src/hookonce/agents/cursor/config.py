"""Cursor config codec: flat lists of entries; general events with a matcher, and events for one kind of tool.

Cursor drops a whole file for one event, type of handler or pattern that it does not know: no such thing is written.
"""

import re

from msgspec.structs import replace

from hookonce.agents._config.entry import build_hook, has_required_key, iterate_entries, read_entry, write_entry
from hookonce.agents._config.events import iterate_hooks, resolve_event
from hookonce.agents._config.gaps import handler_gap, has_loss, lost_gap, misplaced_hook_gaps, skipped_gap
from hookonce.agents._config.matchers import js_regex
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, MatcherDialect, write_matcher
from hookonce.agents._config.matchers.js_regex import McpPatterns, escape_name, is_js_regex, parse_pattern
from hookonce.agents._config.matchers.parts import ANY_MCP_PART, matches_every_tool
from hookonce.agents._config.points import config_event_of, config_events
from hookonce.agents._config.provider_data import own_keys, placement_of, with_provider_data, without_keys
from hookonce.base import invocation
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# event about one kind of tool → the canonical matcher that it stands for
TOOL_EVENT_MATCHERS: dict[str, Json] = {
    "beforeShellExecution": "shell",
    "afterShellExecution": "shell",
    "beforeReadFile": "file_read",
    "afterFileEdit": ["file_write", "file_edit"],
    "beforeMCPExecution": ANY_MCP_PART,
    "afterMCPExecution": ANY_MCP_PART,
}
_MCP_PATTERNS = McpPatterns(
    every="MCP:.*",
    tools=lambda _, tool: f"MCP:{escape_name(tool)}" if tool else "MCP:.*",
    loss="Cursor tells the name of an MCP tool and not its server, so tools of other servers are meant as well",
)
_MCP_NAME_REGEX = re.compile(r"\^?MCP:")
_REQUIRED_KEYS = {"command": "command", "prompt": "prompt"}  # type of handler → the key without which it is none
_STRUCTURAL_KEYS = frozenset({"type", "command", "prompt", "model", "timeout", "matcher"})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks: general events with a matcher, unless a hook came from a special one."""
    events: Object = {}
    gaps: list[Gap] = []
    sanitized_hooks = [(index, _sanitize_provider_data(agent, hook)) for index, hook in hooks]
    for index, hook, native in iterate_hooks(agent, sanitized_hooks, gaps, _resolve_event):
        matcher, hook_gaps = _render_matcher(agent, index, hook, native)
        gaps += hook_gaps
        if has_loss(hook_gaps):
            continue
        entry = write_entry(agent, hook, native, wording)
        type_key: Object = {"type": "command"} if placement_of(agent, hook).get("typed") is True else {}
        events.setdefault(native, []).append(type_key | entry | ({} if matcher is None else {"matcher": matcher}))
    return {"version": 1, "hooks": events}, gaps


def _resolve_event(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    if hook.handler.type not in _REQUIRED_KEYS:
        return None, [handler_gap(agent, index, hook)]
    native, gaps = resolve_event(agent, index, hook)
    if native is not None and config_events(agent).get(native) != hook.event:
        return None, [lost_gap(index, hook, "event", f"{agent.title} would drop the whole file for an event {native}")]
    return native, gaps


def _write(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    texts, losses = js_regex.write_readable_patterns(agent, matcher, _MCP_PATTERNS)
    return ("|".join(texts) if texts and is_js_regex("|".join(texts)) else None), losses


_DIALECT = MatcherDialect(_write, parse_pattern, "Cursor could not read a pattern for these tools")


def _render_matcher(agent: Agent, index: int, hook: Hook, native: str) -> tuple[str | None, list[Gap]]:
    text = placement_of(agent, hook).get("matcher")
    if text is not None or matches_every_tool(hook.matcher) or native in TOOL_EVENT_MATCHERS:
        return text, []
    return write_matcher(_DIALECT, agent, index, hook)


def _sanitize_provider_data(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Cursor which Cursor can read, and which still is about the same tools."""
    keys = {key: value for key, value in own_keys(agent, hook).items() if _is_valid_key(key, value)}
    placement = placement_of(agent, hook)
    event, text = placement.get("event"), placement.get("matcher")
    valid_placement: Object = {"typed": True} if placement.get("typed") is True else {}
    if type(event) is str and _can_keep_event(agent, hook, event, text):
        valid_placement["event"] = event
    native = valid_placement.get("event") or config_event_of(agent, hook.event) or ""
    is_readable = type(text) is str and (text == "*" or is_js_regex(text))
    if is_readable and _canonical_matcher(agent, native, text) == hook.matcher:
        valid_placement["matcher"] = text
    return with_provider_data(agent, hook, keys, valid_placement)


def _is_valid_key(key: str, value: Json) -> bool:
    if key == "failClosed":
        return type(value) is bool
    if key == "loop_limit":
        return value is None or (type(value) is int and value > 0)
    return key not in _STRUCTURAL_KEYS


def _can_keep_event(agent: Agent, hook: Hook, event: str, text: Json) -> bool:
    """Whether a hook may go back to the event that it came from: the tools are the same, and nothing is rewritten."""
    if config_events(agent).get(event) != hook.event:
        return False
    call = invocation.parse_command(hook.handler.command or "")
    if event not in TOOL_EVENT_MATCHERS or (call is not None and call.via is not None):
        return True  # an entry of our own is installed for one event, whatever tools that is about
    meaning = _canonical_matcher(agent, event, text if type(text) is str else None)
    return hook.matcher == meaning and "input_rewrite" not in hook.degradation


def _canonical_matcher(agent: Agent, native: str, text: str | None) -> Json:
    """The canonical matcher of an entry; at a shell event the text is about the command, which no matcher can say."""
    names_mcp_tools = "MCP" in native and text and all(map(_MCP_NAME_REGEX.match, text.split("|")))
    if native in TOOL_EVENT_MATCHERS and not names_mcp_tools:
        return TOOL_EVENT_MATCHERS[native]
    return None if text is None or config_events(agent).get(native) not in TOOL_EVENTS else parse_pattern(agent, text)


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration, those at events that Cursor does not know as events of its own."""
    hooks: list[Hook] = []
    gaps = misplaced_hook_gaps(agent, document)
    for native, where, entry in iterate_entries(document.get("hooks")):
        if has_required_key(entry, _REQUIRED_KEYS) and type(entry.get("matcher", "")) is str:
            hooks.append(_parse_hook(agent, native, entry))
        else:
            gaps.append(skipped_gap(where, f"is no hook that {agent.title} would take"))
    return hooks, gaps


def _parse_hook(agent: Agent, native: str, entry: Object) -> Hook:
    text, is_single = entry.get("matcher"), native in TOOL_EVENT_MATCHERS
    matcher = _canonical_matcher(agent, native, text)
    placement: Object = {"typed": True} if entry.get("type") == "command" else {}
    if text is not None:
        is_exact = matcher is not None and js_regex.is_exactly_rendered(agent, matcher, _MCP_PATTERNS, text)
        placement |= {"matcher": text} if is_single or not is_exact else {}
        if is_single and matcher == TOOL_EVENT_MATCHERS[native] != parse_pattern(agent, text):
            placement["narrows"] = True  # the text is about the command or the file, which no matcher can say
    hook = build_hook(agent, native, read_entry(agent, without_keys(entry, "matcher")), matcher, placement)
    return hook if native in config_events(agent) else replace(hook, event=f"vendor.{agent.name}.{native}")
