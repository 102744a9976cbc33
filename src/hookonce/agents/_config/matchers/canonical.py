"""Conversion of matchers between native and canonical tool names: lists joined by a bar, patterns, MCP names."""

import re
from collections.abc import Mapping
from typing import Any

from hookonce.agents._config.matchers.coverage import (
    canonical_coverage,
    explain_coverage_gap,
    matches_every_tool,
    native_coverage,
)
from hookonce.base.regex import compile_re2, fits_native_pattern
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

_MATCH_ALL = frozenset({"", "*", ".*"})
ANY_MCP_PATTERN = "^mcp:"  # the canonical names of all MCP tools
_PLACEHOLDER = "anyx"  # stands for any tool while a name is put together or taken apart
_WORD = re.compile(r"[A-Za-z0-9_ -]+")
_BRACKETS = re.compile(r"[()\[\]{}\\]")  # a bar within these divides something else than the whole


def to_native(agent: Agent, matcher: Json) -> str | None:
    """The matcher as the agent would have it written; None for every tool."""
    if matches_every_tool(matcher):
        return None
    parts = matcher if type(matcher) is list else [matcher]
    return "|".join(dict.fromkeys(name for part in parts for name in _native_names(agent, part)))


def _native_names(agent: Agent, part: Any) -> list[str]:
    if type(part) is str:
        return _native_tools(agent, part) or [part]
    if "pattern" in part:
        return _native_names_fitting(agent, part["pattern"]) or [part["pattern"]]
    mcp = part["mcp"]
    name = agent.mcp_name or "mcp__{}__{}".format
    if mcp.get("tool"):
        return [name(mcp["server"], mcp["tool"])]
    return [name(mcp["server"], _PLACEHOLDER).removesuffix(_PLACEHOLDER) + ".*"]


def _native_tools(agent: Agent, name: str) -> list[str]:
    """The agent's tools for a canonical one, all of them, so that none passes unseen."""
    skipped_tools = {*_ambiguous(agent), *(agent.config.excluded_tools if agent.config else ())}
    own = [native for native, meaning in agent.tools.items() if meaning == name and native not in skipped_tools]
    several = [native for native, meaning in _ambiguous(agent).items() if name in meaning]
    return [native for native in own + several if native[-1] != "*"]


def _ambiguous(agent: Agent) -> Mapping[str, list[str]]:
    return {} if agent.config is None else agent.config.ambiguous


def explain_mismatch(agent: Agent, matcher: Json) -> str | None:
    """The reason why a matcher does not mean exactly the same on the agent; None if it does."""
    if matches_every_tool(matcher):
        return None
    parts = matcher if type(matcher) is list else [matcher]
    for part in parts:
        if type(part) is str and part in ARGUMENTS and not _native_tools(agent, part):
            return f"{agent.title} has no tool for {part}"
        if (
            type(part) is dict
            and "pattern" in part
            and (why := _explain_pattern_mismatch(agent, part["pattern"])) is not None
        ):
            return why
        if type(part) is dict and "mcp" in part and from_native(agent, _native_names(agent, part)[0]) != part:
            return f"{agent.title} calls it {_native_names(agent, part)[0]}, which may mean others too"
    native_names = {name for part in parts for name in _native_names(agent, part)}
    for native, meanings in _ambiguous(agent).items():
        if native in native_names and not all(_is_covered(parts, meaning) for meaning in meanings):
            return f"{native} of {agent.title} is {' and '.join(meanings)} at once"
    return None


def _explain_pattern_mismatch(agent: Agent, pattern: str) -> str | None:
    if _native_names_fitting(agent, pattern):
        return explain_coverage_gap(agent, pattern)
    if any(_fits_name(pattern, native) for native in agent.tools):
        return f"{pattern} fits tools by the names that {agent.title} gives them, and is kept as it is"
    return f"no tool of {agent.title} is known that {pattern} fits; the pattern is kept as it is"


def _is_covered(parts: list[Any], name: str) -> bool:
    return any(part == name or (type(part) is dict and _fits_name(part.get("pattern"), name)) for part in parts)


def _fits_name(pattern: str | None, name: str) -> bool:
    """Whether a pattern fits a name; one that RE2 does not know, from some agent's own file, fits nothing of ours."""
    try:
        return pattern is not None and compile_re2(pattern).search(name) is not None
    except ValueError:
        return False


