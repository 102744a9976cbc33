"""Alternation dialect of matchers: native tool names, patterns and MCP names joined by a bar."""

import re
from typing import Any

from hookonce.agents._config.matchers.dialect import MatcherDialect
from hookonce.agents._config.matchers.parts import (
    ANY_MCP_PART,
    MATCH_ALL_TEXTS,
    PLACEHOLDER,
    ambiguous_tools,
    canonical_coverage,
    distinct_parts,
    explain_ambiguity,
    explain_coverage_gap,
    fits_name,
    join_parts,
    matches_every_tool,
    native_coverage,
    parts_of,
    pattern_of,
    tool_meanings,
)
from hookonce.base.regex import fits_native_pattern, lazy_pattern
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

_WORD = lazy_pattern(r"[A-Za-z0-9_ -]+")
_BRACKETS = lazy_pattern(r"[()\[\]{}\\]")  # a bar within these divides something else than the whole


def to_native(agent: Agent, matcher: Json) -> str | None:
    """The matcher as the agent would have it written; None for every tool."""
    names = (name for part in parts_of(matcher) for name in _native_names(agent, part))
    return None if matches_every_tool(matcher) else "|".join(dict.fromkeys(names))


def _native_names(agent: Agent, part: Any) -> list[str]:
    if type(part) is str:
        return _native_tools(agent, part) or [part]
    if "pattern" in part:
        return _native_names_fitting(agent, part["pattern"]) or [part["pattern"]]
    mcp = part["mcp"]
    name = agent.mcp_name or "mcp__{}__{}".format
    if mcp.get("tool"):
        return [name(mcp["server"], mcp["tool"])]
    return [name(mcp["server"], PLACEHOLDER).removesuffix(PLACEHOLDER) + ".*"]


def _native_tools(agent: Agent, name: str) -> list[str]:
    """The agent's tools for a canonical one, all of them, so that none passes unseen."""
    several = ambiguous_tools(agent)
    skipped_tools = {*several, *agent.config.excluded_tools}
    own = [native for native, meaning in agent.tools.items() if meaning == name and native not in skipped_tools]
    own += [native for native, meanings in several.items() if name in meanings]
    return [native for native in own if native[-1] != "*"]


def explain_mismatch(agent: Agent, matcher: Json) -> str | None:
    """The reason why a matcher does not mean exactly the same on the agent; None if it does."""
    if matches_every_tool(matcher):
        return None
    parts = parts_of(matcher)
    reasons = (why for part in parts if (why := _explain_part_mismatch(agent, part)) is not None)
    names = [name for part in parts for name in _native_names(agent, part)]
    return next(reasons, None) or explain_ambiguity(agent, names, parts)


def _explain_part_mismatch(agent: Agent, part: Json) -> str | None:
    if type(part) is str:
        has_tool = part not in ARGUMENTS or _native_tools(agent, part)
        return None if has_tool else f"{agent.title} has no tool for {part}"
    pattern = pattern_of(part)
    if pattern is None:
        name = _native_names(agent, part)[0]
        is_same = from_native(agent, name) == part
        return None if is_same else f"{agent.title} calls it {name}, which may mean others too"
    if _native_names_fitting(agent, pattern):
        return explain_coverage_gap(agent, pattern)
    if any(fits_name(pattern, native) for native in agent.tools):
        return f"{pattern} fits tools by the names that {agent.title} gives them, and is kept as it is"
    return f"no tool of {agent.title} is known that {pattern} fits; the pattern is kept as it is"


def _native_names_fitting(agent: Agent, pattern: str) -> list[str]:
    """The native names of the canonical tools that a pattern fits, and of any MCP tool if it fits those."""
    own = [native for native, canonical in agent.tools.items() if native[-1] != "*" and fits_name(pattern, canonical)]
    every = _any_mcp(agent) if canonical_coverage(pattern).some_mcp else None
    return own if every is None else [*own, every]


def from_native(agent: Agent, text: str) -> Json:
    """A native matcher in canonical words; a pattern stays one."""
    if text in MATCH_ALL_TEXTS:
        return None
    if _BRACKETS.search(text) is not None:
        return {"pattern": text}
    names = filter(None, map(str.strip, re.split(r"[|,]", text)))
    return join_parts(part for name in names for part in _parse_part(agent, name))


def _parse_part(agent: Agent, text: str) -> list[Json]:
    if (server := _mcp_server(agent, text)) is not None:
        return [{"mcp": {"server": server}}]
    if text == _any_mcp(agent):
        return [ANY_MCP_PART]
    if _WORD.fullmatch(text) is None:
        return [{"pattern": text}]
    if (meanings := tool_meanings(agent).get(text)) is not None:
        return [*meanings]
    mcp = None if agent.mcp is None else agent.mcp(text, {})
    return [text if mcp is None or mcp[0] == "?" else {"mcp": {"server": mcp[0], "tool": mcp[1]}}]


def _any_mcp(agent: Agent) -> str | None:
    return None if agent.mcp_name is None else agent.mcp_name(PLACEHOLDER, PLACEHOLDER).replace(PLACEHOLDER, ".*")


def _mcp_server(agent: Agent, text: str) -> str | None:
    if not text.endswith(".*") or text.count("*") > 1 or agent.mcp is None:
        return None
    mcp = agent.mcp(text[:-2] + PLACEHOLDER, {})
    return mcp[0] if mcp is not None and mcp[1] == PLACEHOLDER and mcp[0] != "?" else None


def _write(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    why = explain_mismatch(agent, matcher)
    return to_native(agent, matcher), [] if why is None else [why]


ALTERNATION = MatcherDialect(_write, from_native)


def canonicalize_matcher(agent: Agent, matcher: Json) -> Json:
    """A matcher on native tool names, each pattern as the canonical tools that it fits; None for all tools."""
    if type(matcher) is list:
        parts = [canonicalize_matcher(agent, part) for part in matcher]
        return None if None in parts else distinct_parts(name for part in parts for name in parts_of(part))
    pattern = pattern_of(matcher)
    if pattern is None:
        return matcher
    coverage = native_coverage(agent, pattern)
    if coverage.all_tools:
        return None
    kinds = [kinds for native, kinds in tool_meanings(agent).items() if fits_native_pattern(pattern, native)]
    tools: list[Json] = [name for names in kinds for name in names if name in ARGUMENTS]
    tools += [ANY_MCP_PART] if coverage.some_mcp else []
    return join_parts(tools) if tools else matcher


def explain_narrowing(agent: Agent, matcher: Json) -> str | None:
    """The reason why the canonical tools of a pattern say less or more than the pattern; None if they do not."""
    for part in parts_of(matcher):
        text = pattern_of(part)
        if text is None or canonicalize_matcher(agent, part) in (None, part):
            continue
        coverage = native_coverage(agent, text)
        if coverage.some_mcp and not coverage.all_mcp:
            return f"{text!r} picks some MCP tools of {agent.title} only; here every tool of every MCP server is meant"
        if coverage.unknown_tools:
            return f"{text!r} also picks tools of {agent.title} that are not known; here only known ones are listed"
    return None
