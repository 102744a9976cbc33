"""Whether a matcher reaches any tool of an agent: one that reaches none would be a hook that never runs."""

import re
from typing import Any

from hookonce.agents.configs.breadth import canonically, natively
from hookonce.agents.configs.entry import called, lost, warned
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Gap, Hook, Json
from hookonce.patterns import picks

_NAME = re.compile(r"\^([\w-]+)\$")  # a pattern that is but a name
_WORD = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_WORDS = 12  # more of them no pattern on one server's tools has


def reached(agent: Agent, index: int, hook: Hook, losses: list[str]) -> list[Gap]:
    """What becomes of a matcher: the hook is lost if it can fit no tool; else these losses and unknown names."""
    if (why := dead(agent, hook.matcher)) is not None:
        return [lost(index, hook, "matcher", why)]
    gaps = [warned(agent, index, hook, "matcher", why) for why in losses]
    names = _unknown(agent, _listed(hook.matcher))
    why = f"no tool {' or '.join(names)} of {agent.title} is known; without one it never runs"
    return [*gaps, idle(index, hook, why)] if names else gaps


def dead(agent: Agent, matcher: Json) -> str | None:
    """Why no tool of the agent can fit a matcher, if none can."""
    faults = [_fault(agent, part) for part in _listed(matcher)]
    told = [fault for fault in faults if fault is not None]
    return "; ".join(dict.fromkeys(told)) + ", so it would never run" if told and len(told) == len(faults) else None


def idle(index: int, hook: Hook, why: str) -> Gap:
    """A gap for a hook that is written, and most likely never called: whatever it could prevent, it does not."""
    note = f"{called(index, hook)}: {why}"
    where = f"$.hooks[{index}].matcher"
    return Gap(where=where, capability="matcher", strategy="warn", effect="observes", note=note)


def _listed(matcher: Json) -> list[Json]:
    return matcher if type(matcher) is list else [matcher]


def is_certain(agent: Agent, matcher: Json) -> bool:
    """Whether every part of a matcher fits some tool that is known; what an agent's own file says may be more."""
    parts = _listed(matcher)
    return not _unknown(agent, parts) and all(_fault(agent, part) is None for part in parts)


def _unknown(agent: Agent, parts: list[Json]) -> list[str]:
    return [name for part in parts if (name := _name(part)) is not None and _is_unknown(agent, name)]


def _fault(agent: Agent, part: Any) -> str | None:
    """Why a part of a matcher fits no tool; names that nobody knows are given the benefit of the doubt."""
    if type(part) is str:
        meant = part not in ARGUMENTS or part in agent.tools or part in _kinds(agent)
        return None if meant else f"{agent.title} has no tool for {part}"
    if type(part) is not dict or "pattern" not in part or _name(part) is not None or reaches(agent, part["pattern"]):
        return None
    return f"no tool of {agent.title} is known that {part['pattern']} fits"


def reaches(agent: Agent, pattern: str) -> bool:
    """Whether a pattern fits some tool by its canonical name or the agent's own, or may fit one of an MCP server."""
    broad = (canonically(pattern), natively(agent, pattern))
    if any(found.strange or found.some_mcp for found in broad) or any(picks(pattern, kind) for kind in _kinds(agent)):
        return True
    if any(picks(pattern, native) for native in agent.tools):
        return True
    return any(picks(pattern, name) for name in _mcp_names(agent, pattern))


def _mcp_names(agent: Agent, pattern: str) -> list[str]:
    """Names of MCP tools there, put together from those words of a pattern that it does not fit by themselves."""
    words = [word for word in ["anyx", *_WORD.findall(pattern)[:_WORDS]] if not picks(pattern, word)]
    tools = [tool for word in words for tool in (word, f"{word}_x", f"x_{word}") if not picks(pattern, tool)]
    return [] if agent.mcp_name is None else [agent.mcp_name(server, tool) for server in words for tool in tools]


def _kinds(agent: Agent) -> set[str]:
    """The canonical tools that the agent has."""
    several = {} if agent.config is None else agent.config.ambiguous
    return {kind for native, known in agent.tools.items() for kind in several.get(native, [known])}


def _name(part: Json) -> str | None:
    if type(part) is str:
        return part
    found = _NAME.fullmatch(part["pattern"]) if type(part) is dict and type(part.get("pattern")) is str else None
    return found and found[1]


def _is_unknown(agent: Agent, name: str) -> bool:
    if name in ARGUMENTS or name in agent.tools:
        return False
    found = None if agent.mcp is None else agent.mcp(name, {})
    return found is None or found[0] == "?"
