"""Windsurf's configuration: no matchers and no timeouts, but an event for each kind of tool."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._entry import Entry, hook_of, lost, no_tool, placed, provider_data, read_entry, warned, write_entry
from hookonce.agents._point import kind_of
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording
from hookonce.patterns import compiled
from hookonce.texts import dump

# what follows pre_ or post_ in an event's name → the canonical matcher that it stands for
_KINDS: dict[str, Json] = {
    "read_code": "file_read",
    "write_code": ["file_write", "file_edit"],
    "run_command": "shell",
    "mcp_tool_use": {"pattern": "^mcp:"},
}
_MOMENTS = {"before_tool_execute": "pre_", "after_tool_execute": "post_"}


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """One entry for each event that a hook's matcher needs; what a matcher or timeout said beyond that is a gap."""
    events: Object = {}
    gaps: list[Gap] = []
    for index, hook in hooks:
        for native in _natives(agent, index, hook, gaps):
            events.setdefault(native, []).append(write_entry(agent, hook, native, wording))
        if hook.handler.timeout is not None:
            gaps.append(warned(agent, index, hook, "timeout", "Windsurf Cascade has no timeouts"))
    return {"hooks": events}, gaps


def _natives(agent: Agent, index: int, hook: Hook, gaps: list[Gap]) -> list[str]:
    moment = _MOMENTS.get(hook.event)
    if moment is None:
        native, told = placed(agent, index, hook)
        gaps += told
        if hook.matcher is not None:
            gaps.append(warned(agent, index, hook, "matcher", no_tool(hook)))
        return [] if native is None else [native]
    kinds = [kind for kind in _KINDS if _wanted(kind, hook.matcher)]
    if not kinds:
        gaps.append(lost(index, hook, "matcher", "Windsurf Cascade has no event for these tools"))
        return []
    if (why := _loss(hook.matcher)) is not None:
        gaps.append(warned(agent, index, hook, "matcher", why))
    _, told = placed(agent, index, hook)
    gaps += told
    return [moment + kind for kind in kinds]


def _wanted(kind: str, matcher: Json) -> bool:
    """Whether a matcher is about tools of that kind."""
    if matcher is None:
        return True
    if type(matcher) is list:
        return any(_wanted(kind, part) for part in matcher)
    if type(matcher) is str:
        return matcher == _KINDS[kind] or (kind == "write_code" and matcher in _KINDS[kind])
    if "mcp" in matcher:
        return kind == "mcp_tool_use"
    names = {"mcp_tool_use": ["mcp:x/y"], "write_code": _KINDS["write_code"]}.get(kind, [_KINDS[kind]])
    return any(compiled(matcher["pattern"]).search(name) is not None for name in names)


def _loss(matcher: Json) -> str | None:
    parts: list[Any] = matcher if type(matcher) is list else [matcher]
    if any(type(part) is dict and "mcp" in part for part in parts):
        return "every tool of every MCP server is meant there, not this one"
    if any(type(part) is dict and "pattern" in part and part != _KINDS["mcp_tool_use"] for part in parts):
        return "a pattern becomes every tool of the kinds that it fits"
    if ("file_write" in parts) != ("file_edit" in parts):
        return "writing and editing are one event there"
    unknown = [part for part in parts if type(part) is str and not any(_wanted(kind, part) for kind in _KINDS)]
    return f"there is no event for {', '.join(unknown)}" if unknown else None


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration; the same entry under several events is one hook with several tools."""
    found: dict[tuple[str, bytes], tuple[Entry, list[str]]] = {}
    gaps: list[Gap] = []
    events = document.get("hooks")
    for native, entries in events.items() if type(events) is dict else ():
        for number, entry in enumerate(entries if type(entries) is list else [entries]):
            where = f"$.hooks.{native}[{number}]"
            if type(entry) is not dict:
                gaps.append(Gap(where=where, strategy="kept out", effect="lost", note=f"{where} is no hook"))
                continue
            read = read_entry(agent, entry)
            key = (kind_of(agent, native), dump(read))
            while key in found and native in found[key][1]:
                key = (key[0], key[1] + b" ")  # twice under one event is two hooks
            found.setdefault(key, (read, []))[1].append(native)
    return [_hook(agent, kind, entry, natives) for (kind, _), (entry, natives) in found.items()], gaps


def _hook(agent: Agent, kind: str, entry: Entry, natives: list[str]) -> Hook:
    kinds = [native.partition("_")[2] for native in natives]
    matcher: Json = None
    if kind in _MOMENTS and len(kinds) < len(_KINDS):
        parts = [part for one in kinds for part in (_KINDS[one] if type(_KINDS[one]) is list else [_KINDS[one]])]
        matcher = parts[0] if len(parts) == 1 else parts
    made = hook_of(agent, natives[0], entry, matcher, {})
    return replace(made, provider_data=provider_data(agent, entry.rest, {})) if kind in _MOMENTS else made
