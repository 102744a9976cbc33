"""A pattern of an agent's own file in canonical words, for use with other agents: the tools that it picks."""

from hookonce.agents.configs.breadth import natively
from hookonce.agents.configs.matcher import ANY_MCP
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import picks


def canonical_pattern(agent: Agent, matcher: Json) -> Json:
    """A matcher on the agent's own tool names, each pattern as the canonical tools that it picks; None for all."""
    if type(matcher) is list:
        parts = [canonical_pattern(agent, part) for part in matcher]
        told = [name for part in parts for name in (part if type(part) is list else [part])]
        return None if None in parts else [name for place, name in enumerate(told) if name not in told[:place]]
    if type(matcher) is not dict or "pattern" not in matcher:
        return matcher
    breadth = natively(agent, matcher["pattern"])
    if breadth.every:
        return None
    found = _tools(agent, matcher["pattern"]) + ([{"pattern": ANY_MCP}] if breadth.some_mcp else [])
    return matcher if not found else found[0] if len(found) == 1 else found


def _tools(agent: Agent, pattern: str) -> list[Json]:
    several = {} if agent.config is None else agent.config.ambiguous
    meant = [several.get(native, [known]) for native, known in agent.tools.items() if picks(pattern, native)]
    return list(dict.fromkeys(name for names in meant for name in names if name in ARGUMENTS))


def narrowed(agent: Agent, matcher: Json) -> str | None:
    """What of a pattern its canonical tools do not say, if there is anything."""
    for part in matcher if type(matcher) is list else [matcher]:
        if type(part) is not dict or "pattern" not in part or canonical_pattern(agent, part) in (None, part):
            continue
        text, breadth = part["pattern"], natively(agent, part["pattern"])
        if breadth.some_mcp and not breadth.every_mcp:
            return f"{text!r} picks some MCP tools of {agent.title} only; here every tool of every MCP server is meant"
        if breadth.strange:
            return f"{text!r} also picks tools of {agent.title} that nobody knows; here only known ones are named"
    return None
