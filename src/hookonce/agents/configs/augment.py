"""Auggie's configuration: groups as Claude Code has them, and a second set of events with flat lists of entries.

Auggie drops all hooks of a file for one event that it does not know, so none is ever written.
"""

from msgspec.structs import replace

from hookonce import invocation
from hookonce.agents.configs import grouped as _grouped
from hookonce.agents.configs.argv import join_arguments, strip_arguments, wrap_in_shell, unwrap_shell
from hookonce.agents.configs.augment_matcher import HALF_SEPARATOR, canonical_matcher, is_plain_half, is_mcp_half, native_matcher
from hookonce.agents.configs.breadth import matches_every_tool
from hookonce.agents.configs.entry import lost_gap, own_keys, placement_of, build_provider_data, warning_gap
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.matcher import ANY_MCP_PATTERN, from_native, to_native
from hookonce.agents.configs.misplaced import misplaced_hook_gaps
from hookonce.agents.configs.point import config_event_of, config_events
from hookonce.agents.configs.reach import fits_known_tools, reachability_gaps
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# event with a flat list → the canonical matcher that it stands for, None where it is about no tool
FLAT_EVENTS: dict[str, Json] = {
    "beforeShellExecution": "shell",
    "afterShellExecution": "shell",
    "beforeReadFile": "file_read",
    "afterFileEdit": ["file_write", "file_edit"],
    "beforeMCPExecution": {"pattern": ANY_MCP_PATTERN},
    "afterMCPExecution": {"pattern": ANY_MCP_PATTERN},
    "stop": None,
}
_STRUCTURAL_KEYS = frozenset({"type", "command", "args", "timeout", "matcher", "hooks"})
# What a door of ours wants to be told beyond the bare call: the prompt, and the server of an MCP tool.
_METADATA_REQUEST = {"metadata": {"includeConversationData": True, "includeMCPMetadata": True}}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, and what it cannot say."""

    def apply_shell(hook: Hook, native: str) -> str | None:
        direct = "args" in own_keys(agent, hook) or placement_of(agent, hook).get("direct") is True
        return wording(hook, native) if direct else wrap_in_shell(wording(hook, native))

    gaps: list[Gap] = []
    ready_hooks: list[tuple[int, Hook]] = []
    for index, original in hooks:
        hook, hook_gaps = _prepare_hook(agent, index, _sanitize_provider_data(agent, original), wording)
        gaps += hook_gaps
        ready_hooks += [] if any(gap.effect == "lost" for gap in hook_gaps) else [(index, hook)]
    document, hook_gaps = _grouped.render(agent, ready_hooks, apply_shell)
    return {"hooks": {native: _split_groups(native, groups) for native, groups in document["hooks"].items()}}, gaps + hook_gaps


def _prepare_hook(agent: Agent, index: int, hook: Hook, wording: Wording) -> tuple[Hook, list[Gap]]:
    placement = placement_of(agent, hook)
    native = placement.get("event") or config_event_of(agent, hook.event)
    if hook.handler.type != "command":
        return hook, [lost_gap(index, hook, "handler", f"{agent.title} has no handlers of type {hook.handler.type}")]
    if native is not None and config_events(agent).get(native) != hook.event:
        return hook, [lost_gap(index, hook, "event", f"{agent.title} would drop all hooks for an event {native}")]
    gaps: list[Gap] = []
    if hook.on_failure == "closed":
        gaps.append(warning_gap(agent, index, hook, "on_failure", f"{agent.title} goes on when a hook fails"))
    tools = hook.event in TOOL_EVENTS
    if tools and not matches_every_tool(hook.matcher) and "matcher" not in placement:
        text, losses = ("", []) if native in FLAT_EVENTS else native_matcher(agent, hook.matcher)
        if text is None:
            return hook, [lost_gap(index, hook, "matcher", f"{agent.title} could not read a pattern for these tools")]
        gaps += [] if native in FLAT_EVENTS else reachability_gaps(agent, index, hook, losses)
        placement = placement | {"matcher": text}
    keys, command = own_keys(agent, hook), hook.handler.command
    if "args" in placement and wording(hook, native or "") == command:
        keys, command = keys | {"args": placement["args"]}, strip_arguments(command, placement["args"])
    handler, data = replace(hook.handler, command=command), build_provider_data(agent, keys, placement)
    # Groups are written with the usual ways of matchers: to them it shall mean what it says.
    matcher = from_native(agent, placement["matcher"]) if tools and "matcher" in placement else hook.matcher
    return replace(hook, matcher=matcher, handler=handler, provider_data=data), gaps


def _sanitize_provider_data(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Auggie which Auggie can read, and which still means the same."""
    keys = {key: value for key, value in own_keys(agent, hook).items() if key not in _STRUCTURAL_KEYS}
    placement = placement_of(agent, hook)
    event, text, words, group = (placement.get(name) for name in ("event", "matcher", "args", "group"))
    valid_placement: Object = {name: True for name in ("joined", "direct") if placement.get(name) is True}
    call = invocation.parse_command(hook.handler.command or "")
    if call is not None and call.via is not None:
        valid_placement["group"] = _METADATA_REQUEST
    elif type(group) is dict:
        valid_placement["group"] = {key: value for key, value in group.items() if key not in _STRUCTURAL_KEYS}
    if type(event) is str and config_events(agent).get(event) == hook.event and FLAT_EVENTS.get(event, hook.matcher) == hook.matcher:
        valid_placement["event"] = event
    if type(text) is str and canonical_matcher(agent, hook.event, text) == hook.matcher:
        valid_placement["matcher"] = text
    if strip_arguments(hook.handler.command, words) is not None:
        valid_placement["args"] = words
    return replace(hook, provider_data=build_provider_data(agent, keys, valid_placement))


