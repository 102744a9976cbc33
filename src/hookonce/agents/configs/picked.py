"""A pattern of an agent's own file in canonical words, for use with other agents: the tools that it picks."""

from hookonce.agents.configs.breadth import native_coverage
from hookonce.agents.configs.matcher import ANY_MCP_PATTERN
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import fits_native_pattern


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
    name_lists = [several.get(native, [canonical]) for native, canonical in agent.tools.items() if fits_native_pattern(pattern, native)]
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
