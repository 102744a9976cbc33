"""Windsurf's events for tools: which of them a matcher needs, and which matcher stands for them."""

from typing import Any

from hookonce.model import Json
from hookonce.patterns import compile_re2

# what follows pre_ or post_ in an event's name → the canonical matcher that it stands for
_EVENT_MATCHERS: dict[str, Json] = {
    "read_code": "file_read",
    "write_code": ["file_write", "file_edit"],
    "run_command": "shell",
    "mcp_tool_use": {"pattern": "^mcp:"},
}
EVENT_PREFIXES = {"before_tool_execute": "pre_", "after_tool_execute": "post_"}


def events_for_matcher(prefix: str, matcher: Json) -> list[str]:
    """The events of that moment at which a matcher's tools come by."""
    return [prefix + kind for kind in _EVENT_MATCHERS if _is_about_kind(kind, matcher)]


def _is_about_kind(kind: str, matcher: Json) -> bool:
    if matcher is None:
        return True
    if type(matcher) is list:
        return any(_is_about_kind(kind, part) for part in matcher)
    if type(matcher) is str:
        return matcher == _EVENT_MATCHERS[kind] or (kind == "write_code" and matcher in _EVENT_MATCHERS[kind])
    if "mcp" in matcher:
        return kind == "mcp_tool_use"
    names = {"mcp_tool_use": ["mcp:x/y"], "write_code": _EVENT_MATCHERS["write_code"]}.get(kind, [_EVENT_MATCHERS[kind]])
    try:
        return any(compile_re2(matcher["pattern"]).search(name) is not None for name in names)
    except ValueError:  # some other agent's kind of pattern, which nobody can judge here
        return True


def explain_loss(matcher: Json) -> str | None:
    """What a matcher says beyond the choice of events."""
    parts: list[Any] = matcher if type(matcher) is list else [matcher]
    if any(type(part) is dict and "mcp" in part for part in parts):
        return "every tool of every MCP server is meant there, not this one"
    if any(type(part) is dict and "pattern" in part and part != _EVENT_MATCHERS["mcp_tool_use"] for part in parts):
        return "a pattern becomes every tool of the kinds that it fits"
    if ("file_write" in parts) != ("file_edit" in parts):
        return "writing and editing are one event there"
    unknown = [part for part in parts if type(part) is str and not any(_is_about_kind(kind, part) for kind in _EVENT_MATCHERS)]
    return f"there is no event for {', '.join(unknown)}" if unknown else None


def matcher_for_events(natives: list[str]) -> Json:
    """The matcher that these events of one moment stand for; None for all of them."""
    kinds = [_EVENT_MATCHERS[native.partition("_")[2]] for native in natives]
    parts = [part for kind in kinds for part in (kind if type(kind) is list else [kind])]
    return None if len(kinds) == len(_EVENT_MATCHERS) else parts[0] if len(parts) == 1 else parts
