"""Conversion of hooks between agents: parse, degrade to what the target can do, render, parse again, compare.

A rendered configuration that does not read back as the same hooks, events, handlers, commands and meaning of
matchers is an error, and nothing is written.
"""

from collections import Counter

from hookonce.agents import config_of
from hookonce.errors import HookonceError
from hookonce.manifest.matcher import MatchSubject, matches
from hookonce.model import Agent, Gap, Hook, Json, Object


class RoundTripError(HookonceError):
    """The output would not have said what the input says; nothing was written."""


HookShape = tuple[str, str, str]


def verify_round_trip(target: Agent, document: Object, hooks: list[tuple[int, Hook]], gaps: list[Gap]) -> list[Hook]:
    """Compare the hooks with what the target will parse, and return that; what a gap names may differ."""
    lost_paths = {gap.where for gap in gaps if gap.effect == "lost"}
    matcher_gap_paths = {gap.where.removesuffix(".matcher") for gap in gaps if gap.capability == "matcher"}
    expected = [(f"$.hooks[{index}]", hook) for index, hook in hooks if f"$.hooks[{index}]" not in lost_paths]
    parsed_hooks, parse_gaps = config_of(target).parse(target, document)
    has_losses = any(gap.effect == "lost" for gap in parse_gaps)
    if has_losses or Counter(_hook_shape(hook) for _, hook in expected) != Counter(map(_hook_shape, parsed_hooks)):
        raise _round_trip_error(target)
    meanings = {(*_hook_shape(hook), _matcher_meaning(target, hook.matcher)) for hook in parsed_hooks}
    for where, hook in expected:
        if where not in matcher_gap_paths and (*_hook_shape(hook), _matcher_meaning(target, hook.matcher)) not in meanings:
            raise _round_trip_error(target)
    return parsed_hooks


def _round_trip_error(target: Agent) -> RoundTripError:
    return RoundTripError(f"the configuration for {target.title} does not read back as what was meant; this is our fault")


def _hook_shape(hook: Hook) -> HookShape:
    handler = hook.handler
    return hook.event, handler.type, handler.command or handler.url or handler.prompt or ""


def _matcher_meaning(target: Agent, matcher: Json) -> frozenset[str]:
    """The tools of the target that a matcher is about, in canonical words, and the MCP tools that it names."""
    parts = matcher if type(matcher) is list else [matcher]
    mcp_tools = {
        f"mcp:{part['mcp'].get('server')}/{part['mcp'].get('tool', 'any')}"
        for part in parts
        if type(part) is dict and type(part.get("mcp")) is dict
    }
    # An MCP tool that some pattern is about anyway adds nothing, and None is about all of them.
    mcp_tools = {name for name in mcp_tools if not _matches_tool(parts, name, name)}
    return frozenset(mcp_tools) | {name for native, name in target.tools.items() if _matches_tool(parts, name, native)}


def _matches_tool(parts: list[Json], name: str, native: str) -> bool:
    """A pattern that is none of ours, such as one with a look-ahead, is only ever carried as it is."""
    try:
        return native in parts or matches(parts if parts != [None] else None, MatchSubject(name, name))
    except ValueError:
        return False
