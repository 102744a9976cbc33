"""Auggie's matchers: a pattern meets all tools but those of MCP servers, one behind `mcp:` meets only these.

So a matcher for both kinds is two patterns here, one line each, which stand in two groups of the
configuration. That they belong together shows in the brackets around the second.
"""

import re

from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.matcher import ANY_MCP_PATTERN
from hookonce.agents.configs.pattern import McpPatterns, split_alternatives, is_js_regex, escape_name, parse_pattern, render_patterns
from hookonce.model import Agent, Json, Object

MCP_PREFIX = "mcp:"
HALF_SEPARATOR = "\n"
_NAME_REGEX = r"(?:\\.|[^\\()|])+"
_MCP_TOOL_REGEX = re.compile(rf"\.\*_(?P<server>{_NAME_REGEX})\$|\^(?P<tool>{_NAME_REGEX})\(\?:_(?P<of>{_NAME_REGEX})\)\$")


def _mcp_pattern(server: str, tool: str | None) -> str:
    """An MCP tool's name ends in its server's; the brackets tell where, to whoever reads it again."""
    name = escape_name(server)
    return f"{MCP_PREFIX}.*_{name}$" if tool is None else f"{MCP_PREFIX}^{escape_name(tool)}(?:_{name})$"


_MCP_PATTERNS = McpPatterns(every=f"{MCP_PREFIX}.*", tools=_mcp_pattern)


def native_matcher(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    """A matcher in Auggie's words, and what they cannot say; no words if nothing is left to be said."""
    texts, losses = render_patterns(agent, matcher, _MCP_PATTERNS)
    readable_texts = [text for text in texts if is_js_regex(text.removeprefix(MCP_PREFIX))]
    losses += [f"{agent.title} could not read {text}" for text in texts if text not in readable_texts]
    plain_pattern = "|".join(text for text in readable_texts if not text.startswith(MCP_PREFIX))
    mcp_pattern = "|".join(text.removeprefix(MCP_PREFIX) for text in readable_texts if text.startswith(MCP_PREFIX))
    if plain_pattern and mcp_pattern:
        return f"{plain_pattern}{HALF_SEPARATOR}{MCP_PREFIX}(?:{mcp_pattern})", losses
    return plain_pattern or (f"{MCP_PREFIX}*" if mcp_pattern == ".*" else MCP_PREFIX + mcp_pattern if mcp_pattern else None), losses


def canonical_matcher(agent: Agent, kind: str, text: str) -> Json:
    """The canonical matcher of a native one."""
    if kind not in TOOL_EVENTS:
        return None
    parts: list[Json] = []
    for half in text.split(HALF_SEPARATOR):
        half_matcher = _parse_mcp_half(half.removeprefix(MCP_PREFIX)) if half.startswith(MCP_PREFIX) else parse_pattern(agent, half)
        if half_matcher is None:
            return None
        parts += half_matcher if type(half_matcher) is list else [half_matcher]
    return parts[0] if len(parts) == 1 else parts


def _parse_mcp_half(text: str) -> Json:
    """The MCP tools of a pattern: all of them, those that it names in our way, or else the pattern."""
    pieces = split_alternatives(text[3:-1] if is_mcp_half(MCP_PREFIX + text) else text)
    tools = [_parse_mcp_tool(piece) for piece in pieces]
    return {"pattern": MCP_PREFIX + text} if None in tools else tools


def _parse_mcp_tool(text: str) -> Object | None:
    if text in {"*", ".*"}:
        return {"pattern": ANY_MCP_PATTERN}
    match = _MCP_TOOL_REGEX.fullmatch(text)
    if match is None:
        return None
    server, tool, of = (text and re.sub(r"\\(.)", r"\1", text) for text in match.group("server", "tool", "of"))
    return {"mcp": {"server": server} if server is not None else {"server": of, "tool": tool}}


def is_plain_half(text: Json) -> bool:
    """Whether a matcher can be the half for tools that are not of MCP servers."""
    return type(text) is str and not text.startswith(MCP_PREFIX) and HALF_SEPARATOR not in text


def is_mcp_half(text: Json) -> bool:
    """Whether a matcher can be the half for MCP tools."""
    return type(text) is str and text.startswith(f"{MCP_PREFIX}(?:") and text.endswith(")")
