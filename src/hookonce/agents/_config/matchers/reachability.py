"""Matcher reachability: whether a matcher can fit any tool of an agent; if not, its hook would never run."""

import re
from typing import Any

from hookonce.agents._config.entry import hook_label, lost_gap, warning_gap
from hookonce.agents._config.matchers.coverage import canonical_coverage, native_coverage
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
    names = _unknown_names(agent, _as_list(hook.matcher))
    why = f"no tool {' or '.join(names)} of {agent.title} is known; without one it never runs"
    return [*gaps, idle_hook_gap(index, hook, why)] if names else gaps


def explain_unreachable(agent: Agent, matcher: Json) -> str | None:
    """The reason why no tool of the agent can fit a matcher; None if some can."""
    faults = [_explain_unreachable_part(agent, part) for part in _as_list(matcher)]
    reasons = [fault for fault in faults if fault is not None]
    return (
        "; ".join(dict.fromkeys(reasons)) + ", so it would never run"
        if reasons and len(reasons) == len(faults)
        else None
    )


def idle_hook_gap(index: int, hook: Hook, why: str) -> Gap:
    """A gap for a hook that is written, and most likely never called: whatever it could prevent, it does not."""
    note = f"{hook_label(index, hook)}: {why}"
    where = f"$.hooks[{index}].matcher"
    return Gap(where=where, capability="matcher", strategy="warn", effect="observes", note=note)


def _as_list(matcher: Json) -> list[Json]:
    return matcher if type(matcher) is list else [matcher]


def fits_known_tools(agent: Agent, matcher: Json) -> bool:
    """Whether every part of a matcher fits some tool that is known; what an agent's own file says may be more."""
    parts = _as_list(matcher)
    return not _unknown_names(agent, parts) and all(_explain_unreachable_part(agent, part) is None for part in parts)


def _unknown_names(agent: Agent, parts: list[Json]) -> list[str]:
    return [name for part in parts if (name := _literal_name(part)) is not None and _is_unknown(agent, name)]


def _explain_unreachable_part(agent: Agent, part: Any) -> str | None:
    """Why a part of a matcher fits no tool; names that nobody knows are given the benefit of the doubt."""
    if type(part) is str:
        has_tool = part not in ARGUMENTS or part in agent.tools or part in _canonical_tools(agent)
        return None if has_tool else f"{agent.title} has no tool for {part}"
    if (
        type(part) is not dict
        or "pattern" not in part
        or _literal_name(part) is not None
        or can_fit_tool(agent, part["pattern"])
    ):
        return None
    return f"no tool of {agent.title} is known that {part['pattern']} fits"


def can_fit_tool(agent: Agent, pattern: str) -> bool:
    """Whether a pattern fits some tool by its canonical name or the agent's own, or may fit one of an MCP server."""
    coverages = (canonical_coverage(pattern), native_coverage(agent, pattern))
    if any(coverage.unknown_tools or coverage.some_mcp for coverage in coverages) or any(
        fits_native_pattern(pattern, kind) for kind in _canonical_tools(agent)
    ):
        return True
    if any(fits_native_pattern(pattern, native) for native in agent.tools):
        return True
    return any(fits_native_pattern(pattern, name) for name in _mcp_names(agent, pattern))


def _mcp_names(agent: Agent, pattern: str) -> list[str]:
    """Names of MCP tools there, put together from those words of a pattern that it does not fit by themselves."""
    words = [
        word
        for word in ["anyx", *_WORD.findall(pattern)[:_MAX_PATTERN_WORDS]]
        if not fits_native_pattern(pattern, word)
    ]
    tools = [
        tool for word in words for tool in (word, f"{word}_x", f"x_{word}") if not fits_native_pattern(pattern, tool)
    ]
    return [] if agent.mcp_name is None else [agent.mcp_name(server, tool) for server in words for tool in tools]


def _canonical_tools(agent: Agent) -> set[str]:
    several = {} if agent.config is None else agent.config.ambiguous
    return {kind for native, canonical in agent.tools.items() for kind in several.get(native, [canonical])}


def _literal_name(part: Json) -> str | None:
    if type(part) is str:
        return part
    match = (
        _LITERAL_NAME.fullmatch(part["pattern"]) if type(part) is dict and type(part.get("pattern")) is str else None
    )
    return match and match[1]


def _is_unknown(agent: Agent, name: str) -> bool:
    if name in ARGUMENTS or name in agent.tools:
        return False
    mcp = None if agent.mcp is None else agent.mcp(name, {})
    return mcp is None or mcp[0] == "?"
