"""Qwen Code's configuration: Gemini CLI's, with handlers that ask a server or a model and count in seconds."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents.configs.gemini_cli import events_of, piece, read, write
from hookonce.agents.configs.mapped import mapped
from hookonce.agents.configs.misplaced import misplaced
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# The names that tools have in matchers only: those of the screen, and Claude Code's.
_ALIASES = {
    "Shell": "shell",
    "Bash": "shell",
    "ReadFile": "file_read",
    "Read": "file_read",
    "WriteFile": "file_write",
    "Write": "file_write",
    "Edit": "file_edit",
    "NotebookEdit": "file_edit",
    "Grep": "search",
    "SearchFiles": "search",
    "search_file_content": "search",
    "Glob": "find",
    "FindFiles": "find",
    "ListFiles": "find",
    "ReadFolder": "find",
    "WebSearch": "web_search",
    "WebFetch": "web_fetch",
    "Agent": "agent",
    "Task": "agent",
}
_SECONDS = ("http", "prompt")  # types of handlers whose timeout is never in milliseconds
_MILLI = 1000


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, each timeout in the unit of its handler."""
    made, gaps = write(agent, [(index, _sober(agent, hook)) for index, hook in hooks], wording, _meaning)
    return {"hooks": mapped(made["hooks"], _in_seconds)}, gaps


def _sober(agent: Agent, hook: Hook) -> Hook:
    """A sub-agent that judges is unknown here, whatever data a manifest has for such an entry."""
    if hook.handler.type != "agent":
        return hook
    return replace(hook, provider_data={slug: data for slug, data in hook.provider_data.items() if slug != agent.name})


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration."""
    hooks, gaps = read(agent, mapped(events_of(document), _in_milliseconds), _meaning)
    return hooks, gaps + misplaced(agent, document)


def _meaning(word: str) -> list[Json]:
    return [_ALIASES[word]] if word in _ALIASES else piece(word)


def _in_seconds(entry: Object) -> Object:
    timeout: Any = entry.get("timeout")
    if entry.get("type") not in _SECONDS or type(timeout) not in (int, float) or timeout < _MILLI:
        return entry
    whole, rest = divmod(timeout, _MILLI)
    return entry | {"timeout": timeout / _MILLI if rest else int(whole)}


def _in_milliseconds(entry: Object) -> Object:
    """Where all timeouts are in milliseconds, less than a second still counts as seconds."""
    timeout: Any = entry.get("timeout")
    if entry.get("type") not in _SECONDS or type(timeout) not in (int, float) or timeout < 1:
        return entry
    return entry | {"timeout": timeout * _MILLI}
