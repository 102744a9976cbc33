"""Cursor config codec: flat lists of entries; general events with a matcher, and events for one kind of tool.

Cursor drops a whole file for one event, type of handler or pattern that it does not know. So nothing is
written that it might not know, whatever a manifest's data for Cursor says.
"""

from re import compile as pattern

from msgspec.structs import replace

from hookonce.agents._config.entry import (
    ConfigEntry,
    build_hook,
    build_provider_data,
    lost_gap,
    misplaced_hook_gaps,
    no_tool_note,
    own_keys,
    placement_of,
    read_entry,
    resolve_event,
    warning_gap,
    write_entry,
)
from hookonce.agents._config.groups import TOOL_EVENTS
from hookonce.agents._config.matchers.canonical import ANY_MCP_PATTERN
from hookonce.agents._config.matchers.coverage import matches_every_tool
from hookonce.agents._config.matchers.js_regex import (
    McpPatterns,
    escape_name,
    is_exactly_rendered,
    is_js_regex,
    parse_pattern,
    render_patterns,
)
from hookonce.agents._config.matchers.reachability import reachability_gaps
from hookonce.agents._config.points import config_events, point_of
from hookonce.base import invocation
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# event about one kind of tool → the canonical matcher that it stands for
TOOL_EVENT_MATCHERS: dict[str, Json] = {
    "beforeShellExecution": "shell",
    "afterShellExecution": "shell",
    "beforeReadFile": "file_read",
    "afterFileEdit": ["file_write", "file_edit"],
    "beforeMCPExecution": {"pattern": ANY_MCP_PATTERN},
    "afterMCPExecution": {"pattern": ANY_MCP_PATTERN},
}
_MCP_PATTERNS = McpPatterns(
    every="MCP:.*",
    tools=lambda _, tool: f"MCP:{escape_name(tool)}" if tool else "MCP:.*",
    loss="Cursor tells the name of an MCP tool and not its server, so tools of other servers are meant as well",
)
_MCP_NAME_REGEX = pattern(r"\^?MCP:")
_REQUIRED_KEYS = {"command": "command", "prompt": "prompt"}  # type of handler → the key without which it is none
_STRUCTURAL_KEYS = frozenset({"type", "command", "prompt", "model", "timeout", "matcher"})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks: general events with a matcher, unless a hook came from a special one."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, original in hooks:
        hook = _sanitize_provider_data(agent, original)
        native, hook_gaps = _resolve_event(agent, index, hook)
        gaps += hook_gaps
        if native is None:
            continue
        matcher, hook_gaps = _render_matcher(agent, index, hook, native)
        gaps += hook_gaps
        if any(gap.effect == "lost" for gap in hook_gaps):
            continue
        entry = write_entry(agent, hook, native, wording)
        type_key: Object = {"type": "command"} if placement_of(agent, hook).get("typed") is True else {}
        events.setdefault(native, []).append(type_key | entry | ({} if matcher is None else {"matcher": matcher}))
    return {"version": 1, "hooks": events}, gaps