def _native_names_fitting(agent: Agent, pattern: str) -> list[str]:
    """The native names of the canonical tools that a pattern fits, and of any MCP tool if it fits those."""
    own = [native for native, canonical in agent.tools.items() if native[-1] != "*" and _fits_name(pattern, canonical)]
    every = _any_mcp(agent) if canonical_coverage(pattern).some_mcp else None
    return own if every is None else [*own, every]


def from_native(agent: Agent, text: str) -> Json:
    """A native matcher in canonical words; a pattern stays one."""
    if text in _MATCH_ALL:
        return None
    if _BRACKETS.search(text) is not None:
        return {"pattern": text}
    candidates = [part for name in re.split(r"[|,]", text) if name.strip() for part in _parse_part(agent, name.strip())]
    parts = [part for index, part in enumerate(candidates) if part not in candidates[:index]]
    return parts[0] if len(parts) == 1 else parts


def _parse_part(agent: Agent, text: str) -> list[Json]:
    if (server := _mcp_server(agent, text)) is not None:
        return [{"mcp": {"server": server}}]
    if text == _any_mcp(agent):
        return [{"pattern": ANY_MCP_PATTERN}]
    return _canonical_parts(agent, text) if _WORD.fullmatch(text) else [{"pattern": text}]


def _any_mcp(agent: Agent) -> str | None:
    return None if agent.mcp_name is None else agent.mcp_name(_PLACEHOLDER, _PLACEHOLDER).replace(_PLACEHOLDER, ".*")


def _mcp_server(agent: Agent, text: str) -> str | None:
    if not text.endswith(".*") or text.count("*") > 1 or agent.mcp is None:
        return None
    mcp = agent.mcp(text[:-2] + _PLACEHOLDER, {})
    return mcp[0] if mcp is not None and mcp[1] == _PLACEHOLDER and mcp[0] != "?" else None


def _canonical_parts(agent: Agent, name: str) -> list[Json]:
    if (meanings := _ambiguous(agent).get(name)) is not None:
        return list(meanings)
    if (canonical := agent.tools.get(name)) is not None:
        return [canonical]
    mcp = None if agent.mcp is None else agent.mcp(name, {})
    return [name if mcp is None or mcp[0] == "?" else {"mcp": {"server": mcp[0], "tool": mcp[1]}}]


def canonicalize_matcher(agent: Agent, matcher: Json) -> Json:
    """A matcher on native tool names, each pattern as the canonical tools that it fits; None for all tools."""
    if type(matcher) is list:
        parts = [canonicalize_matcher(agent, part) for part in matcher]
        names = [name for part in parts for name in (part if type(part) is list else [part])]
        return None if None in parts else [name for place, name in enumerate(names) if name not in names[:place]]
    if type(matcher) is not dict or "pattern" not in matcher:
        return matcher
    coverage = native_coverage(agent, matcher["pattern"])
    if coverage.all_tools:
        return None
    tools = _canonical_tools(agent, matcher["pattern"]) + ([{"pattern": ANY_MCP_PATTERN}] if coverage.some_mcp else [])
    return matcher if not tools else tools[0] if len(tools) == 1 else tools


def _canonical_tools(agent: Agent, pattern: str) -> list[Json]:
    several = {} if agent.config is None else agent.config.ambiguous
    name_lists = [
        several.get(native, [canonical])
        for native, canonical in agent.tools.items()
        if fits_native_pattern(pattern, native)
    ]
    return list(dict.fromkeys(name for names in name_lists for name in names if name in ARGUMENTS))


def explain_narrowing(agent: Agent, matcher: Json) -> str | None:
    """The reason why the canonical tools of a pattern say less or more than the pattern; None if they do not."""
    for part in matcher if type(matcher) is list else [matcher]:
        if type(part) is not dict or "pattern" not in part or canonicalize_matcher(agent, part) in (None, part):
            continue
        text, coverage = part["pattern"], native_coverage(agent, part["pattern"])
        if coverage.some_mcp and not coverage.all_mcp:
            return f"{text!r} picks some MCP tools of {agent.title} only; here every tool of every MCP server is meant"
        if coverage.unknown_tools:
            return f"{text!r} also picks tools of {agent.title} that nobody knows; here only known ones are named"
    return None
