"""Auggie's matchers: a pattern meets all tools but those of MCP servers, one behind `mcp:` meets only these.

So a matcher for both kinds is two patterns here, one line each, which stand in two groups of the
configuration. That they belong together shows in the brackets around the second.
"""

import re

from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.matcher import ANY_MCP
from hookonce.agents.configs.pattern import Mcp, alternatives, compiles, literal, read, written
from hookonce.model import Agent, Json, Object

PREFIX = "mcp:"
BOTH = "\n"
_NAME = r"(?:\\.|[^\\()|])+"
_ONE = re.compile(rf"\.\*_(?P<server>{_NAME})\$|\^(?P<tool>{_NAME})\(\?:_(?P<of>{_NAME})\)\$")


def _tools(server: str, tool: str | None) -> str:
    """An MCP tool's name ends in its server's; the brackets tell where, to whoever reads it again."""
    name = literal(server)
    return f"{PREFIX}.*_{name}$" if tool is None else f"{PREFIX}^{literal(tool)}(?:_{name})$"


_MCP = Mcp(every=f"{PREFIX}.*", tools=_tools)


def native_matcher(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    """A matcher in Auggie's words, and what they cannot say; no words if nothing is left to be said."""
    texts, losses = written(agent, matcher, _MCP)
    fit = [text for text in texts if compiles(text.removeprefix(PREFIX))]
    losses += [f"{agent.title} could not read {text}" for text in texts if text not in fit]
    plain = "|".join(text for text in fit if not text.startswith(PREFIX))
    mcp = "|".join(text.removeprefix(PREFIX) for text in fit if text.startswith(PREFIX))
    if plain and mcp:
        return f"{plain}{BOTH}{PREFIX}(?:{mcp})", losses
    return plain or (f"{PREFIX}*" if mcp == ".*" else PREFIX + mcp if mcp else None), losses


def canonical_matcher(agent: Agent, kind: str, text: str) -> Json:
    """The canonical matcher of a native one."""
    if kind not in TOOL_EVENTS:
        return None
    parts: list[Json] = []
    for half in text.split(BOTH):
        found = _servers(half.removeprefix(PREFIX)) if half.startswith(PREFIX) else read(agent, half)
        if found is None:
            return None
        parts += found if type(found) is list else [found]
    return parts[0] if len(parts) == 1 else parts


def _servers(text: str) -> Json:
    """The MCP tools of a pattern: all of them, those that it names in our way, or else the pattern."""
    pieces = alternatives(text[3:-1] if is_second(PREFIX + text) else text)
    found = [_server(piece) for piece in pieces]
    return {"pattern": PREFIX + text} if None in found else found


def _server(text: str) -> Object | None:
    if text in {"*", ".*"}:
        return {"pattern": ANY_MCP}
    found = _ONE.fullmatch(text)
    if found is None:
        return None
    server, tool, of = (text and re.sub(r"\\(.)", r"\1", text) for text in found.group("server", "tool", "of"))
    return {"mcp": {"server": server} if server is not None else {"server": of, "tool": tool}}


def is_first(text: Json) -> bool:
    """Whether a matcher can be the first half of one for both kinds of tools."""
    return type(text) is str and not text.startswith(PREFIX) and BOTH not in text


def is_second(text: Json) -> bool:
    """Whether a matcher can be the second half."""
    return type(text) is str and text.startswith(f"{PREFIX}(?:") and text.endswith(")")
