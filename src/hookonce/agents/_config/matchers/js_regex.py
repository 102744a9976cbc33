"""JavaScript regex matchers: for agents that search one pattern anywhere in a tool's name."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hookonce.agents._config.matchers.canonical import from_native
from hookonce.agents._config.matchers.coverage import canonical_coverage, explain_coverage_gap
from hookonce.agents._config.matchers.reachability import fits_known_tools
from hookonce.base.regex import compile_re2
from hookonce.model import Agent, Json
from hookonce.vocabulary.tools import ARGUMENTS

_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\/]")
_CLASS = r"\[\^?\]|\[(?:\\.|[^\]\\])+\]"  # in JavaScript [] is a class of nothing, and [^] one of everything
_JS_TOKEN = re.compile(rf"\\[bB]|\\.|{_CLASS}|\[|\(\?<(?=\w)|\(\?(?:<?[=!]|:)|\(\?|[*+?}}]\+", re.DOTALL)
_STEP = re.compile(rf"\\.|{_CLASS}|.", re.DOTALL)
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def is_js_regex(text: str) -> bool:
    """Whether JavaScript takes a text for a pattern, as far as Python can tell; a doubtful one does not."""
    try:
        re.compile(_JS_TOKEN.sub(_to_python, text))
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True


def _to_python(match: re.Match[str]) -> str:
    """What Python must read in the place of something that only JavaScript reads so; flags and the like are neither."""
    token = match.group()
    if token[0] == "[" and token != "[":
        if any(first > last for first, last in _RANGE.findall(re.sub(r"\\.", "!", token[1:-1]))):
            raise ValueError("a range that ends before it begins")
        return "!"
    if token[0] == "\\":
        return token if token in {r"\b", r"\B"} else "!"
    if token in {"(?:", "(?=", "(?!", "(?<=", "(?<!"}:
        return "(?:"
    if token == "(?<":
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
    parts = matcher if type(matcher) is list else [matcher]
    part_patterns = [_render_part(agent, part, mcp) for part in parts]
    texts = list(dict.fromkeys(text for patterns, _ in part_patterns for text in patterns))
    losses = [why for _, why in part_patterns if why is not None]
    for native, kinds in _tool_meanings(agent).items():
        if (
            len(kinds) > 1
            and native in texts
            and not all(any(_is_about(part, kind) for part in parts) for kind in kinds)
        ):
            losses.append(f"{native} of {agent.title} is {' and '.join(kinds)} at once")
    return texts, list(dict.fromkeys(losses))


def is_exactly_rendered(agent: Agent, matcher: Json, mcp: McpPatterns, text: str) -> bool:
    """Whether a matcher is written as that text, and all of it is said by it."""
    texts, losses = render_patterns(agent, matcher, mcp)
    return "|".join(texts) == text and not losses and fits_known_tools(agent, matcher)


def _render_part(agent: Agent, part: Json, mcp: McpPatterns) -> tuple[list[str], str | None]:
    if type(part) is dict and "mcp" in part:
        return [mcp.tools(part["mcp"]["server"], part["mcp"].get("tool"))], mcp.loss
    natives = [
        native for native, kinds in _tool_meanings(agent).items() if any(_is_about(part, kind) for kind in kinds)
    ]
    if type(part) is str:
        return (natives, None) if natives else _render_unknown_name(agent, part)
    if canonical_coverage(part["pattern"]).some_mcp:
        natives.append(mcp.every)
    if natives or any(_is_about(part, native) for native in agent.tools):
        return natives or [part["pattern"]], explain_coverage_gap(agent, part["pattern"]) if natives else None
    return [part["pattern"]], f"no tool of {agent.title} is known that {part['pattern']} fits; it is kept as it is"


def _render_unknown_name(agent: Agent, name: str) -> tuple[list[str], str | None]:
    if name in agent.tools:
        return [name], f"{name} is what {agent.title} calls {agent.tools[name]}"
    return [escape_name(name)], f"{agent.title} has no tool for {name}" if name in ARGUMENTS else None


def _tool_meanings(agent: Agent) -> Mapping[str, list[str]]:
    several = {} if agent.config is None else agent.config.ambiguous
    return {native: several.get(native, [canonical]) for native, canonical in agent.tools.items()}


def _is_about(part: Json, name: str) -> bool:
    """Whether a part of a matcher is about a name; a pattern that RE2 does not know is about nothing of ours."""
    if type(part) is str:
        return part == name
    try:
        return "pattern" in part and compile_re2(part["pattern"]).search(name) is not None
    except ValueError:
        return False


def parse_pattern(agent: Agent, text: str) -> Json:
    """A native pattern in canonical words; a piece of a name stays a pattern, because the agent finds it anywhere."""
    parts: list[Json] = []
    for piece in split_alternatives(text):
        matcher = _parse_piece(agent, piece)
        if matcher is None:
            return None
        parts += [part for part in (matcher if type(matcher) is list else [matcher]) if part not in parts]
    return parts[0] if len(parts) == 1 else parts


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
    is_name_piece = (
        type(matcher) is str and matcher not in ARGUMENTS and any(matcher in native for native in agent.tools)
    )
    return {"pattern": matcher} if is_name_piece else matcher
