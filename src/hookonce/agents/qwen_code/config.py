"""Qwen Code config codec: Gemini CLI's, with HTTP and prompt handlers whose timeouts are in seconds."""

from typing import Any

from hookonce.agents._config.gaps import misplaced_hook_gaps
from hookonce.agents._config.groups import map_entries
from hookonce.agents._config.provider_data import with_provider_data
from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.gemini_cli.config import events_of, name_piece_meaning, parse_events, render_with_names
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

# The names that tools have in matchers only: those of the screen, and Claude Code's.
_ALIASES = name_table(
    "Shell=shell Bash=shell ReadFile=file_read Read=file_read WriteFile=file_write Write=file_write Edit=file_edit "
    "NotebookEdit=file_edit Grep=search SearchFiles=search search_file_content=search Glob=find FindFiles=find "
    "ListFiles=find ReadFolder=find WebSearch=web_search WebFetch=web_fetch Agent=agent Task=agent"
)
_SECONDS_HANDLERS = ("http", "prompt")  # types of handlers whose timeout is never in milliseconds
_MS_PER_S = 1000


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks, each timeout in the unit of its handler."""
    clean_hooks = [(index, _drop_agent_data(agent, hook)) for index, hook in hooks]
    document, gaps = render_with_names(agent, clean_hooks, wording, _word_meaning)
    return {"hooks": map_entries(document["hooks"], _to_seconds)}, gaps


def _drop_agent_data(agent: Agent, hook: Hook) -> Hook:
    """A sub-agent that judges is unknown here, whatever data a manifest has for such an entry."""
    return with_provider_data(agent, hook, {}, {}) if hook.handler.type == "agent" else hook


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration."""
    hooks, gaps = parse_events(agent, map_entries(events_of(document), _to_milliseconds), _word_meaning)
    return hooks, gaps + misplaced_hook_gaps(agent, document)


def _word_meaning(word: str) -> list[Json]:
    return [_ALIASES[word]] if word in _ALIASES else name_piece_meaning(word)


def _seconds_timeout(entry: Object) -> Any:
    timeout = entry.get("timeout")
    return timeout if entry.get("type") in _SECONDS_HANDLERS and type(timeout) in (int, float) else 0


def _to_seconds(entry: Object) -> Object:
    whole, rest = divmod(timeout := _seconds_timeout(entry), _MS_PER_S)
    return entry if timeout < _MS_PER_S else entry | {"timeout": timeout / _MS_PER_S if rest else int(whole)}


def _to_milliseconds(entry: Object) -> Object:
    """Where all timeouts are in milliseconds, less than a second still counts as seconds."""
    timeout = _seconds_timeout(entry)
    return entry if timeout < 1 else entry | {"timeout": timeout * _MS_PER_S}
