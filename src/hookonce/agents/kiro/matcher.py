"""Kiro matchers: a regex on today's tool names; selectors and kinds of tools in legacy files."""

import re
from typing import Any

from hookonce.agents._config.matchers.dialect import MatcherDialect
from hookonce.agents._config.matchers.parts import (
    ANY_MCP_PART,
    MATCH_ALL_TEXTS,
    ambiguous_tools,
    canonical_coverage,
    explain_coverage_gap,
    fits_name,
    is_about,
    join_parts,
    matches_every_tool,
    parts_of,
    pattern_of,
)
from hookonce.base.jsontext import dump
from hookonce.model import Agent, Json

_WRITES = ["file_write", "file_edit"]
# canonical tool → its names since IDE 1.0 and CLI 3, as pieces of a pattern
_NAMES: dict[str, tuple[str, ...]] = {
    "shell": ("execute_bash", "execute_pwsh"),
    "file_read": ("read_file",),
    "file_write": ("fs_write",),
    "file_edit": ("str_replace", "fs_append"),
    "search": ("grep_search",),
    "find": ("list_directory", "file_search"),
    "web_search": ("remote_web_search",),
    "web_fetch": ("web_fetch",),
    "agent": ("invoke_sub_agent", "orchestrate_subagent", "subagent_.*"),
}
_TOOLS = {name: tool for tool, names in _NAMES.items() for name in names}
_BUILT_IN = {"pattern": "^[^@]"}  # only the tools of MCP servers begin with @
_EVERY_MCP = "@.*/.*"
# the kinds of tools that hook files of the IDE before 1.0 may name
_TOOL_KINDS: dict[str, list[Json]] = {
    "read": ["file_read"],
    "write": [*_WRITES],
    "shell": ["shell"],
    "web": ["web_search", "web_fetch"],
    "@mcp": [ANY_MCP_PART],
    "@builtin": [_BUILT_IN],
}
_SPECIAL = re.compile(r"[.^$*+?()\[\]{}|\\]")
_ESCAPE_SEQUENCE = re.compile(r"\\(.)", re.DOTALL)
_PIECE = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_LITERAL = re.compile(r"(?:\\[^A-Za-z0-9]|[^.^$*+?()\[\]{}|\\])+", re.DOTALL)
_GLOB = re.compile(r"[*?]")


def to_pattern(agent: Agent, matcher: Json) -> str | None:
    """The matcher as a pattern on tool names; None for every tool."""
    if matches_every_tool(matcher):
        return None
    return "|".join(dict.fromkeys(piece for part in parts_of(matcher) for piece in _pieces(agent, part)))


def _pieces(agent: Agent, part: Any) -> list[str]:
    if type(part) is str:
        return list(_NAMES.get(part, ())) or [_escape(part)]
    if "mcp" in part:
        server, tool = part["mcp"]["server"], part["mcp"].get("tool")
        return [f"@{_escape(server)}/{_escape(tool) if tool else '.*'}"]
    return _names_fitting(agent, part["pattern"]) or [part["pattern"]]


def _names_fitting(agent: Agent, pattern: str) -> list[str]:
    """The names of today of all tools that a pattern fits by any name, and of MCP tools if it fits those."""
    matching_names = [name for tool, names in _NAMES.items() if fits_name(pattern, tool) for name in names]
    for native in (native for native in agent.tools if fits_name(pattern, native)):
        matching_names += [native] if native in _TOOLS else _NAMES.get(agent.tools[native], ())
    matching_names += [_EVERY_MCP] if canonical_coverage(pattern).some_mcp else []
    return list(dict.fromkeys(matching_names))


