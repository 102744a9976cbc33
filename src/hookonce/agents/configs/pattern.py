"""Matchers of agents that look for one pattern anywhere in a tool's name, and read it with JavaScript."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hookonce.agents.configs.breadth import beyond, canonically
from hookonce.agents.configs.matcher import from_native
from hookonce.agents.configs.reach import is_certain
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import compiled

_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\/]")
_CLASS = r"\[\^?\]|\[(?:\\.|[^\]\\])+\]"  # in JavaScript [] is a class of nothing, and [^] one of everything
_TOKEN = re.compile(rf"\\[bB]|\\.|{_CLASS}|\[|\(\?<(?=\w)|\(\?(?:<?[=!]|:)|\(\?|[*+?}}]\+", re.DOTALL)
_STEP = re.compile(rf"\\.|{_CLASS}|.", re.DOTALL)
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def compiles(text: str) -> bool:
    """Whether JavaScript takes a text for a pattern, as far as Python can tell; a doubtful one does not."""
    try:
        re.compile(_TOKEN.sub(_in_python, text))
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True


def _in_python(found: re.Match[str]) -> str:
    """What Python must read in the place of something that only JavaScript reads so; flags and the like are neither."""
    piece = found.group()
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


def literal(name: str) -> str:
    """A pattern for a name, whatever stands in it."""
    return _SPECIAL.sub(r"\\\g<0>", name)


class Mcp(NamedTuple):
    """How an agent's matchers speak of MCP tools: all of them, those of a server or one, and what that leaves out."""

    every: str
    tools: Callable[[str, str | None], str]
    loss: str | None = None


def written(agent: Agent, matcher: Json, mcp: Mcp) -> tuple[list[str], list[str]]:
    """The patterns that together say what a matcher says, and why they do not where they do not."""
    parts = matcher if type(matcher) is list else [matcher]
    told = [_part(agent, part, mcp) for part in parts]
    texts = list(dict.fromkeys(text for found, _ in told for text in found))
    losses = [why for _, why in told if why is not None]
    for native, kinds in _meanings(agent).items():
        if len(kinds) > 1 and native in texts and not all(any(_wants(part, kind) for part in parts) for kind in kinds):
            losses.append(f"{native} of {agent.title} is {' and '.join(kinds)} at once")
    return texts, list(dict.fromkeys(losses))


def is_written(agent: Agent, matcher: Json, mcp: Mcp, text: str) -> bool:
    """Whether a matcher is written as that text, and all of it is said by it."""
    texts, losses = written(agent, matcher, mcp)
    return "|".join(texts) == text and not losses and is_certain(agent, matcher)


def _part(agent: Agent, part: Json, mcp: Mcp) -> tuple[list[str], str | None]:
    if type(part) is dict and "mcp" in part:
        return [mcp.tools(part["mcp"]["server"], part["mcp"].get("tool"))], mcp.loss
    found = [native for native, kinds in _meanings(agent).items() if any(_wants(part, kind) for kind in kinds)]
    if type(part) is str:
        return (found, None) if found else _unknown(agent, part)
    if canonically(part["pattern"]).some_mcp:
        found.append(mcp.every)
    if found or any(_wants(part, native) for native in agent.tools):
        return found or [part["pattern"]], beyond(agent, part["pattern"]) if found else None
    return [part["pattern"]], f"no tool of {agent.title} is known that {part['pattern']} fits; it is kept as it is"


def _unknown(agent: Agent, name: str) -> tuple[list[str], str | None]:
    if name in agent.tools:
        return [name], f"{name} is what {agent.title} calls {agent.tools[name]}"
    return [literal(name)], f"{agent.title} has no tool for {name}" if name in ARGUMENTS else None


def _meanings(agent: Agent) -> Mapping[str, list[str]]:
    """Every tool of the agent with the canonical ones that it is."""
    several = {} if agent.config is None else agent.config.ambiguous
    return {native: several.get(native, [known]) for native, known in agent.tools.items()}


def _wants(part: Json, name: str) -> bool:
    """Whether a part of a matcher is about a name; a pattern that RE2 does not know is about nothing of ours."""
    if type(part) is str:
        return part == name
    try:
        return "pattern" in part and compiled(part["pattern"]).search(name) is not None
    except ValueError:
        return False


def read(agent: Agent, text: str) -> Json:
    """A native pattern in canonical words; a piece of a name stays a pattern, because the agent finds it anywhere."""
    parts: list[Json] = []
    for piece in alternatives(text):
        found = _piece(agent, piece)
        if found is None:
            return None
        parts += [part for part in (found if type(found) is list else [found]) if part not in parts]
    return parts[0] if len(parts) == 1 else parts


def alternatives(text: str) -> list[str]:
    """A pattern divided at the bars that stand in no brackets."""
    pieces, depth = [""], 0
    for step in _STEP.findall(text):
        depth += (step == "(") - (step == ")")
        if step == "|" and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += step
    return pieces


def _piece(agent: Agent, text: str) -> Json:
    """One of several patterns: a name in which all is taken literally, a known name, or a pattern."""
    plain = re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    if plain != text and literal(plain) == text:
        return plain
    if text in agent.tools and text.endswith("*"):  # the name of a family of tools looks like a pattern
        return agent.tools[text]
    found = text if "," in text else from_native(agent, text)
    pieces = type(found) is str and found not in ARGUMENTS and any(found in native for native in agent.tools)
    return {"pattern": found} if pieces else found
