"""JavaScript regex dialect of matchers: for agents that search one pattern anywhere in a tool's name."""

import re
from collections.abc import Callable
from typing import NamedTuple

from hookonce.agents._config.matchers.alternation import from_native
from hookonce.agents._config.matchers.dialect import fits_known_tools
from hookonce.agents._config.matchers.parts import (
    canonical_coverage,
    explain_ambiguity,
    explain_coverage_gap,
    fits_name,
    is_about,
    join_parts,
    parts_of,
    pattern_of,
    tool_meanings,
)
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

_SPECIAL = lazy_pattern(r"[.*+?^${}()|\[\]\\/]")
_CLASS = r"\[\^?\]|\[(?:\\.|[^\]\\])+\]"  # in JavaScript [] is a class of nothing, and [^] one of everything
_JS_TOKEN = lazy_pattern(rf"\\[bB]|\\.|{_CLASS}|\[|\(\?<(?=\w)|\(\?(?:<?[=!]|:)|\(\?|[*+?}}]\+", re.DOTALL)
_STEP = lazy_pattern(rf"\\.|{_CLASS}|.", re.DOTALL)
_RANGE = lazy_pattern(r"(.)-(.)", re.DOTALL)


def is_js_regex(text: str) -> bool:
    """Whether JavaScript takes a text for a pattern, as far as Python can tell; a doubtful one does not."""
    try:
        re.compile(_JS_TOKEN.sub(_to_python, text))
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True


def _to_python(match: re.Match[str]) -> str:
    """What Python must read in the place of something that only JavaScript reads so; flags and the like are neither."""
    piece = match.group()
    if piece[0] == "[" and piece != "[":
        if any(first > last for first, last in _RANGE.findall(re.sub(r"\\.", "!", piece[1:-1]))):
            raise ValueError("a range that ends before it begins")
        return "!"
    if piece[0] == "\\":
        return piece if piece in {r"\b", r"\B"} else "!"
    if piece in {"(?:", "(?=", "(?!", "(?<=", "(?<!"}:
        return "(?:"
    if piece == "(?<":
        return "(?P<"
    raise ValueError("no JavaScript")


def escape_name(name: str) -> str:
    """A JavaScript regex that fits a name literally."""
    return _SPECIAL.sub(r"\\\g<0>", name)


class McpPatterns(NamedTuple):
    """How an agent's matchers speak of MCP tools: all of them, those of a server or one, and what that leaves out."""

    every: str
    tools: Callable[[str, str | None], str]
    loss: str | None = None


def render_patterns(agent: Agent, matcher: Json, mcp: McpPatterns) -> tuple[list[str], list[str]]:
    """The patterns that together say what a matcher says, and the reasons where they do not."""
    parts = parts_of(matcher)
    part_patterns = [_render_part(agent, part, mcp) for part in parts]
    texts = list(dict.fromkeys(text for patterns, _ in part_patterns for text in patterns))
    losses = [*(why for _, why in part_patterns), explain_ambiguity(agent, texts, parts)]
    return texts, list(dict.fromkeys(why for why in losses if why is not None))


def write_readable_patterns(
    agent: Agent, matcher: Json, mcp: McpPatterns, prefix: str = ""
) -> tuple[list[str], list[str]]:
    """As `render_patterns`, without patterns that JavaScript could not read; an agent's prefix is no part of one."""
    texts, losses = render_patterns(agent, matcher, mcp)
    readable = [text for text in texts if is_js_regex(text.removeprefix(prefix))]
    return readable, losses + [f"{agent.title} could not read {text}" for text in texts if text not in readable]


def is_exactly_rendered(agent: Agent, matcher: Json, mcp: McpPatterns, text: str) -> bool:
    """Whether a matcher is written as that text, and all of it is said by it."""
    texts, losses = render_patterns(agent, matcher, mcp)
    return "|".join(texts) == text and not losses and fits_known_tools(agent, matcher)


def _render_part(agent: Agent, part: Json, mcp: McpPatterns) -> tuple[list[str], str | None]:
    if type(part) is dict and "mcp" in part:
        return [mcp.tools(part["mcp"]["server"], part["mcp"].get("tool"))], mcp.loss
    natives = _natives_about(agent, part)
    pattern = pattern_of(part)
    if pattern is None:
        return (natives, None) if natives else _render_unknown_name(agent, part)
    natives += [mcp.every] if canonical_coverage(pattern).some_mcp else []
    if natives:
        return natives, explain_coverage_gap(agent, pattern)
    fits_native = any(fits_name(pattern, native) for native in agent.tools)
    unknown = f"no tool of {agent.title} is known that {pattern} fits; it is kept as it is"
    return [pattern], None if fits_native else unknown


def _natives_about(agent: Agent, part: Json) -> list[str]:
    meanings = [
        (native, kinds) for native, kinds in tool_meanings(agent).items() if native not in agent.config.excluded_tools
    ]
    return [native for native, kinds in meanings if any(is_about(part, kind) for kind in kinds)]


def _render_unknown_name(agent: Agent, name: str) -> tuple[list[str], str | None]:
    if name in agent.config.excluded_tools:
        return _natives_about(agent, agent.tools[name]), None
    if name in agent.tools:
        return [name], f"{name} is what {agent.title} calls {agent.tools[name]}"
    return [escape_name(name)], f"{agent.title} has no tool for {name}" if name in ARGUMENTS else None


def parse_pattern(agent: Agent, text: str) -> Json:
    """A native pattern in canonical words; a piece of a name stays a pattern, because the agent finds it anywhere."""
    matchers = [_parse_piece(agent, piece) for piece in split_alternatives(text)]
    return None if None in matchers else join_parts(part for matcher in matchers for part in parts_of(matcher))


def split_alternatives(text: str) -> list[str]:
    """A pattern divided at the bars that stand in no brackets."""
    pieces, depth = [""], 0
    for step in _STEP.findall(text):
        depth += (step == "(") - (step == ")")
        if step == "|" and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += step
    return pieces


def _parse_piece(agent: Agent, text: str) -> Json:
    """One of several patterns: a name in which all is taken literally, a known name, or a pattern."""
    plain = re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    if plain != text and escape_name(plain) == text:
        return plain
    if text in agent.tools and text.endswith("*"):  # the name of a family of tools looks like a pattern
        return agent.tools[text]
    matcher = text if "," in text else from_native(agent, text)
    if type(matcher) is str and matcher not in ARGUMENTS and any(matcher in native for native in agent.tools):
        return {"pattern": matcher}
    return matcher
