"""Kiro's matchers: a pattern on the tool names of today, selectors and kinds of tools in its older files."""

import re
from typing import Any

from hookonce.agents.configs.breadth import beyond, canonically, is_everything
from hookonce.agents.configs.entry import config_of
from hookonce.agents.configs.matcher import ANY_MCP
from hookonce.model import Agent, Json
from hookonce.patterns import compiled
from hookonce.texts import dump

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
_KINDS: dict[str, list[Json]] = {
    "read": ["file_read"],
    "write": [*_WRITES],
    "shell": ["shell"],
    "web": ["web_search", "web_fetch"],
    "@mcp": [{"pattern": ANY_MCP}],
    "@builtin": [_BUILT_IN],
}
_EVERYTHING = frozenset({"", "*", ".*"})
_SPECIAL = re.compile(r"[.^$*+?()\[\]{}|\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PIECE = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_LITERAL = re.compile(r"(?:\\[^A-Za-z0-9]|[^.^$*+?()\[\]{}|\\])+", re.DOTALL)
_GLOB = re.compile(r"[*?]")


def to_pattern(agent: Agent, matcher: Json) -> str | None:
    """The matcher as a pattern on tool names; None for every tool."""
    if is_everything(matcher):
        return None
    return "|".join(dict.fromkeys(piece for part in _listed(matcher) for piece in _pieces(agent, part)))


def _pieces(agent: Agent, part: Any) -> list[str]:
    if type(part) is str:
        return list(_NAMES.get(part, ())) or [_escaped(part)]
    if "mcp" in part:
        server, tool = part["mcp"]["server"], part["mcp"].get("tool")
        return [f"@{_escaped(server)}/{_escaped(tool) if tool else '.*'}"]
    return _fitting(agent, part["pattern"]) or [part["pattern"]]


def _fitting(agent: Agent, pattern: str) -> list[str]:
    """The names of today of all tools that a pattern fits by any name, and of MCP tools if it fits those."""
    found = [name for tool, names in _NAMES.items() if _fits(pattern, tool) for name in names]
    for native in (native for native in agent.tools if _fits(pattern, native)):
        found += [native] if native in _TOOLS else _NAMES.get(agent.tools[native], ())
    return list(dict.fromkeys([*found, _EVERY_MCP] if canonically(pattern).some_mcp else found))


def _fits(pattern: str, name: str) -> bool:
    try:
        return compiled(pattern).search(name) is not None
    except ValueError:  # from some agent's own file, which knows more patterns than manifests do
        return False


def vague(agent: Agent, matcher: Json) -> str | None:
    """Why a matcher does not mean the same on Kiro, if it does not."""
    if is_everything(matcher):
        return None
    parts = _listed(matcher)
    meant = {dump(one) for part in parts for one in _meanings(agent, part)}
    for part in parts:
        text = to_pattern(agent, part) or ""
        again = {dump(one) for one in _listed(from_pattern(agent, text))}
        if type(part) is dict and "pattern" in part and not _fitting(agent, part["pattern"]):
            return f"no tool of {agent.title} is known that {text} fits; it is kept as it is"
        if type(part) is dict and "pattern" in part and (why := beyond(agent, part["pattern"])) is not None:
            return why
        named = {dump(one) for one in _meanings(agent, part)}
        if not named <= again <= meant or _by_name(part, named):
            return f"{agent.title} takes {text} for {b' and '.join(sorted(again)).decode()}"
    return None


def _by_name(part: Any, named: set[bytes]) -> bool:
    """Whether a pattern fits some tool by Kiro's own name alone."""
    if type(part) is not dict or "pattern" not in part:
        return False
    return any(dump(tool) in named and not _fits(part["pattern"], tool) for tool in _NAMES)


def _meanings(agent: Agent, part: Any) -> list[Json]:
    """A part of a matcher, a pattern as the canonical tools that it fits by any name."""
    if type(part) is not dict or "pattern" not in part:
        return [part]
    names = [(tool, native) for native, tool in agent.tools.items()]
    found: list[Json] = [tool for tool, native in names if any(_fits(part["pattern"], name) for name in (tool, native))]
    return [*found, {"pattern": ANY_MCP}] if canonically(part["pattern"]).some_mcp else found


def from_pattern(agent: Agent, text: str) -> Json:
    """A pattern of today's files in canonical words; what is more than a list of names stays a pattern."""
    pieces = _PIECE.findall(text)
    if text in _EVERYTHING:
        return None
    if re.search(r"[()\[\]{}]", _ESCAPED.sub("", text)) or "|".join(pieces) != text:
        return {"pattern": text}
    return _joined([part for piece in pieces for part in _parts(agent, piece)])


def _parts(agent: Agent, piece: str) -> list[Json]:
    if piece == _EVERY_MCP:
        return [{"pattern": ANY_MCP}]
    if piece.startswith("@") and piece.endswith("/.*") and _LITERAL.fullmatch(piece[1:-3]):
        return [{"mcp": {"server": _plain(piece[1:-3])}}]
    if piece in _TOOLS and piece not in config_of(agent).ambiguous:
        return [_TOOLS[piece]]
    return _named(agent, _plain(piece)) if _LITERAL.fullmatch(piece) else [{"pattern": piece}]


def _named(agent: Agent, name: str) -> list[Json]:
    """What one name stands for; a server alone stands for all of its tools."""
    if name.startswith("@") and len(name) > 1:
        server, _, tool = name[1:].partition("/")
        return [{"mcp": {"server": server} | ({"tool": tool} if tool else {})}]
    return list(config_of(agent).ambiguous.get(name, [agent.tools.get(name, name)]))


def from_selector(agent: Agent, text: str) -> Json:
    """A selector of agent files: a name, a name with wildcards, a server, or a server and its tool."""
    if text in _EVERYTHING:
        return None
    name = text.removesuffix("/*") if text.startswith("@") else text
    if name == "@builtin":
        return _BUILT_IN
    if _GLOB.search(name) is None:
        return _joined(_named(agent, name))
    wild = {"*": ".*", "?": "."}
    return {"pattern": f"^{''.join(wild.get(letter) or _escaped(letter) for letter in text)}$"}


def from_kinds(agent: Agent, kinds: Any) -> Json:
    """The kinds of tools that a hook file before 1.0 lists; None for every tool."""
    listed = [kind for kind in kinds if type(kind) is str] if type(kinds) is list else []
    if not listed or not _EVERYTHING.isdisjoint(listed):
        return None
    return _joined([part for kind in listed for part in _kind(agent, kind)])


def _kind(agent: Agent, kind: str) -> list[Json]:
    if kind in _KINDS:
        return _KINDS[kind]
    return [{"pattern": kind}] if kind.startswith("@") else _listed(from_pattern(agent, kind))


def _joined(parts: list[Json]) -> Json:
    distinct = [part for number, part in enumerate(parts) if part not in parts[:number]]
    return distinct[0] if len(distinct) == 1 else distinct


def _listed(matcher: Json) -> list[Json]:
    return matcher if type(matcher) is list else [matcher]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
