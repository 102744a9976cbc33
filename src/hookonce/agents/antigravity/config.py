"""Antigravity config codec: named sets of hooks, in groups at the events for tools and flat at all others.

The hooks of a set that is switched off are read as events of Antigravity alone: no conversion brings them to life.
"""

from functools import partial
from math import ceil

from msgspec.structs import replace

from hookonce.agents._config.entry import build_hook, has_required_key, read_entry, write_entry
from hookonce.agents._config.events import iterate_hooks, resolve_event
from hookonce.agents._config.gaps import handler_gap, has_loss, lost_gap, skipped_gap, warning_gap
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, MatcherDialect, write_matcher
from hookonce.agents._config.matchers.js_regex import McpPatterns, is_exactly_rendered, parse_pattern, render_patterns
from hookonce.agents._config.matchers.parts import matches_every_tool
from hookonce.agents._config.points import config_events, point_of
from hookonce.agents._config.provider_data import own_keys, own_matcher, placement_of, with_provider_data, without_keys
from hookonce.agents.antigravity.agent import MAX_TIMEOUT_S, MCP_GATEWAY_TOOL
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_DEFAULT_SET = "hookonce"  # the set of hooks that came from elsewhere
_MCP_LOSS = f"{MCP_GATEWAY_TOOL} is every tool of every MCP server"
_MCP_PATTERNS = McpPatterns(every=MCP_GATEWAY_TOOL, tools=lambda *_: MCP_GATEWAY_TOOL, loss=_MCP_LOSS)
_GROUPED_EVENTS = frozenset({"before_tool_execute", "after_tool_execute"})
_REQUIRED_KEYS = {"": "command", "command": "command", "prompt": "prompt"}  # type of handler → the key that it needs
_is_entry = partial(has_required_key, required_keys=_REQUIRED_KEYS)
_STRUCTURAL_KEYS = frozenset({"type", "command", "prompt", "model", "timeout", "matcher", "hooks"})


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, each in the set that it came from, and what it cannot say."""
    sets: Object = {}
    gaps: list[Gap] = []
    sanitized_hooks = [(index, _sanitize_provider_data(agent, hook)) for index, hook in hooks]
    for index, hook, native in iterate_hooks(agent, sanitized_hooks, gaps, _resolve_event):
        placement = placement_of(agent, hook)
        matcher, hook_gaps = _render_matcher(agent, index, hook)
        if has_loss(hook_gaps):
            gaps += hook_gaps
            continue
        entry, entry_gaps = _render_entry(agent, index, hook, native, wording)
        items = _find_or_add_set(agent, sets, placement).setdefault(native, [])
        kind = _canonical_event(agent, native)
        if kind not in _GROUPED_EVENTS and not (kind.startswith("vendor.") and "group" in placement):
            items.append(entry | matcher)
        elif items and "joined" in placement and items[-1].get("matcher") == matcher.get("matcher"):
            items[-1]["hooks"].append(entry)
            hook_gaps = []  # the group's matcher was spoken of before
        else:
            items.append(matcher | placement.get("group", {}) | {"hooks": [entry]})
        gaps += hook_gaps + entry_gaps
    return sets, gaps


def _find_or_add_set(agent: Agent, sets: Object, placement: Object) -> Object:
    """The set of a hook: of its name, and with its settings, so that nothing gets into one that is switched off."""
    name, settings = placement.get("set", _DEFAULT_SET), placement.get("settings", {})
    while name in sets and settings != {key: sets[name][key] for key in _setting_keys(agent, sets[name])}:
        name += "+"
    hook_set: Object = sets.setdefault(name, dict(settings))
    return hook_set


def _resolve_event(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    if hook.handler.type not in _REQUIRED_KEYS:
        return None, [handler_gap(agent, index, hook)]
    native, gaps = resolve_event(agent, index, hook)
    if native is not None and _effective_event(agent, native, placement_of(agent, hook)) != hook.event:
        return None, [lost_gap(index, hook, "event", f"{native} of {agent.title} is {_canonical_event(agent, native)}")]
    return native, gaps


def _canonical_event(agent: Agent, native: str) -> str:
    """The canonical event of a name in any case; other spellings are not known there."""
    names = {name.casefold(): kind for name, kind in config_events(agent).items()}
    return names.get(native.casefold()) or f"vendor.{agent.name}.{native}"


def _effective_event(agent: Agent, native: str, placement: Object) -> str:
    off = placement.get("settings", {}).get("enabled") is False
    return f"vendor.{agent.name}.{native}" if off else _canonical_event(agent, native)


def _render_entry(agent: Agent, index: int, hook: Hook, native: str, wording: Wording) -> tuple[Object, list[Gap]]:
    gaps: list[Gap] = []
    placement, seconds = placement_of(agent, hook), hook.handler.timeout
    if seconds is not None and seconds != (whole := min(ceil(seconds), MAX_TIMEOUT_S)):
        hook = replace(hook, handler=replace(hook.handler, timeout=whole))
        gaps.append(warning_gap(agent, index, hook, "timeout", f"{agent.title} counts whole seconds: {whole}"))
    if _needs_translator(agent, hook, native, wording):
        why = f"{agent.title} hears no exit code; only a decision in JSON refuses"
        gaps.append(warning_gap(agent, index, hook, "blocking", why, effect="observes"))
    entry = write_entry(agent, hook, native, wording)
    return ({"type": placement["type"]} | entry if "type" in placement else entry), gaps


def _needs_translator(agent: Agent, hook: Hook, native: str, wording: Wording) -> bool:
    own = hook.dialect == agent.name or placement_of(agent, hook) or hook.handler.type != "command"
    refuses = hook.blocking and point_of(agent, native).capabilities & {"prevent", "retry"}
    return bool(refuses and not own and wording(hook, native) == hook.handler.command)


def _write(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    texts, losses = render_patterns(agent, matcher, _MCP_PATTERNS)
    return "|".join(texts) if texts else None, losses


_DIALECT = MatcherDialect(_write, parse_pattern, "its matcher is about no tool at all")


def _render_matcher(agent: Agent, index: int, hook: Hook) -> tuple[Object, list[Gap]]:
    text = own_matcher(agent, hook)
    is_new = text is None and not matches_every_tool(hook.matcher)
    text, gaps = write_matcher(_DIALECT, agent, index, hook) if is_new else (text, [])
    return {} if text is None else {"matcher": text}, gaps


def _sanitize_provider_data(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Antigravity which Antigravity can read, and which still means the same."""
    own, placement = own_keys(agent, hook), placement_of(agent, hook)
    event, name, text = placement.get("event"), placement.get("set"), placement.get("matcher")
    valid_placement: Object = {"joined": True} if placement.get("joined") is True else {}
    valid_placement |= {"set": name} if type(name) is str else {}
    valid_placement |= {"event": event} if type(event) is str and _canonical_event(agent, event) == hook.event else {}
    if placement.get("type") in ("", "command") and hook.handler.type == "command":
        valid_placement["type"] = placement["type"]
    if type(group := placement.get("group")) is dict:
        valid_placement["group"] = without_keys(group, *_STRUCTURAL_KEYS)
    if type(settings := placement.get("settings")) is dict:
        valid_placement["settings"] = {key: settings[key] for key in _setting_keys(agent, settings)}
    if type(text) is str and _canonical_matcher(agent, hook.event, text) == hook.matcher:
        valid_placement["matcher"] = text
    is_endless = type(own.get("timeout")) is int and own["timeout"] == 0  # which is none of the manifest's timeouts
    keys = without_keys(own, *(_STRUCTURAL_KEYS - {"timeout"} if is_endless else _STRUCTURAL_KEYS))
    return with_provider_data(agent, hook, keys, valid_placement)


