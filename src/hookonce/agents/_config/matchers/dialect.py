"""Matcher dialects: how an agent writes and reads a matcher, and the rules that are the same for all of them.

Generated code has no dialect; it filters by a list of tools (`tool_list`). In all of them a matcher that no tool of the
agent can fit costs the hook.
"""

from collections.abc import Callable
from typing import NamedTuple

from hookonce.agents._config.gaps import lost_gap, no_tool_gap, warning_gap
from hookonce.agents._config.matchers.parts import (
    canonical_coverage,
    native_coverage,
    parts_of,
    pattern_of,
    tool_meanings,
)
from hookonce.agents._config.provider_data import own_matcher
from hookonce.base.regex import fits_native_pattern, lazy_pattern
from hookonce.model import Agent, Gap, Hook, Json
from hookonce.vocabulary.tools import ARGUMENTS

TOOL_EVENTS = frozenset({"before_tool_execute", "after_tool_execute", "tool_use_failure"})
TOOL_EVENTS |= {"permission_request", "permission_denied"}
_LITERAL_NAME = lazy_pattern(r"\^([\w-]+)\$")  # a pattern that is but a name
_WORD = lazy_pattern(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_MAX_PATTERN_WORDS = 12  # more of them no pattern on one server's tools has


class MatcherDialect(NamedTuple):
    """A way to write matchers."""

    write: Callable[[Agent, Json], tuple[str | None, list[str]]]  # the text, None for every tool, and what it lacks
    read: Callable[[Agent, str], Json]
    unwritable: str | None = None  # why there is no text where one was needed


def is_exact(dialect: MatcherDialect, agent: Agent, matcher: Json, text: str) -> bool:
    """Whether a matcher is written as that text, and all of it is said by it."""
    return dialect.write(agent, matcher) == (text, []) and fits_known_tools(agent, matcher)


def write_matcher(dialect: MatcherDialect, agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    """The text of a hook's matcher and the gaps of what it does not say; the hook may be lost by it."""
    if hook.event not in TOOL_EVENTS:
        return None, [no_tool_gap(agent, index, hook)]
    text, losses = dialect.write(agent, hook.matcher)
    if text is None and dialect.unwritable is not None:
        return None, [lost_gap(index, hook, "matcher", dialect.unwritable)]
    return text, reachability_gaps(agent, index, hook, losses)


def reusable_matcher(dialect: MatcherDialect, agent: Agent, hook: Hook) -> str | None:
    """The text that a hook came with, while it means what the hook says; at other events it is about no tool."""
    text = own_matcher(agent, hook)
    is_same = text is not None and hook.matcher == (dialect.read(agent, text) if hook.event in TOOL_EVENTS else None)
    return text if is_same else None


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
    is_reachable = all(_explain_unreachable_part(agent, part) is None for part in parts_of(matcher))
    return is_reachable and not _unknown_names(agent, matcher)


def _unknown_names(agent: Agent, matcher: Json) -> list[str]:
    return [name for name in map(_literal_name, parts_of(matcher)) if name is not None and _is_unknown(agent, name)]


def _explain_unreachable_part(agent: Agent, part: Json) -> str | None:
    """Why a part of a matcher fits no tool; names that nobody knows are given the benefit of the doubt."""
    if type(part) is str:
        has_tool = part not in ARGUMENTS or part in agent.tools or part in _canonical_tools(agent)
        return None if has_tool else f"{agent.title} has no tool for {part}"
    pattern = pattern_of(part)
    if pattern is None or _literal_name(part) is not None or _can_fit_tool(agent, pattern):
        return None
    return f"no tool of {agent.title} is known that {pattern} fits"


def _can_fit_tool(agent: Agent, pattern: str) -> bool:
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
