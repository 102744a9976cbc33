"""Full-match dialect of matchers, which the Copilots have: names and regexes that must fit the whole name of a tool."""

import re

from hookonce.agents._config.matchers import alternation
from hookonce.agents._config.matchers.parts import (
    ANY_MCP_PART,
    ambiguous_tools,
    join_parts,
    parts_of,
    pattern_of,
    tool_meanings,
)
from hookonce.base.regex import compile_re2, lazy_pattern
from hookonce.model import Agent, Json

_PLAIN_NAME = lazy_pattern(r"[A-Za-z0-9_-]+")


def to_native(agent: Agent, matcher: Json, *, camel: bool) -> str:
    """The matcher with every tool of a kind; `camel` leaves out names of the PascalCase dialect, which fit nothing."""
    names = (name for part in _expand_patterns(agent, matcher) for name in _native_names(agent, part, camel=camel))
    return "|".join(dict.fromkeys(names))


def _expand_patterns(agent: Agent, matcher: Json) -> list[Json]:
    parts: list[Json] = []
    for part in parts_of(matcher):
        text = pattern_of(part)
        names = None if text is None else alternation.to_native(agent, part) or ""
        if names is None or names == text:
            parts.append(part)
        else:
            parts += [agent.tools.get(name, ANY_MCP_PART) for name in names.split("|")]
    return parts


def _native_names(agent: Agent, part: Json, *, camel: bool) -> list[str]:
    if type(part) is str:
        tools = [native for native, meanings in tool_meanings(agent).items() if part in meanings]
        return [name for name in tools if not (camel and name[0].isupper())] or [_escape_literal(part)]
    if part == ANY_MCP_PART:
        return [alternation.to_native(agent, part) or ""]
    if "pattern" in part:
        return [_strip_pattern(part["pattern"], "^(?:", ")$") or f".*(?:{part['pattern']}).*"]
    server, tool = part["mcp"]["server"], part["mcp"].get("tool")
    name = agent.mcp_name or "{}-{}".format
    return [name(_escape_literal(server), _escape_literal(tool) if tool else ".*")]


def _escape_literal(text: str) -> str:
    return text if _PLAIN_NAME.fullmatch(text) else re.escape(text).replace(r"\-", "-")


def _strip_pattern(text: str, before: str, after: str) -> str | None:
    if not text.startswith(before) or not text.endswith(after):
        return None
    inner = text[len(before) : -len(after)]
    try:
        compile_re2(inner)
    except ValueError:
        return None
    return inner


def from_native(agent: Agent, text: str) -> Json:
    """A native matcher in canonical words; several names of one kind of tool are that kind."""
    matcher = None if text == "**" else alternation.from_native(agent, text)
    return join_parts(map(_to_search_pattern, parts_of(matcher)))


def _to_search_pattern(part: Json) -> Json:
    text = pattern_of(part)
    if text is None or part == ANY_MCP_PART:
        return part
    return {"pattern": _strip_pattern(text, ".*(?:", ").*") or f"^(?:{text})$"}


def explain_mismatch(agent: Agent, matcher: Json, text: str) -> str | None:
    """The reason why the rendered matcher does not mean exactly the same; None if it does."""
    if (why := alternation.explain_mismatch(agent, matcher)) is not None:
        return why
    wanted_parts, round_trip = _expand_patterns(agent, matcher), from_native(agent, text)
    if round_trip is not None and all(part in wanted_parts for part in parts_of(round_trip)):
        return None
    for name in text.split("|"):
        meanings = ambiguous_tools(agent).get(name, [])
        if not all(kind in wanted_parts for kind in meanings):
            return f"{name} of {agent.title} is {' and '.join(meanings)} at once"
    return f"{text} is the nearest that {agent.title} can be told"
