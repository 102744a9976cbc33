"""How much a pattern fits beyond the names that are known, tried on names that nobody gave to a tool."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Json
from hookonce.patterns import compiled, picks

# Neither list has anything in common but being names, so that what fits all of one fits every such name.
_STRANGE = ("Zq", "zq", "zq_7", "X-9", "DeleteFile", "delete_file")
_SERVERS = (("anyx", "anyx"), ("0", "0"), ("github", "anyx"), ("Zed", "q-Q"))


class Breadth(NamedTuple):
    """Whether a pattern fits every tool there can be, tools that nobody knows, and all or some tools of MCP servers."""

    every: bool
    strange: bool
    every_mcp: bool
    some_mcp: bool


def _breadth(fits: Callable[[str], bool], known: Iterable[str], mcp: list[str]) -> Breadth:
    strange, servers = [fits(name) for name in _STRANGE], [fits(name) for name in mcp]
    every = all(strange) and all(servers) and all(fits(name) for name in known)
    return Breadth(every, any(strange), bool(servers) and all(servers), any(servers))


@lru_cache(maxsize=512)
def canonically(pattern: str) -> Breadth:
    """The breadth of a pattern on canonical names; one that RE2 does not know fits nothing of ours."""
    try:
        search = compiled(pattern).search
    except ValueError:
        return Breadth(every=False, strange=False, every_mcp=False, some_mcp=False)
    mcp = [f"mcp:{server}/{tool}" for server, tool in _SERVERS]
    return _breadth(lambda name: search(name) is not None, ARGUMENTS, mcp)


def natively(agent: Agent, pattern: str) -> Breadth:
    """The breadth of a pattern of the agent's own file, on the names that its tools have there."""
    mcp = [] if agent.mcp_name is None else [agent.mcp_name(*pair) for pair in _SERVERS]
    known = [native for native in agent.tools if native[-1] != "*"]
    return _breadth(lambda name: picks(pattern, name), known, mcp)


def is_everything(matcher: Json) -> bool:
    """Whether a canonical matcher fits every tool there can be, the agent's unknown ones included."""
    parts = matcher if type(matcher) is list else [matcher]
    patterns = (part.get("pattern") for part in parts if type(part) is dict)
    return matcher is None or any(type(text) is str and canonically(text).every for text in patterns)


def beyond(agent: Agent, pattern: str) -> str | None:
    """What a list of the agent's known tools leaves out of a canonical pattern, or adds to it."""
    found = canonically(pattern)
    if found.every:
        return None
    if found.some_mcp and not found.every_mcp:
        return f"{pattern} fits some MCP tools only; here every tool of every MCP server is meant"
    if not found.strange:
        return None
    return f"{pattern} fits tools that nobody knows; here only the known tools of {agent.title} are named"
