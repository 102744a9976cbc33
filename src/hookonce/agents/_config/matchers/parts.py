"""Parts of a canonical matcher (names, patterns, MCP tools), and the canonical meanings of an agent's native tools."""

from collections.abc import Iterable, Mapping

from hookonce.base.regex import compile_re2
from hookonce.model import Agent, Json

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
    return {} if agent.config is None else agent.config.ambiguous


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