def _split_groups(native: str, groups: list[Object]) -> list[Object]:
    """The groups of an event as Auggie has them: flat, or two for a matcher of two halves."""
    if native in FLAT_EVENTS:
        return [{key: entry[key] for key in entry if key != "type"} for group in groups for entry in group["hooks"]]
    return [
        group | ({"matcher": half} if "matcher" in group else {})
        for group in groups
        for half in group.get("matcher", "").split(HALF_SEPARATOR)
    ]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; what cannot be understood is a gap."""
    events = document.get("hooks")
    groups_by_event = {native: _merge_groups(native, groups) for native, groups in events.items()} if type(events) is dict else {}
    hooks, gaps = _grouped.parse(agent, {"hooks": groups_by_event})
    gaps += misplaced_hook_gaps(agent, document)
    for hook in hooks:
        if hook.handler.command is None:
            where = f"$.hooks.{placement_of(agent, hook).get('event') or config_event_of(agent, hook.event)}"
            note = f"{where} has an entry without a command"
            gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=note))
    return [_interpret_hook(agent, hook) for hook in hooks if hook.handler.command is not None], gaps


def _merge_groups(native: str, groups: Json) -> Json:
    """The groups of an event with two halves of one matcher together, and flat entries in groups of their own."""
    items = groups if type(groups) is list else [groups]
    if native in FLAT_EVENTS:
        return [{"hooks": [entry]} for entry in items]
    merged_groups: list[Json] = []
    for group in items:
        text = group.get("matcher") if type(group) is dict else None
        first = merged_groups[-1].get("matcher") if merged_groups and type(merged_groups[-1]) is dict else None
        if is_plain_half(first) and is_mcp_half(text) and merged_groups[-1] == group | {"matcher": first}:
            merged_groups[-1] = group | {"matcher": f"{first}{HALF_SEPARATOR}{text}"}
        else:
            merged_groups.append(group)
    return merged_groups


def _interpret_hook(agent: Agent, hook: Hook) -> Hook:
    """A hook as its group gave it, with Auggie's own ways with matchers, arguments and shells understood."""
    keys, placement = own_keys(agent, hook), placement_of(agent, hook)
    native = placement.get("event") or config_event_of(agent, hook.event) or ""
    event = hook.event if native in config_events(agent) else f"vendor.{agent.name}.{native}"
    text = placement.pop("matcher") if "matcher" in placement else to_native(agent, hook.matcher)
    matcher = FLAT_EVENTS[native] if native in FLAT_EVENTS else text and canonical_matcher(agent, event, text)
    exact = bool(matcher) and native_matcher(agent, matcher) == (text, []) and fits_known_tools(agent, matcher)
    if text is not None and not exact:
        placement["matcher"] = text
    command = join_arguments(hook.handler.command, keys.get("args"))
    if command is not None:
        placement["args"] = keys.pop("args")
    else:
        command = unwrap_shell(hook.handler.command or "")
        if command == hook.handler.command != wrap_in_shell(command):
            placement["direct"] = True
    handler = replace(hook.handler, command=command)
    data = build_provider_data(agent, keys, placement)
    return replace(hook, event=event, matcher=matcher or None, handler=handler, provider_data=data)
