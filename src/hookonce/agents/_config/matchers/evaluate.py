"""Matcher evaluation: the tools of an agent that a matcher fits, for generated code that has to filter by itself."""

import re
from typing import Any

from hookonce.agents._config.matchers.canonical import from_native
from hookonce.agents._config.matchers.coverage import canonical_coverage, explain_coverage_gap, matches_every_tool
from hookonce.base.regex import compile_re2
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

_PLACEHOLDER = "anyx"  # stands for any tool while the name of one is put together
WILDCARD = "*"  # in a fitting name: whatever tool of an MCP server
# What every engine reads alike and in short time: few repeats and none of groups, no named classes, no flags.
_MAX_REPEATS = 3
_PORTABLE_PATTERN = re.compile(
    r"(?:\((?:\?:)?|\)(?![*+?{])|[|^$]|(?:[\w:/@ -]|\\[./-]|\.|\[\^?[\w-]+\])[*+?]?)*", re.ASCII
)


def fitting_tools(agent: Agent, matcher: Json) -> list[Json] | None:
    """The native names that a matcher fits, some with a star, and its plain patterns; None for every tool."""
    if matches_every_tool(matcher):
        return None
    tools: list[Json] = []
    for part in _matcher_parts(matcher):
        tools += [tool for tool in _part_tools(agent, part) if tool not in tools]
    return tools


def _matcher_parts(matcher: Json) -> list[Any]:
    return matcher if type(matcher) is list else [matcher]


def _part_tools(agent: Agent, part: Any) -> list[Json]:
    if type(part) is str:
        return _tools_for_name(agent, part)
    if "mcp" in part:
        return [_mcp_tool_name(agent, part["mcp"]["server"], part["mcp"].get("tool"))]
    pattern = part["pattern"]
    names: list[Json] = [
        native
        for native, meanings in _tool_meanings(agent).items()
        if any(_fits_name(pattern, name) for name in (native, *meanings))
    ]
    if canonical_coverage(pattern).some_mcp:
        names.append(_mcp_tool_name(agent, _PLACEHOLDER, None).replace(_PLACEHOLDER, WILDCARD))
    return [*names, {"pattern": pattern}] if _is_portable_pattern(pattern) else names


def _tools_for_name(agent: Agent, name: str) -> list[Json]:
    """All tools that do what a canonical name says; any other name stands for itself."""
    if name.startswith("mcp:") and "/" in name:
        server, _, tool = name.removeprefix("mcp:").partition("/")
        return [_mcp_tool_name(agent, server, tool)]
    own: list[Json] = [native for native, meanings in _tool_meanings(agent).items() if name in meanings]
    return own or ([name] if WILDCARD not in name else [])


def _tool_meanings(agent: Agent) -> dict[str, list[str]]:
    several = {} if agent.config is None else agent.config.ambiguous
    return {
        native: several.get(native, [canonical]) for native, canonical in agent.tools.items() if WILDCARD not in native
    }


def _mcp_tool_name(agent: Agent, server: str, tool: str | None) -> str:
    name = agent.mcp_name or "mcp__{}__{}".format
    if tool:
        return name(server, tool)
    start = name(server, _PLACEHOLDER).rpartition(_PLACEHOLDER)[0]
    return (
        start or name(server, _PLACEHOLDER)[:32]
    ) + WILDCARD  # a name that was cut for its length keeps its beginning


def _fits_name(pattern: str, name: str) -> bool:
    try:
        return compile_re2(pattern).search(name) is not None
    except ValueError:  # from some agent's own file: no pattern of ours
        return False


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
    for part in _matcher_parts(matcher):
        names = [tool for tool in _part_tools(agent, part) if type(tool) is str]
        if type(part) is str and part in ARGUMENTS and names == [part]:
            return f"{agent.title} has no tool for {part}"
        if not names:
            return f"no tool that is known of {agent.title} fits {part if type(part) is str else part['pattern']}"
        pattern = part.get("pattern") if type(part) is dict else None
        if (
            pattern is not None
            and not _is_portable_pattern(pattern)
            and (why := explain_coverage_gap(agent, pattern)) is not None
        ):
            return why
    tool_names = [tool for tool in fitting_tools(agent, matcher) or [] if type(tool) is str]
    several = {} if agent.config is None else agent.config.ambiguous
    for native, meanings in several.items():
        if native in tool_names and not all(_covers_meaning(matcher, meaning) for meaning in meanings):
            return f"{native} of {agent.title} is {' and '.join(meanings)} at once"
    return None


def _covers_meaning(matcher: Json, meaning: str) -> bool:
    parts = _matcher_parts(matcher)
    return meaning in parts or any(
        type(part) is dict and _fits_name(part.get("pattern", "$."), meaning) for part in parts
    )


def matcher_for_tools(agent: Agent, tools: list[Json]) -> Json:
    """A matcher for fitting names whose own matcher is not known."""
    parts: list[Json] = []
    for tool in tools:
        if type(tool) is str and WILDCARD in tool:
            parts.append({"pattern": "^" + re.escape(tool).replace(re.escape(WILDCARD), ".*") + "$"})
        elif type(tool) is str:
            matcher = from_native(agent, tool)
            parts += matcher if type(matcher) is list else [tool if matcher is None else matcher]
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
