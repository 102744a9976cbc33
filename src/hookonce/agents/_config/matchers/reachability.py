"""Matcher reachability: whether a matcher can fit any tool of an agent; if not, its hook would never run."""

import re

from hookonce.agents._config.gaps import lost_gap, warning_gap
from hookonce.agents._config.matchers.coverage import canonical_coverage, native_coverage
from hookonce.agents._config.matchers.parts import parts_of, pattern_of, tool_meanings
from hookonce.base.regex import fits_native_pattern
from hookonce.model import Agent, Gap, Hook, Json
from hookonce.vocabulary.tools import ARGUMENTS

_LITERAL_NAME = re.compile(r"\^([\w-]+)\$")  # a pattern that is but a name
_WORD = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_MAX_PATTERN_WORDS = 12  # more of them no pattern on one server's tools has


def reachability_gaps(agent: Agent, index: int, hook: Hook, losses: list[str]) -> list[Gap]:
    """The gaps of a matcher: the hook is lost if no tool can fit; else these losses, and names that are unknown."""
    if (why := explain_unreachable(agent, hook.matcher)) is not None:
        return [lost_gap(index, hook, "matcher", why)]
    gaps = [warning_gap(agent, index, hook, "matcher", why) for why in losses]
    names = _unknown_names(agent, hook.matcher)
    why = f"no tool {' or '.join(names)} of {agent.title} is known; without one it never runs"
    return [*gaps, idle_hook_gap(agent, index, hook, why)] if names else gaps


def explain_unreachable(agent: Agent, matcher: Json) -> str | None:
    """The reason why no tool of the agent can fit a matcher; None if some can."""
    faults = [_explain_unreachable_part(agent, part) for part in parts_of(matcher)]
    if not faults or None in faults:
        return None
    return "; ".join(dict.fromkeys(map(str, faults))) + ", so it would never run"


def idle_hook_gap(agent: Agent, index: int, hook: Hook, why: str) -> Gap:
    """A gap for a hook that is written, and most likely never called: whatever it could prevent, it does not."""
    return warning_gap(agent, index, hook, "matcher", why, effect="observes")


def fits_known_tools(agent: Agent, matcher: Json) -> bool:
    """Whether every part of a matcher fits some tool that is known; what an agent's own file says may be more."""
    return not _unknown_names(agent, matcher) and not any(
        _explain_unreachable_part(agent, part) for part in parts_of(matcher)
    )


def _unknown_names(agent: Agent, matcher: Json) -> list[str]:
    return [name for name in map(_literal_name, parts_of(matcher)) if name is not None and _is_unknown(agent, name)]


def _explain_unreachable_part(agent: Agent, part: Json) -> str | None:
    """Why a part of a matcher fits no tool; names that nobody knows are given the benefit of the doubt."""
    if type(part) is str:
        has_tool = part not in ARGUMENTS or part in agent.tools or part in _canonical_tools(agent)
        return None if has_tool else f"{agent.title} has no tool for {part}"
    pattern = pattern_of(part)
    if pattern is None or _literal_name(part) is not None or can_fit_tool(agent, pattern):
        return None
    return f"no tool of {agent.title} is known that {pattern} fits"


def can_fit_tool(agent: Agent, pattern: str) -> bool:
    """Whether a pattern fits some tool by its canonical name or the agent's own, or may fit one of an MCP server."""
    coverages = (canonical_coverage(pattern), native_coverage(agent, pattern))
    if any(coverage.unknown_tools or coverage.some_mcp for coverage in coverages):
        return True
    names = [*_canonical_tools(agent), *agent.tools, *_mcp_names(agent, pattern)]
    return any(fits_native_pattern(pattern, name) for name in names)


def _mcp_names(agent: Agent, pattern: str) -> list[str]:
    """Names of MCP tools there, put together from those words of a pattern that it does not fit by themselves."""
    candidates = ["anyx", *_WORD.findall(pattern)[:_MAX_PATTERN_WORDS]]
    words = [word for word in candidates if not fits_native_pattern(pattern, word)]
    variants = [tool for word in words for tool in (word, f"{word}_x", f"x_{word}")]
    tools = [tool for tool in variants if not fits_native_pattern(pattern, tool)]
    return [] if agent.mcp_name is None else [agent.mcp_name(server, tool) for server in words for tool in tools]


def _canonical_tools(agent: Agent) -> set[str]:
    return {kind for kinds in tool_meanings(agent).values() for kind in kinds}


def _literal_name(part: Json) -> str | None:
    if type(part) is str:
        return part
    match = _LITERAL_NAME.fullmatch(pattern_of(part) or "")
    return match and match[1]


def _is_unknown(agent: Agent, name: str) -> bool:
    if name in ARGUMENTS or name in agent.tools:
        return False
    mcp = None if agent.mcp is None else agent.mcp(name, {})
    return mcp is None or mcp[0] == "?"