def _setting_keys(agent: Agent, members: Object) -> list[str]:
    """The members of a set that are no events: these are known by their names, and unknown ones by being lists."""
    others = [key for key in members if key != "enabled" and type(members[key]) is not list]
    names = [key for key in others if _canonical_event(agent, key).startswith("vendor.")]
    return [*names, "enabled"] if type(members.get("enabled")) is bool else names


def _canonical_matcher(agent: Agent, kind: str, text: str | None) -> Json:
    return None if text is None or kind not in TOOL_EVENTS else parse_pattern(agent, text)


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; an entry that cannot be understood is a gap, never dropped in silence."""
    hooks: list[Hook] = []
    gaps: list[Gap] = []
    for name, members in document.items():
        if type(members) is not dict:
            gaps.append(skipped_gap(f"$.{name}", "is no set of hooks"))
            continue
        settings = {key: members[key] for key in _setting_keys(agent, members)}
        placement: Object = {"set": name} | ({"settings": settings} if settings else {})
        for native in [key for key in members if key not in settings]:
            items = members[native] if type(members[native]) is list else [members[native]]
            for number, item in enumerate(items):
                item_hooks = _parse_item(agent, native, item, placement)
                hooks += item_hooks or []
                gaps += [skipped_gap(f"$.{name}.{native}[{number}]", "is no hook")] if item_hooks is None else []
    return hooks, gaps


def _parse_item(agent: Agent, native: str, item: Json, set_placement: Object) -> list[Hook] | None:
    """The hooks of one item of an event, which is a group of entries or a single one; None if it is neither."""
    if type(item) is not dict or type(item.get("matcher", "")) is not str:
        return None
    kind, text, entries = _canonical_event(agent, native), item.get("matcher"), item.get("hooks", [])
    if kind not in _GROUPED_EVENTS and not (kind.startswith("vendor.") and "hooks" in item):
        return [_parse_hook(agent, native, item, set_placement, text)] if _is_entry(item) else None
    if "hooks" not in item or type(entries) is not list or not all(map(_is_entry, entries)):
        return None  # an entry without a group is read by nobody at these events
    extra = without_keys(item, "matcher", "hooks")
    group = set_placement | ({"group": extra} if extra or kind not in _GROUPED_EVENTS else {})
    placements = [group, *[group | {"joined": True}] * len(entries)]
    pairs = zip(entries, placements, strict=False)
    return [_parse_hook(agent, native, entry, placement, text) for entry, placement in pairs]


def _parse_hook(agent: Agent, native: str, entry: Object, placement: Object, text: str | None) -> Hook:
    event, entry_type = _effective_event(agent, native, placement), entry.get("type")
    matcher = _canonical_matcher(agent, event, text)
    if text is not None and (matcher is None or not is_exactly_rendered(agent, matcher, _MCP_PATTERNS, text)):
        placement = placement | {"matcher": text}
    placement = placement | ({"type": entry_type} if entry_type in ("", "command") else {})
    fields = without_keys(entry, "matcher", *([] if entry_type == "prompt" else ["type"]))
    return replace(build_hook(agent, native, read_entry(agent, fields), matcher, placement), event=event)
