"""Matchers of Copilot CLI: names and patterns, each of which must fit the whole name of a tool."""

import re
from typing import Any

from hookonce.agents.configs import matcher as _matcher
from hookonce.model import Agent, Json
from hookonce.patterns import compiled

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_ANY_MCP = {"pattern": _matcher.ANY_MCP}


def to_native(agent: Agent, matcher: Json, *, camel: bool) -> str:
    """The matcher as it is written; `camel` leaves out the tools' names of the PascalCase dialect, which fit nothing.

    Every tool of a kind is named: which of them the model gets depends on the model and on the system.
    """
    names = (name for part in _opened(agent, matcher) for name in _names(agent, part, camel=camel))
    return "|".join(dict.fromkeys(names))


def _opened(agent: Agent, matcher: Json) -> list[Any]:
    """The parts of a matcher, a pattern as the kinds of tools that it fits."""
    found: list[Any] = []
    for part in matcher if type(matcher) is list else [matcher]:
        if type(part) is not dict or "pattern" not in part:
            found.append(part)
            continue
        names = _matcher.to_native(agent, part) or ""
        fits = names != part["pattern"]
        found += [agent.tools.get(name, _ANY_MCP) for name in names.split("|")] if fits else [part]
    return found


def _names(agent: Agent, part: Any, *, camel: bool) -> list[str]:
    if type(part) is str:
        tools = [name for name, known in agent.tools.items() if part in _kinds(agent, name, known)]
        return [name for name in tools if not (camel and name[0].isupper())] or [_literal(part)]
    if part == _ANY_MCP:
        return [_matcher.to_native(agent, part) or ""]
    if "pattern" in part:
        return [_whole(part["pattern"])]
    server, tool = part["mcp"]["server"], part["mcp"].get("tool")
    name = agent.mcp_name or "{}-{}".format
    return [name(_literal(server), _literal(tool) if tool else ".*")]


def _kinds(agent: Agent, name: str, known: str) -> list[str]:
    return [known] if agent.config is None else agent.config.ambiguous.get(name, [known])


def _literal(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else re.escape(text).replace(r"\-", "-")


def _whole(pattern: str) -> str:
    """A pattern that may fit anywhere, as one that fits the whole name."""
    return _inside(pattern, "^(?:", ")$") or f".*(?:{pattern}).*"


def _inside(text: str, before: str, after: str) -> str | None:
    """What stands between the two, if it is a pattern by itself."""
    if not text.startswith(before) or not text.endswith(after):
        return None
    inner = text[len(before) : -len(after)]
    try:
        compiled(inner)
    except ValueError:
        return None
    return inner


def from_native(agent: Agent, text: str) -> Json:
    """A native matcher in canonical words; several names of one kind of tool are that kind."""
    found = None if text == "**" else _matcher.from_native(agent, text)
    parts: list[Any] = []
    for part in found if type(found) is list else [found]:
        made = _anywhere(part)
        parts += [] if made in parts else [made]
    return parts[0] if len(parts) == 1 else parts


def _anywhere(part: Any) -> Any:
    """A pattern for whole names, as one that may fit anywhere."""
    if type(part) is not dict or "pattern" not in part or part == _ANY_MCP:
        return part
    return {"pattern": _inside(part["pattern"], ".*(?:", ").*") or f"^(?:{part['pattern']})$"}


def vague(agent: Agent, matcher: Json, text: str) -> str | None:
    """Why what was written does not mean exactly what was meant, if it does not."""
    if (why := _matcher.vague(agent, matcher)) is not None:
        return why
    meant, again = _opened(agent, matcher), from_native(agent, text)
    extra = [part for part in (again if type(again) is list else [again]) if part not in meant]
    if not extra and again is not None:
        return None
    several = agent.config.ambiguous if agent.config else {}
    for name in text.split("|"):
        if not all(kind in meant for kind in several.get(name, [])):
            return f"{name} of {agent.title} is {' and '.join(several[name])} at once"
    return f"{text} is the nearest that {agent.title} can be told"
