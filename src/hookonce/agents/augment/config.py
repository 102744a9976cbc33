"""Augment (Auggie) config codec: groups as Claude Code has them, and a second set of events with flat lists.

Auggie drops all hooks of a file for one event that it does not know, so none is ever written. A pattern fits all tools
but those of MCP servers, one behind `mcp:` only these: a matcher for both is two patterns here, one line each, which
stand in two groups of the file; that they belong together shows in the brackets around the second.
"""

import re
import shlex
from typing import Any

from msgspec.structs import replace

from hookonce.agents._config import groups
from hookonce.agents._config.gaps import handler_gap, has_loss, lost_gap, misplaced_hook_gaps, skipped_gap
from hookonce.agents._config.matchers import js_regex
from hookonce.agents._config.matchers.alternation import from_native, to_native
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, fits_known_tools, reachability_gaps
from hookonce.agents._config.matchers.js_regex import McpPatterns, escape_name, parse_pattern
from hookonce.agents._config.matchers.parts import ANY_MCP_PART, matches_every_tool, parts_of
from hookonce.agents._config.points import config_event_of, config_events
from hookonce.agents._config.provider_data import own_keys, placement_of, with_provider_data, without_keys
from hookonce.agents.cursor.config import TOOL_EVENT_MATCHERS
from hookonce.base import invocation
from hookonce.base.jsontext import as_dict
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# Where one of these stands in a command, the agent takes a shell.
_SHELL_SYNTAX = re.compile(r"[|&;><$`]|\A~")
# What needs a shell all the same: variables in front, words that are no programs, wildcards, brackets, several lines.
_SHELL_KEYWORDS = r"\.|source|cd|exec|eval|exit|export|set|trap|umask|if|for|while|until|case|!|\[\["
_NEEDS_SHELL = re.compile(rf"\A\s*(?:\w+=|(?:{_SHELL_KEYWORDS})(?:\s|\Z))|[*?()\n]")


def wrap_in_shell(command: str | None) -> str | None:
    """The command wrapped in `bash -c` if it needs a shell and would get none; our own client never does."""
    if command is None or _SHELL_SYNTAX.search(command) or not _NEEDS_SHELL.search(command):
        return command
    if invocation.parse_command(command) or invocation.parse_handler(command):
        return command
    # One word in quotes, of one kind where that can be: the agent may not know words made of two.
    word = f'"{command}"' if "'" in command and not re.search(r'["\\]', command) else shlex.quote(command)
    return f"bash -c {word}"


def unwrap_shell(command: str) -> str:
    """The command without the `bash -c` that `wrap_in_shell` put around it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and wrap_in_shell(words[2]) == command else command  # noqa: PLR2004  bash, -c, it


def join_arguments(command: str | None, words: Any) -> str | None:
    """A command and its separate arguments as one command line; None if they are no arguments."""
    if command is None or type(words) is not list or not all(type(word) is str for word in words):
        return None
    return " ".join([command, *map(shlex.quote, words)])


def strip_arguments(command: str | None, words: Any) -> str | None:
    """The command without these arguments at its end; None if it does not end in them."""
    tail = join_arguments("", words)
    return None if command is None or tail is None or not command.endswith(tail) else command.removesuffix(tail)


MCP_PREFIX = "mcp:"
HALF_SEPARATOR = "\n"
_NAME_REGEX = r"(?:\\.|[^\\()|])+"
_MCP_SERVER_REGEX = rf"\.\*_(?P<server>{_NAME_REGEX})\$"
_MCP_TOOL_REGEX = re.compile(rf"{_MCP_SERVER_REGEX}|\^(?P<tool>{_NAME_REGEX})\(\?:_(?P<of>{_NAME_REGEX})\)\$")


def _mcp_pattern(server: str, tool: str | None) -> str:
    """An MCP tool's name ends in its server's; the brackets tell where, to whoever reads it again."""
    name = escape_name(server)
    return f"{MCP_PREFIX}.*_{name}$" if tool is None else f"{MCP_PREFIX}^{escape_name(tool)}(?:_{name})$"


_MCP_PATTERNS = McpPatterns(every=f"{MCP_PREFIX}.*", tools=_mcp_pattern)


def native_matcher(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    """A matcher in Auggie's words, and what they cannot say; no words if nothing is left to be said."""
    texts, losses = js_regex.write_readable_patterns(agent, matcher, _MCP_PATTERNS, MCP_PREFIX)
    plain = "|".join(text for text in texts if not text.startswith(MCP_PREFIX))
    mcp = "|".join(text.removeprefix(MCP_PREFIX) for text in texts if text.startswith(MCP_PREFIX))
    if plain and mcp:
        return f"{plain}{HALF_SEPARATOR}{MCP_PREFIX}(?:{mcp})", losses
    return plain or (f"{MCP_PREFIX}*" if mcp == ".*" else MCP_PREFIX + mcp if mcp else None), losses


