"""Which tools of an agent a matcher fits, for generated files that must sort them out by themselves."""

import re
from typing import Any

from hookonce.agents.configs.breadth import beyond, canonically, is_everything
from hookonce.agents.configs.matcher import from_native
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import compiled

_ANY = "anyx"  # stands for any tool while the name of one is put together
STAR = "*"  # in a fitting name: whatever tool of an MCP server
# What every engine reads alike and in short time: few repeats and none of groups, no named classes, no flags.
_REPEATS = 3
_PLAIN = re.compile(r"(?:\((?:\?:)?|\)(?![*+?{])|[|^$]|(?:[\w:/@ -]|\\[./-]|\.|\[\^?[\w-]+\])[*+?]?)*", re.ASCII)


def tools_of(agent: Agent, matcher: Json) -> list[Json] | None:
    """The native names that a matcher fits, some with a star, and its plain patterns; None for every tool."""
    if is_everything(matcher):
        return None
    found: list[Json] = []
    for part in _parts(matcher):
        found += [one for one in _fitting(agent, part) if one not in found]
    return found


def _parts(matcher: Json) -> list[Any]:
    return matcher if type(matcher) is list else [matcher]


def _fitting(agent: Agent, part: Any) -> list[Json]:
    if type(part) is str:
        return _named(agent, part)
    if "mcp" in part:
        return [_mcp(agent, part["mcp"]["server"], part["mcp"].get("tool"))]
    pattern = part["pattern"]
    names: list[Json] = [
        native
        for native, meanings in _meanings(agent).items()
        if any(_fits(pattern, one) for one in (native, *meanings))
    ]
    if canonically(pattern).some_mcp:
        names.append(_mcp(agent, _ANY, None).replace(_ANY, STAR))
    return [*names, {"pattern": pattern}] if _is_plain(pattern) else names


def _named(agent: Agent, name: str) -> list[Json]:
    """All tools that do what a canonical name says; any other name stands for itself."""
    if name.startswith("mcp:") and "/" in name:
        server, _, tool = name.removeprefix("mcp:").partition("/")
        return [_mcp(agent, server, tool)]
    own: list[Json] = [native for native, meanings in _meanings(agent).items() if name in meanings]
    return own or ([name] if STAR not in name else [])


def _meanings(agent: Agent) -> dict[str, list[str]]:
    several = {} if agent.config is None else agent.config.ambiguous
    return {native: several.get(native, [known]) for native, known in agent.tools.items() if STAR not in native}


def _mcp(agent: Agent, server: str, tool: str | None) -> str:
    name = agent.mcp_name or "mcp__{}__{}".format
    if tool:
        return name(server, tool)
    start = name(server, _ANY).rpartition(_ANY)[0]
    return (start or name(server, _ANY)[:32]) + STAR  # a name that was cut for its length keeps its beginning


def _fits(pattern: str, name: str) -> bool:
    try:
        return compiled(pattern).search(name) is not None
    except ValueError:  # from some agent's own file: no pattern of ours
        return False


def _is_plain(pattern: str) -> bool:
    if _PLAIN.fullmatch(pattern) is None or sum(map(pattern.count, "*+?")) > _REPEATS:
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def vague(agent: Agent, matcher: Json) -> str | None:
    """Why a matcher does not mean the same on the agent, if it does not."""
    if is_everything(matcher):
        return None
    for part in _parts(matcher):
        known = [one for one in _fitting(agent, part) if type(one) is str]
        if type(part) is str and part in ARGUMENTS and known == [part]:
            return f"{agent.title} has no tool for {part}"
        if not known:
            return f"no tool that is known of {agent.title} fits {part if type(part) is str else part['pattern']}"
        pattern = part.get("pattern") if type(part) is dict else None
        if pattern is not None and not _is_plain(pattern) and (why := beyond(agent, pattern)) is not None:
            return why
    wanted = [one for one in tools_of(agent, matcher) or [] if type(one) is str]
    several = {} if agent.config is None else agent.config.ambiguous
    for native, meanings in several.items():
        if native in wanted and not all(_meant(matcher, meaning) for meaning in meanings):
            return f"{native} of {agent.title} is {' and '.join(meanings)} at once"
    return None


def _meant(matcher: Json, meaning: str) -> bool:
    parts = _parts(matcher)
    return meaning in parts or any(type(part) is dict and _fits(part.get("pattern", "$."), meaning) for part in parts)


def matcher_of(agent: Agent, tools: list[Json]) -> Json:
    """A matcher for fitting names whose own matcher is not known."""
    parts: list[Json] = []
    for one in tools:
        if type(one) is str and STAR in one:
            parts.append({"pattern": "^" + re.escape(one).replace(re.escape(STAR), ".*") + "$"})
        elif type(one) is str:
            read = from_native(agent, one)
            parts += read if type(read) is list else [one if read is None else read]
        else:
            parts.append(one)
    return parts


def is_sound(matcher: Json, *, inside: bool = False) -> bool:
    """Whether a matcher that was read from somewhere has the shape of one."""
    if type(matcher) is list and not inside:
        return all(is_sound(part, inside=True) for part in matcher)
    if type(matcher) is not dict:
        return type(matcher) is str or (matcher is None and not inside)
    if "pattern" in matcher:
        return type(matcher["pattern"]) is str
    mcp = matcher.get("mcp")
    return type(mcp) is dict and type(mcp.get("server")) is str and type(mcp.get("tool", "")) in (str, type(None))
