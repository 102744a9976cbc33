"""Parts of a canonical matcher (names, patterns, MCP tools), what they fit, and what an agent's native tools mean."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from hookonce.base.regex import compile_re2, fits_native_pattern
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

MATCH_ALL_TEXTS = frozenset({"", "*", ".*"})
ANY_MCP_PATTERN = "^mcp:"  # the canonical names of all MCP tools
ANY_MCP_PART: dict[str, Json] = {"pattern": ANY_MCP_PATTERN}
PLACEHOLDER = "anyx"  # stands for any tool while the name of one is put together or taken apart


def parts_of(matcher: Json) -> list[Json]:
    """The parts of a matcher: a list as it is, anything else as the only one."""
    return matcher if type(matcher) is list else [matcher]


def distinct_parts(parts: Iterable[Json]) -> list[Json]:
    """The parts, each once, in their order."""
    distinct: list[Json] = []
    for part in parts:
        distinct += [] if part in distinct else [part]
    return distinct


def join_parts(parts: Iterable[Json]) -> Json:
    """The matcher of these parts, each once; one alone stands without a list."""
    distinct = distinct_parts(parts)
    return distinct[0] if len(distinct) == 1 else distinct


def pattern_of(part: Json) -> str | None:
    """The pattern that a part is; None for a name or an MCP tool."""
    text = part.get("pattern") if type(part) is dict else None
    return text if type(text) is str else None


def fits_name(pattern: str, name: str) -> bool:
    """Whether a pattern fits a name; one that RE2 does not know, from some agent's own file, fits nothing of ours."""
    try:
        return compile_re2(pattern).search(name) is not None
    except ValueError:
        return False


def is_about(part: Json, name: str) -> bool:
    """Whether a part names a tool, or is a pattern that fits its name."""
    pattern = pattern_of(part)
    return part == name if pattern is None else fits_name(pattern, name)


def ambiguous_tools(agent: Agent) -> Mapping[str, list[str]]:
    """The native tools that are several canonical ones at once."""
    return agent.config.ambiguous


def tool_meanings(agent: Agent) -> dict[str, list[str]]:
    """The canonical tools that each native tool is."""
    several = ambiguous_tools(agent)
    return {native: several.get(native, [canonical]) for native, canonical in agent.tools.items()}


def explain_ambiguity(agent: Agent, names: Iterable[str], parts: list[Json]) -> str | None:
    """The native tool among these names that is more than the parts of a matcher are about; None if there is none."""
    for native, meanings in ambiguous_tools(agent).items():
        if native in names and not all(any(is_about(part, meaning) for part in parts) for meaning in meanings):
            return f"{native} of {agent.title} is {' and '.join(meanings)} at once"
    return None


# Neither list has anything in common but being names, so that what fits all of one fits every such name.
_UNKNOWN_NAMES = ("Zq", "zq", "zq_7", "X-9", "DeleteFile", "delete_file")
_MCP_SAMPLES = (("anyx", "anyx"), ("0", "0"), ("github", "anyx"), ("Zed", "q-Q"))


class PatternCoverage(NamedTuple):
    """What a pattern fits: every possible tool, tools that nobody knows, all MCP tools, some MCP tools."""

    all_tools: bool
    unknown_tools: bool
    all_mcp: bool
    some_mcp: bool


def _measure_coverage(fits: Callable[[str], bool], tool_names: Iterable[str], mcp: list[str]) -> PatternCoverage:
    unknown_hits, mcp_hits = [fits(name) for name in _UNKNOWN_NAMES], [fits(name) for name in mcp]
    every = all(unknown_hits) and all(mcp_hits) and all(fits(name) for name in tool_names)
    return PatternCoverage(every, any(unknown_hits), bool(mcp_hits) and all(mcp_hits), any(mcp_hits))


@lru_cache(maxsize=512)
def canonical_coverage(pattern: str) -> PatternCoverage:
    """The breadth of a pattern on canonical names; one that RE2 does not know fits nothing of ours."""
    mcp = [f"mcp:{server}/{tool}" for server, tool in _MCP_SAMPLES]
    return _measure_coverage(lambda name: fits_name(pattern, name), ARGUMENTS, mcp)


def native_coverage(agent: Agent, pattern: str) -> PatternCoverage:
    """The breadth of a pattern of the agent's own file, on the names that its tools have there."""
    mcp = [] if agent.mcp_name is None else [agent.mcp_name(*pair) for pair in _MCP_SAMPLES]
    tool_names = [native for native in agent.tools if native[-1] != "*"]
    return _measure_coverage(lambda name: fits_native_pattern(pattern, name), tool_names, mcp)


def matches_every_tool(matcher: Json) -> bool:
    """Whether a canonical matcher fits every tool there can be, the agent's unknown ones included."""
    patterns = map(pattern_of, parts_of(matcher))
    return matcher is None or any(text is not None and canonical_coverage(text).all_tools for text in patterns)


def explain_coverage_gap(agent: Agent, pattern: str) -> str | None:
    """What a list of the agent's known tools leaves out of a canonical pattern, or adds to it."""
    coverage = canonical_coverage(pattern)
    if coverage.all_tools:
        return None
    if coverage.some_mcp and not coverage.all_mcp:
        return f"{pattern} fits some MCP tools only; here every tool of every MCP server is meant"
    if not coverage.unknown_tools:
        return None
    return f"{pattern} matches unknown tools; here it lists only the known tools of {agent.title} are named"
