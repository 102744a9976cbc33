"""Matchers in an agent's own words: lists of tool names joined by a bar, patterns, MCP names."""

import re
from collections.abc import Mapping
from typing import Any

from hookonce.agents.configs.breadth import beyond, canonically, is_everything
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import compiled

_EVERYTHING = frozenset({"", "*", ".*"})
ANY_MCP = "^mcp:"  # the canonical names of all MCP tools
_ANY = "anyx"  # stands for any tool while a name is put together or taken apart
_WORD = re.compile(r"[A-Za-z0-9_ -]+")
_BRACKETS = re.compile(r"[()\[\]{}\\]")  # a bar within these divides something else than the whole


def to_native(agent: Agent, matcher: Json) -> str | None:
    """The matcher as the agent would have it written; None for every tool."""
    if is_everything(matcher):
        return None
    parts = matcher if type(matcher) is list else [matcher]
    return "|".join(dict.fromkeys(name for part in parts for name in _names(agent, part)))


def _names(agent: Agent, part: Any) -> list[str]:
    if type(part) is str:
        return _natives(agent, part) or [part]
    if "pattern" in part:
        return _fitting(agent, part["pattern"]) or [part["pattern"]]
    wanted = part["mcp"]
    name = agent.mcp_name or "mcp__{}__{}".format
    if wanted.get("tool"):
        return [name(wanted["server"], wanted["tool"])]
    return [name(wanted["server"], _ANY).removesuffix(_ANY) + ".*"]


def _natives(agent: Agent, name: str) -> list[str]:
    """The agent's tools for a canonical one, all of them, so that none passes unseen."""
    otherwise = {*_ambiguous(agent), *(agent.config.aside if agent.config else ())}
    own = [native for native, known in agent.tools.items() if known == name and native not in otherwise]
    several = [native for native, known in _ambiguous(agent).items() if name in known]
    return [native for native in own + several if native[-1] != "*"]


def _ambiguous(agent: Agent) -> Mapping[str, list[str]]:
    return {} if agent.config is None else agent.config.ambiguous


def vague(agent: Agent, matcher: Json) -> str | None:
    """Why a matcher does not mean the same on the agent, if it does not."""
    if is_everything(matcher):
        return None
    parts = matcher if type(matcher) is list else [matcher]
    for part in parts:
        if type(part) is str and part in ARGUMENTS and not _natives(agent, part):
            return f"{agent.title} has no tool for {part}"
        if type(part) is dict and "pattern" in part and (why := _astray(agent, part["pattern"])) is not None:
            return why
        if type(part) is dict and "mcp" in part and from_native(agent, _names(agent, part)[0]) != part:
            return f"{agent.title} calls it {_names(agent, part)[0]}, which may mean others too"
    written = {name for part in parts for name in _names(agent, part)}
    for native, meanings in _ambiguous(agent).items():
        if native in written and not all(_meant(parts, meaning) for meaning in meanings):
            return f"{native} of {agent.title} is {' and '.join(meanings)} at once"
    return None


def _astray(agent: Agent, pattern: str) -> str | None:
    """What a pattern says otherwise than the names that are written for it."""
    if _fitting(agent, pattern):
        return beyond(agent, pattern)
    if any(_fits(pattern, native) for native in agent.tools):
        return f"{pattern} fits tools by the names that {agent.title} gives them, and is kept as it is"
    return f"no tool of {agent.title} is known that {pattern} fits; the pattern is kept as it is"


def _meant(parts: list[Any], name: str) -> bool:
    return any(part == name or (type(part) is dict and _fits(part.get("pattern"), name)) for part in parts)


def _fits(pattern: str | None, name: str) -> bool:
    """Whether a pattern fits a name; one that RE2 does not know, from some agent's own file, fits nothing of ours."""
    try:
        return pattern is not None and compiled(pattern).search(name) is not None
    except ValueError:
        return False


def _fitting(agent: Agent, pattern: str) -> list[str]:
    """The native names of the canonical tools that a pattern fits, and of any MCP tool if it fits those."""
    own = [native for native, known in agent.tools.items() if native[-1] != "*" and _fits(pattern, known)]
    every = _any_mcp(agent) if canonically(pattern).some_mcp else None
    return own if every is None else [*own, every]


def from_native(agent: Agent, text: str) -> Json:
    """A native matcher in canonical words; a pattern stays one."""
    if text in _EVERYTHING:
        return None
    if _BRACKETS.search(text) is not None:
        return {"pattern": text}
    found = [part for name in re.split(r"[|,]", text) if name.strip() for part in _part(agent, name.strip())]
    parts = [part for index, part in enumerate(found) if part not in found[:index]]
    return parts[0] if len(parts) == 1 else parts


def _part(agent: Agent, text: str) -> list[Json]:
    if (server := _server(agent, text)) is not None:
        return [{"mcp": {"server": server}}]
    if text == _any_mcp(agent):
        return [{"pattern": ANY_MCP}]
    return _canonical(agent, text) if _WORD.fullmatch(text) else [{"pattern": text}]


def _any_mcp(agent: Agent) -> str | None:
    return None if agent.mcp_name is None else agent.mcp_name(_ANY, _ANY).replace(_ANY, ".*")


def _server(agent: Agent, text: str) -> str | None:
    """The server of a name whose tool is anything."""
    if not text.endswith(".*") or text.count("*") > 1 or agent.mcp is None:
        return None
    found = agent.mcp(text[:-2] + _ANY, {})
    return found[0] if found is not None and found[1] == _ANY and found[0] != "?" else None


def _canonical(agent: Agent, name: str) -> list[Json]:
    if (several := _ambiguous(agent).get(name)) is not None:
        return list(several)
    if (known := agent.tools.get(name)) is not None:
        return [known]
    found = None if agent.mcp is None else agent.mcp(name, {})
    return [name if found is None or found[0] == "?" else {"mcp": {"server": found[0], "tool": found[1]}}]