def explain_mismatch(agent: Agent, matcher: Json) -> str | None:
    """The reason why a matcher does not mean exactly the same on Kiro; None if it does."""
    if matches_every_tool(matcher):
        return None
    parts = parts_of(matcher)
    meanings = {dump(meaning) for part in parts for meaning in _part_meanings(agent, part)}
    for part in parts:
        text, pattern = to_pattern(agent, part) or "", pattern_of(part)
        round_trip = {dump(meaning) for meaning in parts_of(from_pattern(agent, text))}
        if pattern is not None and not _names_fitting(agent, pattern):
            return f"no tool of {agent.title} is known that {text} fits; it is kept as it is"
        if pattern is not None and (why := explain_coverage_gap(agent, pattern)) is not None:
            return why
        own = {dump(meaning) for meaning in _part_meanings(agent, part)}
        by_own_name = pattern and any(dump(tool) in own and not fits_name(pattern, tool) for tool in _NAMES)
        if not own <= round_trip <= meanings or by_own_name:
            return f"{agent.title} takes {text} for {b' and '.join(sorted(round_trip)).decode()}"
    return None


def _part_meanings(agent: Agent, part: Any) -> list[Json]:
    """A part of a matcher, a pattern as the canonical tools that it fits by any name."""
    pattern = pattern_of(part)
    if pattern is None:
        return [part]
    tools: list[Json] = [tool for native, tool in agent.tools.items() if is_about(part, tool) or is_about(part, native)]
    return [*tools, ANY_MCP_PART] if canonical_coverage(pattern).some_mcp else tools


def from_pattern(agent: Agent, text: str) -> Json:
    """A pattern of today's files in canonical words; what is more than a list of names stays a pattern."""
    pieces = _PIECE.findall(text)
    if text in MATCH_ALL_TEXTS:
        return None
    if re.search(r"[()\[\]{}]", _ESCAPE_SEQUENCE.sub("", text)) or "|".join(pieces) != text:
        return {"pattern": text}
    return join_parts([part for piece in pieces for part in _parse_piece(agent, piece)])


def _write(agent: Agent, matcher: Json) -> tuple[str | None, list[str]]:
    why = explain_mismatch(agent, matcher)
    return to_pattern(agent, matcher), [] if why is None else [why]


KIRO_DIALECT = MatcherDialect(_write, from_pattern)


def _parse_piece(agent: Agent, piece: str) -> list[Json]:
    if piece == _EVERY_MCP:
        return [ANY_MCP_PART]
    if piece.startswith("@") and piece.endswith("/.*") and _LITERAL.fullmatch(piece[1:-3]):
        return [{"mcp": {"server": _unescape(piece[1:-3])}}]
    if piece in _TOOLS and piece not in ambiguous_tools(agent):
        return [_TOOLS[piece]]
    return _tools_for_name(agent, _unescape(piece)) if _LITERAL.fullmatch(piece) else [{"pattern": piece}]


def _tools_for_name(agent: Agent, name: str) -> list[Json]:
    """What one name stands for; a server alone stands for all of its tools."""
    if name.startswith("@") and len(name) > 1:
        server, _, tool = name[1:].partition("/")
        return [{"mcp": {"server": server} | ({"tool": tool} if tool else {})}]
    return list(ambiguous_tools(agent).get(name, [agent.tools.get(name, name)]))


def from_selector(agent: Agent, text: str) -> Json:
    """A selector of agent files: a name, a name with wildcards, a server, or a server and its tool."""
    if text in MATCH_ALL_TEXTS:
        return None
    name = text.removesuffix("/*") if text.startswith("@") else text
    if name == "@builtin":
        return _BUILT_IN
    if _GLOB.search(name) is None:
        return join_parts(_tools_for_name(agent, name))
    wild = {"*": ".*", "?": "."}
    return {"pattern": f"^{''.join(wild.get(letter) or _escape(letter) for letter in text)}$"}


def from_kinds(agent: Agent, kinds: Any) -> Json:
    """The kinds of tools that a hook file before 1.0 lists; None for every tool."""
    kind_names = [kind for kind in kinds if type(kind) is str] if type(kinds) is list else []
    if not kind_names or not MATCH_ALL_TEXTS.isdisjoint(kind_names):
        return None
    parts: list[Json] = []
    for kind in kind_names:
        pattern = {"pattern": kind} if kind.startswith("@") else from_pattern(agent, kind)
        parts += _TOOL_KINDS.get(kind) or parts_of(pattern)
    return join_parts(parts)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _unescape(text: str) -> str:
    return _ESCAPE_SEQUENCE.sub(r"\1", text)
