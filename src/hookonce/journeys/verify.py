"""Reading a rendered configuration again: the same hooks, events, handlers, commands and meaning of matchers."""

from collections import Counter

from hookonce.agents import config_of
from hookonce.errors import HookonceError
from hookonce.manifest.matcher import Subject, matches
from hookonce.model import Agent, Gap, Hook, Json, Object


class NotFaithful(HookonceError):
    """The output would not have said what the input says; nothing was written."""


Shape = tuple[str, str, str]


def verify(target: Agent, made: Object, hooks: list[tuple[int, Hook]], gaps: list[Gap]) -> list[Hook]:
    """Compare what was meant with what the target will read, and return that; what a gap names may differ."""
    gone = {gap.where for gap in gaps if gap.effect == "lost"}
    vague = {gap.where.removesuffix(".matcher") for gap in gaps if gap.capability == "matcher"}
    meant = [(f"$.hooks[{index}]", hook) for index, hook in hooks if f"$.hooks[{index}]" not in gone]
    again, faults = config_of(target).parse(target, made)
    unread = any(gap.effect == "lost" for gap in faults)
    if unread or Counter(_shape(hook) for _, hook in meant) != Counter(map(_shape, again)):
        raise _fault(target)
    found = {(*_shape(hook), _meaning(target, hook.matcher)) for hook in again}
    for where, hook in meant:
        if where not in vague and (*_shape(hook), _meaning(target, hook.matcher)) not in found:
            raise _fault(target)
    return again


def _fault(target: Agent) -> NotFaithful:
    return NotFaithful(f"the configuration for {target.title} does not read back as what was meant; this is our fault")


def _shape(hook: Hook) -> Shape:
    handler = hook.handler
    return hook.event, handler.type, handler.command or handler.url or handler.prompt or ""


def _meaning(target: Agent, matcher: Json) -> frozenset[str]:
    """The tools of the target that a matcher is about, in canonical words, and the MCP tools that it names."""
    parts = matcher if type(matcher) is list else [matcher]
    named = {
        f"mcp:{part['mcp'].get('server')}/{part['mcp'].get('tool', 'any')}"
        for part in parts
        if type(part) is dict and type(part.get("mcp")) is dict
    }
    # An MCP tool that some pattern is about anyway adds nothing, and None is about all of them.
    named = {name for name in named if not _fits(parts, name, name)}
    return frozenset(named) | {name for native, name in target.tools.items() if _fits(parts, name, native)}


def _fits(parts: list[Json], name: str, native: str) -> bool:
    """A pattern that is none of ours, such as one with a look-ahead, is only ever carried as it is."""
    try:
        return native in parts or matches(parts if parts != [None] else None, Subject(name, name))
    except ValueError:
        return False
