"""Copilot CLI matchers: tool names and patterns, each of which must fit the whole name of a tool."""

import re
from typing import Any

from hookonce.agents._config.matchers import canonical as _matcher
from hookonce.base.regex import compile_re2
from hookonce.model import Agent, Json

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
_ANY_MCP_PART = {"pattern": _matcher.ANY_MCP_PATTERN}


def to_native(agent: Agent, matcher: Json, *, camel: bool) -> str:
    """The matcher as it is written; `camel` leaves out the tools' names of the PascalCase dialect, which fit nothing.

    Every tool of a kind is named: which of them the model gets depends on the model and on the system.
    """
    names = (name for part in _expand_patterns(agent, matcher) for name in _native_names(agent, part, camel=camel))
    return "|".join(dict.fromkeys(names))


def _expand_patterns(agent: Agent, matcher: Json) -> list[Any]:
    parts: list[Any] = []
    for part in matcher if type(matcher) is list else [matcher]:
        if type(part) is not dict or "pattern" not in part:
            parts.append(part)
            continue
        names = _matcher.to_native(agent, part) or ""
        fits = names != part["pattern"]
        parts += [agent.tools.get(name, _ANY_MCP_PART) for name in names.split("|")] if fits else [part]
    return parts


def _native_names(agent: Agent, part: Any, *, camel: bool) -> list[str]:
    if type(part) is str:
        tools = [name for name, canonical in agent.tools.items() if part in _tool_meanings(agent, name, canonical)]
        return [name for name in tools if not (camel and name[0].isupper())] or [_escape_literal(part)]
    if part == _ANY_MCP_PART:
        return [_matcher.to_native(agent, part) or ""]
    if "pattern" in part:
        return [_to_full_pattern(part["pattern"])]
    server, tool = part["mcp"]["server"], part["mcp"].get("tool")
    name = agent.mcp_name or "{}-{}".format
    return [name(_escape_literal(server), _escape_literal(tool) if tool else ".*")]


def _tool_meanings(agent: Agent, name: str, canonical: str) -> list[str]:
    return [canonical] if agent.config is None else agent.config.ambiguous.get(name, [canonical])


def _escape_literal(text: str) -> str:
    return text if _PLAIN_NAME.fullmatch(text) else re.escape(text).replace(r"\-", "-")


def _to_full_pattern(pattern: str) -> str:
    return _strip_pattern(pattern, "^(?:", ")$") or f".*(?:{pattern}).*"


def _strip_pattern(text: str, before: str, after: str) -> str | None:
    """What stands between the two, if it is a pattern by itself."""
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
    matcher = None if text == "**" else _matcher.from_native(agent, text)
    parts: list[Any] = []
    for part in matcher if type(matcher) is list else [matcher]:
        search_part = _to_search_pattern(part)
        parts += [] if search_part in parts else [search_part]
    return parts[0] if len(parts) == 1 else parts


def _to_search_pattern(part: Any) -> Any:
    if type(part) is not dict or "pattern" not in part or part == _ANY_MCP_PART:
        return part
    return {"pattern": _strip_pattern(part["pattern"], ".*(?:", ").*") or f"^(?:{part['pattern']})$"}


def explain_mismatch(agent: Agent, matcher: Json, text: str) -> str | None:
    """The reason why the rendered matcher does not mean exactly the same; None if it does."""
    if (why := _matcher.explain_mismatch(agent, matcher)) is not None:
        return why
    wanted_parts, round_trip = _expand_patterns(agent, matcher), from_native(agent, text)
    extra = [part for part in (round_trip if type(round_trip) is list else [round_trip]) if part not in wanted_parts]
    if not extra and round_trip is not None:
        return None
    ambiguous = agent.config.ambiguous if agent.config else {}
    for name in text.split("|"):
        if not all(kind in wanted_parts for kind in ambiguous.get(name, [])):
            return f"{name} of {agent.title} is {' and '.join(ambiguous[name])} at once"
    return f"{text} is the nearest that {agent.title} can be told"
