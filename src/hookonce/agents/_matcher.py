"""Matchers in an agent's own words: lists of tool names joined by a bar, patterns, MCP names."""

import re
from collections.abc import Mapping
from typing import Any

from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import compiled

_EVERYTHING = frozenset({"", "*", ".*"})
_ANY = "x"  # stands for any tool while a name is put together or taken apart
_LIST = re.compile(r"[A-Za-z0-9_|, -]+")


def to_native(agent: Agent, matcher: Json) -> str | None:
    """The matcher as the agent would have it written; None for every tool."""
    if matcher is None:
        return None
    parts = matcher if type(matcher) is list else [matcher]
    return "|".join(dict.fromkeys(name for part in parts for name in _names(agent, part)))


def _names(agent: Agent, part: Any) -> list[str]:
    if type(part) is str:
        return [_native(agent, part) or part]
    if "pattern" in part:
        return _fitting(agent, part["pattern"]) or [part["pattern"]]
    wanted = part["mcp"]
    name = agent.mcp_name or "mcp__{}__{}".format
    if wanted.get("tool"):
        return [name(wanted["server"], wanted["tool"])]
    return [name(wanted["server"], _ANY).removesuffix(_ANY) + ".*"]


def _native(agent: Agent, name: str) -> str | None:
    """The agent's tool for a canonical one: the first of its own, else one that does that too."""
    own = (native for native, known in agent.tools.items() if known == name and native not in _ambiguous(agent))
    return next(own, None) or next((native for native, known in _ambiguous(agent).items() if name in known), None)


def _ambiguous(agent: Agent) -> Mapping[str, list[str]]:
    return {} if agent.config is None else agent.config.ambiguous


def vague(agent: Agent, matcher: Json) -> str | None:
    """Why a matcher does not mean the same on the agent, if it does not."""
    for part in matcher if type(matcher) is list else [matcher]:
        if type(part) is not str or part not in ARGUMENTS:
            continue
        native = _native(agent, part)
        if native is None:
            return f"{agent.title} has no tool for {part}"
        if native in _ambiguous(agent) and not _all_named(_ambiguous(agent)[native], matcher):
            return f"{native} of {agent.title} is {' and '.join(_ambiguous(agent)[native])} at once"
    return None


def _all_named(meanings: list[str], matcher: Json) -> bool:
    return type(matcher) is list and all(meaning in matcher for meaning in meanings)


def _fitting(agent: Agent, pattern: str) -> list[str]:
    """The native names of the canonical tools that a pattern fits."""
    fits = compiled(pattern).search
    return [native for native, known in agent.tools.items() if native[-1] != "*" and fits(known) is not None]


def from_native(agent: Agent, text: str) -> Json:
    """A native matcher in canonical words; a pattern stays one."""
    if text in _EVERYTHING:
        return None
    if (server := _server(agent, text)) is not None:
        return {"mcp": {"server": server}}
    if _LIST.fullmatch(text) is None:
        return {"pattern": text}
    parts = [part for name in re.split(r"[|,]", text) if name.strip() for part in _canonical(agent, name.strip())]
    return parts[0] if len(parts) == 1 else parts


def _server(agent: Agent, text: str) -> str | None:
    """The server of a name whose tool is anything."""
    if not text.endswith(".*") or "|" in text or agent.mcp is None:
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