def _resolve_event(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    if hook.handler.type not in _REQUIRED_KEYS:
        return None, [lost_gap(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    native, gaps = resolve_event(agent, index, hook)
    if native is not None and config_events(agent).get(native) != hook.event:
        return None, [lost_gap(index, hook, "event", f"{agent.title} would drop the whole file for an event {native}")]
    return native, gaps


def _render_matcher(agent: Agent, index: int, hook: Hook, native: str) -> tuple[str | None, list[Gap]]:
    own_matcher = placement_of(agent, hook).get("matcher")
    if own_matcher is not None or matches_every_tool(hook.matcher) or native in TOOL_EVENT_MATCHERS:
        return own_matcher, []
    if hook.event not in TOOL_EVENTS:
        return None, [warning_gap(agent, index, hook, "matcher", no_tool_note(hook))]
    texts, losses = render_patterns(agent, hook.matcher, _MCP_PATTERNS)
    readable_texts = [text for text in texts if is_js_regex(text)]
    if not readable_texts or not is_js_regex("|".join(readable_texts)):
        return None, [lost_gap(index, hook, "matcher", f"{agent.title} could not read a pattern for these tools")]
    losses += [f"{agent.title} could not read {text}" for text in texts if text not in readable_texts]
    return "|".join(readable_texts), reachability_gaps(agent, index, hook, losses)


def _sanitize_provider_data(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Cursor which Cursor can read, and which still is about the same tools."""
    keys = {key: value for key, value in own_keys(agent, hook).items() if _is_valid_key(key, value)}
    placement = placement_of(agent, hook)
    event, text = placement.get("event"), placement.get("matcher")
    valid_placement: Object = {"typed": True} if placement.get("typed") is True else {}
    if type(event) is str and _can_keep_event(agent, hook, event, text):
        valid_placement["event"] = event
    native = valid_placement.get("event") or next(
        (name for name, kind in config_events(agent).items() if kind == hook.event), ""
    )
    if (
        type(text) is str
        and (text == "*" or is_js_regex(text))
        and _canonical_matcher(agent, native, text) == hook.matcher
    ):
        valid_placement["matcher"] = text
    others = {name: data for name, data in hook.provider_data.items() if name != agent.name}
    return replace(hook, provider_data=others | build_provider_data(agent, keys, valid_placement))


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
        return True  # our own door is meant for one event, whatever tools that is about
    meaning = _canonical_matcher(agent, event, text if type(text) is str else None)
    return hook.matcher == meaning and "input_rewrite" not in hook.capabilities


def _canonical_matcher(agent: Agent, native: str, text: str | None) -> Json:
    """The canonical matcher of an entry; at a shell event the text is about the command, which no matcher can say."""
    if native in TOOL_EVENT_MATCHERS and not (
        "MCP" in native and text and all(map(_MCP_NAME_REGEX.match, text.split("|")))
    ):
        return TOOL_EVENT_MATCHERS[native]
    return None if text is None or config_events(agent).get(native) not in TOOL_EVENTS else parse_pattern(agent, text)


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration, those at events that Cursor does not know as events of its own."""
    hooks: list[Hook] = []
    gaps = misplaced_hook_gaps(agent, document)
    events = document.get("hooks")
    for native, entries in events.items() if type(events) is dict else ():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            if _is_entry(entry):
                hooks.append(_parse_hook(agent, native, entry))
            else:
                where = f"$.hooks.{native}[{number}]"
                note = f"{where} is no hook that {agent.title} would take"
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=note))
    return hooks, gaps


def _is_entry(entry: Json) -> bool:
    if type(entry) is not dict or type(entry.get("matcher", "")) is not str:
        return False
    kind = entry.get("type", "command")
    main_value = entry.get(_REQUIRED_KEYS.get(kind, "")) if type(kind) is str else None
    return type(main_value) is str and main_value != ""


def _parse_hook(agent: Agent, native: str, entry: Object) -> Hook:
    text = entry.get("matcher")
    matcher = _canonical_matcher(agent, native, text)
    placement: Object = {"typed": True} if entry.get("type") == "command" else {}
    if text is not None and (
        native in TOOL_EVENT_MATCHERS or matcher is None or not is_exactly_rendered(agent, matcher, _MCP_PATTERNS, text)
    ):
        placement["matcher"] = text
    if (
        text is not None
        and native in TOOL_EVENT_MATCHERS
        and matcher == TOOL_EVENT_MATCHERS[native] != parse_pattern(agent, text)
    ):
        placement["narrows"] = True  # the text is about the command or the file, which no matcher can say
    config_entry = _demote_fail_closed(
        agent, native, read_entry(agent, {key: entry[key] for key in entry if key != "matcher"})
    )
    hook = build_hook(agent, native, config_entry, matcher, placement)
    return hook if native in config_events(agent) else replace(hook, event=f"vendor.{agent.name}.{native}")


def _demote_fail_closed(agent: Agent, native: str, entry: ConfigEntry) -> ConfigEntry:
    """A hook that prevents nothing cannot fail closed in a manifest; the switch stays where it was."""
    if not entry.closed or point_of(agent, native).capabilities & {"prevent", "retry"}:
        return entry
    return entry._replace(closed=False, rest=entry.rest | {"failClosed": True})