def canonical_matcher(agent: Agent, kind: str, text: str) -> Json:
    """The canonical matcher of a native one."""
    if kind not in TOOL_EVENTS:
        return None
    halves = [_parse_half(agent, half) for half in text.split(HALF_SEPARATOR)]
    parts = [part for half in halves for part in parts_of(half)]
    return None if None in halves else parts[0] if len(parts) == 1 else parts


def _parse_half(agent: Agent, half: str) -> Json:
    """Of MCP tools: all of them, those that a pattern names in our way, or else the pattern."""
    if not half.startswith(MCP_PREFIX):
        return parse_pattern(agent, half)
    text = half.removeprefix(MCP_PREFIX)
    tools = [_parse_mcp_tool(piece) for piece in js_regex.split_alternatives(text[3:-1] if is_mcp_half(half) else text)]
    return {"pattern": half} if None in tools else tools


def _parse_mcp_tool(text: str) -> Object | None:
    if text in {"*", ".*"}:
        return ANY_MCP_PART
    match = _MCP_TOOL_REGEX.fullmatch(text)
    if match is None:
        return None
    server, tool, of = (text and re.sub(r"\\(.)", r"\1", text) for text in match.group("server", "tool", "of"))
    return {"mcp": {"server": server} if server is not None else {"server": of, "tool": tool}}


def is_mcp_half(text: Json) -> bool:
    """Whether a matcher can be the half for MCP tools."""
    return type(text) is str and text.startswith(f"{MCP_PREFIX}(?:") and text.endswith(")")


# event with a flat list, as Cursor has them → the canonical matcher that it stands for, None if it is about no tool
FLAT_EVENTS: dict[str, Json] = TOOL_EVENT_MATCHERS | {"stop": None}
_STRUCTURAL_KEYS = frozenset({"type", "command", "args", "timeout", "matcher", "hooks"})
# What an entry of our own asks for beyond the bare call: the prompt, and the server of an MCP tool.
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
        ready_hooks += [] if has_loss(hook_gaps) else [(index, hook)]
    document, hook_gaps = groups.render(agent, ready_hooks, apply_shell)
    events = {native: _split_groups(native, items) for native, items in document["hooks"].items()}
    return {"hooks": events}, gaps + hook_gaps


def _prepare_hook(agent: Agent, index: int, hook: Hook, wording: Wording) -> tuple[Hook, list[Gap]]:
    placement = placement_of(agent, hook)
    native = placement.get("event") or config_event_of(agent, hook.event)
    if hook.handler.type != "command":
        return hook, [handler_gap(agent, index, hook)]
    if native is not None and config_events(agent).get(native) != hook.event:
        return hook, [lost_gap(index, hook, "event", f"{agent.title} would drop all hooks for an event {native}")]
    gaps: list[Gap] = []
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
    # Groups are written in the alternation dialect: to them the text shall mean what it says.
    matcher = from_native(agent, placement["matcher"]) if tools and "matcher" in placement else hook.matcher
    prepared_hook = replace(hook, matcher=matcher, handler=replace(hook.handler, command=command))
    return with_provider_data(agent, prepared_hook, keys, placement), gaps


