"""Tool lists: the native tools that a matcher fits, for generated code that has to filter by itself."""

import re

from hookonce.agents._config.matchers.alternation import from_native
from hookonce.agents._config.matchers.parts import (
    PLACEHOLDER,
    canonical_coverage,
    distinct_parts,
    explain_ambiguity,
    explain_coverage_gap,
    fits_name,
    matches_every_tool,
    parts_of,
    pattern_of,
    tool_meanings,
)
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

WILDCARD = "*"  # in a fitting name: whatever tool of an MCP server
_MAX_CUT_NAME_CHARS = 32  # of a name that was cut for its length, what every tool of the server has in common
# What every engine reads alike and in short time: few repeats and none of groups, no named classes, no flags.
_MAX_REPEATS = 3
_PORTABLE_PATTERN = lazy_pattern(
    r"(?:\((?:\?:)?|\)(?![*+?{])|[|^$]|(?:[\w:/@ -]|\\[./-]|\.|\[\^?[\w-]+\])[*+?]?)*", re.ASCII
)


def fitting_tools(agent: Agent, matcher: Json) -> list[Json] | None:
    """The native names that a matcher fits, some with a star, and its plain patterns; None for every tool."""
    if matches_every_tool(matcher):
        return None
    return distinct_parts(tool for part in parts_of(matcher) for tool in _part_tools(agent, part))


def _part_tools(agent: Agent, part: Json) -> list[Json]:
    if type(part) is str:
        return _tools_for_name(agent, part)
    if "mcp" in part:
        return [_mcp_tool_name(agent, part["mcp"]["server"], part["mcp"].get("tool"))]
    pattern = part["pattern"]
    meanings = _plain_tool_meanings(agent).items()
    tools: list[Json] = [name for name, kinds in meanings if any(fits_name(pattern, word) for word in (name, *kinds))]
    if canonical_coverage(pattern).some_mcp:
        tools.append(_mcp_tool_name(agent, PLACEHOLDER, None).replace(PLACEHOLDER, WILDCARD))
    return [*tools, {"pattern": pattern}] if _is_portable_pattern(pattern) else tools


def _tools_for_name(agent: Agent, name: str) -> list[Json]:
    """All tools that do what a canonical name says; any other name stands for itself."""
    if name.startswith("mcp:") and "/" in name:
        server, _, tool = name.removeprefix("mcp:").partition("/")
        return [_mcp_tool_name(agent, server, tool)]
    own: list[Json] = [native for native, meanings in _plain_tool_meanings(agent).items() if name in meanings]
    return own or ([name] if WILDCARD not in name else [])


def _plain_tool_meanings(agent: Agent) -> dict[str, list[str]]:
    return {native: meanings for native, meanings in tool_meanings(agent).items() if WILDCARD not in native}


def _mcp_tool_name(agent: Agent, server: str, tool: str | None) -> str:
    name = agent.mcp_name or "mcp__{}__{}".format
    if tool:
        return name(server, tool)
    whole = name(server, PLACEHOLDER)
    return (whole.rpartition(PLACEHOLDER)[0] or whole[:_MAX_CUT_NAME_CHARS]) + WILDCARD


def _is_portable_pattern(pattern: str) -> bool:
    if _PORTABLE_PATTERN.fullmatch(pattern) is None or sum(map(pattern.count, "*+?")) > _MAX_REPEATS:
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def explain_mismatch(agent: Agent, matcher: Json) -> str | None:
    """The reason why a matcher does not mean exactly the same on the agent; None if it does."""
    if matches_every_tool(matcher):
        return None
    for part in parts_of(matcher):
        names = [tool for tool in _part_tools(agent, part) if type(tool) is str]
        pattern = pattern_of(part)
        if type(part) is str and part in ARGUMENTS and names == [part]:
            return f"{agent.title} has no tool for {part}"
        if not names:
            return f"no tool that is known of {agent.title} fits {pattern or part}"
        if pattern is not None and not _is_portable_pattern(pattern) and (why := explain_coverage_gap(agent, pattern)):
            return why
    tool_names = [tool for tool in fitting_tools(agent, matcher) or [] if type(tool) is str]
    return explain_ambiguity(agent, tool_names, parts_of(matcher))


def matcher_for_tools(agent: Agent, tools: list[Json]) -> Json:
    """A matcher for fitting names whose own matcher is not known."""
    parts: list[Json] = []
    for tool in tools:
        if type(tool) is str and WILDCARD in tool:
            parts.append({"pattern": "^" + re.escape(tool).replace(re.escape(WILDCARD), ".*") + "$"})
        elif type(tool) is str:
            matcher = from_native(agent, tool)
            parts += [tool] if matcher is None else parts_of(matcher)
        else:
            parts.append(tool)
    return parts


def is_valid_matcher(matcher: Json, *, inside: bool = False) -> bool:
    """Whether a matcher that was read from somewhere has the shape of one."""
    if type(matcher) is list and not inside:
        return all(is_valid_matcher(part, inside=True) for part in matcher)
    if type(matcher) is not dict:
        return type(matcher) is str or (matcher is None and not inside)
    if "pattern" in matcher:
        return type(matcher["pattern"]) is str
    mcp = matcher.get("mcp")
    return type(mcp) is dict and type(mcp.get("server")) is str and type(mcp.get("tool", "")) in (str, type(None))
