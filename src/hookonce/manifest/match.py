"""Matching of a tool call: by tool name, pattern, MCP server and tool, or a list of them."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from hookonce.base.regex import compile_re2
from hookonce.model import Problem


class MatchSubject(Struct, frozen=True):
    """The tool call that is matched: canonical name, native name, and server and tool of an MCP call."""

    name: str
    native: str
    server: str | None = None
    tool: str | None = None


def find_matcher_problems(matcher: Any, path: str, *, inside: bool = False) -> Iterator[Problem]:
    """What is wrong with a matcher."""
    if type(matcher) is str:
        return
    if type(matcher) is list and not inside:
        for index, part in enumerate(matcher):
            yield from find_matcher_problems(part, f"{path}[{index}]", inside=True)
    elif type(matcher) is dict and "pattern" in matcher and "mcp" in matcher:
        yield path, "expected either a pattern or an MCP server, not both"
    elif type(matcher) is dict and "pattern" in matcher:
        yield from _pattern_problems(matcher["pattern"], f"{path}.pattern")
    elif type(matcher) is dict and "mcp" in matcher:
        yield from _mcp_problems(matcher["mcp"], f"{path}.mcp")
    else:
        yield path, "expected a tool name, {pattern}, {mcp: {server, tool}} or a list of those"


def _pattern_problems(text: Any, path: str) -> Iterator[Problem]:
    if type(text) is not str:
        yield path, "expected a string"
        return
    try:
        compile_re2(text)
    except ValueError as fault:
        yield path, f"not an RE2 pattern: {fault}"


def _mcp_problems(mcp: Any, path: str) -> Iterator[Problem]:
    if type(mcp) is not dict:
        yield path, "expected an object with server and perhaps tool"
        return
    if type(mcp.get("server")) is not str:
        yield f"{path}.server", "is required" if mcp.get("server") is None else "expected a string"
    if mcp.get("tool") is not None and type(mcp["tool"]) is not str:
        yield f"{path}.tool", "expected a string"


def matches(matcher: Any, subject: MatchSubject, *, natively: bool = False) -> bool:
    """Whether a matcher without problems fits a tool call; `natively` tries patterns on the native name alone."""
    if matcher is None:
        return True
    if type(matcher) is list:
        return any(matches(part, subject, natively=natively) for part in matcher)
    if type(matcher) is str:
        return matcher in {subject.name, subject.native}
    if "pattern" in matcher:
        regex = compile_re2(matcher["pattern"])
        names = (subject.native,) if natively else (subject.name, subject.native)
        return any(regex.search(name) is not None for name in names)
    mcp = matcher["mcp"]
    return subject.server == mcp["server"] and mcp.get("tool") in {None, subject.tool}