def _sanitize_provider_data(agent: Agent, hook: Hook) -> Hook:
    """The hook with that of its data for Auggie which Auggie can read, and which still means the same."""
    placement = placement_of(agent, hook)
    event, text, words, group = (placement.get(name) for name in ("event", "matcher", "args", "group"))
    valid_placement: Object = {name: True for name in ("joined", "direct") if placement.get(name) is True}
    call = invocation.parse_command(hook.handler.command or "")
    if call is not None and call.via is not None:
        valid_placement["group"] = _METADATA_REQUEST
    elif type(group) is dict:
        valid_placement["group"] = without_keys(group, *_STRUCTURAL_KEYS)
    is_event = type(event) is str and config_events(agent).get(event) == hook.event
    # At an event with a flat list nothing can be refused: a hook that blocks goes to the general one.
    is_flat_hook = FLAT_EVENTS.get(str(event), hook.matcher) == hook.matcher and not hook.blocking
    if is_event and (is_flat_hook or event not in FLAT_EVENTS):
        valid_placement["event"] = event
    if type(text) is str and canonical_matcher(agent, hook.event, text) == hook.matcher:
        valid_placement["matcher"] = text
    if strip_arguments(hook.handler.command, words) is not None:
        valid_placement["args"] = words
    return with_provider_data(agent, hook, without_keys(own_keys(agent, hook), *_STRUCTURAL_KEYS), valid_placement)


def _split_groups(native: str, items: list[Object]) -> list[Object]:
    """The groups of an event as Auggie has them: flat, or two for a matcher of two halves."""
    if native in FLAT_EVENTS:
        return [without_keys(entry, "type") for group in items for entry in group["hooks"]]
    halves = [(group, half) for group in items for half in group.get("matcher", "").split(HALF_SEPARATOR)]
    return [group | ({"matcher": half} if "matcher" in group else {}) for group, half in halves]


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; what cannot be understood is a gap."""
    merged_events = {native: _merge_groups(native, items) for native, items in as_dict(document.get("hooks")).items()}
    hooks, gaps = groups.parse(agent, {"hooks": merged_events})
    gaps += misplaced_hook_gaps(agent, document)
    for hook in [hook for hook in hooks if not _has_command(hook)]:
        where = f"$.hooks.{placement_of(agent, hook).get('event') or config_event_of(agent, hook.event)}"
        gaps.append(skipped_gap(where, "has an entry without a command"))
    return [_interpret_hook(agent, hook) for hook in hooks if _has_command(hook)], gaps


def _has_command(hook: Hook) -> bool:
    return hook.handler.command is not None or hook.handler.type in invocation.HANDLER_TYPES


def _merge_groups(native: str, items: Json) -> Json:
    """The groups of an event with two halves of one matcher together, and flat entries in groups of their own."""
    if native in FLAT_EVENTS:
        return [{"hooks": [entry]} for entry in parts_of(items)]
    whole_groups: list[Json] = []
    for group in parts_of(items):
        text = group.get("matcher") if type(group) is dict else None
        first = whole_groups[-1].get("matcher") if whole_groups and type(whole_groups[-1]) is dict else None
        is_plain = type(first) is str and not first.startswith(MCP_PREFIX) and HALF_SEPARATOR not in first
        if is_plain and is_mcp_half(text) and whole_groups[-1] == group | {"matcher": first}:
            whole_groups[-1] = group | {"matcher": f"{first}{HALF_SEPARATOR}{text}"}
        else:
            whole_groups.append(group)
    return whole_groups


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
    elif hook.handler.command is not None:
        command = unwrap_shell(hook.handler.command or "")
        if command == hook.handler.command != wrap_in_shell(command):
            placement["direct"] = True
    native_hook = replace(hook, event=event, matcher=matcher or None, handler=replace(hook.handler, command=command))
    return with_provider_data(agent, native_hook, keys, placement)
