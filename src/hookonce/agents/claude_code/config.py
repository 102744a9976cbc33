"""Claude Code config codec: groups of entries, programs with `args` that run without a shell.

Such a program is one command line to everybody else, and a pair again only if the line still says the same.
"""

import re
import shlex

from hookonce.agents._config import groups
from hookonce.agents._config.events import resolve_event
from hookonce.agents._config.gaps import lost_gap
from hookonce.agents._config.groups import map_entries
from hookonce.agents._config.matchers.aliases import misread_word_gaps
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_EVENTS_WITHOUT_MODEL = frozenset({"SessionStart", "Setup", "SubagentStart"})
_UNSUPPORTED_EVENTS = {"http": frozenset({"SessionStart", "Setup"})}
_UNSUPPORTED_EVENTS |= dict.fromkeys(("prompt", "agent"), _EVENTS_WITHOUT_MODEL)
_VARIABLE_PREFIX = "${CLAUDE_"  # how the variables begin that Claude Code fills in where no shell does
_SPECIAL = re.compile(r'[\\"`]|\$(?!\{CLAUDE_)')


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks; one whose handler never runs at its event is lost, by name."""
    supported_hooks: list[tuple[int, Hook]] = []
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, _ = resolve_event(agent, index, hook)
        kind = hook.handler.type
        if native in _UNSUPPORTED_EVENTS.get(kind, ()):
            gaps.append(lost_gap(index, hook, "handler", f"{agent.title} runs no {kind} hooks on {native}"))
        else:
            supported_hooks.append((index, hook))
    document, group_gaps = groups.render(agent, supported_hooks, wording)
    gaps += group_gaps + misread_word_gaps(agent, supported_hooks)
    return {"hooks": map_entries(document["hooks"], _split_command)}, gaps


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration."""
    if type(events := document.get("hooks")) is dict:
        document = document | {"hooks": map_entries(events, _join_command)}
    return groups.parse(agent, document)


def _join_command(entry: Object) -> Object:
    program, words = entry.get("command"), entry.get("args")
    if type(program) is not str or type(words) is not list or not _are_strings(words):
        return entry
    return entry | {"command": _command_line(program, words)}


def _split_command(entry: Object) -> Object:
    """A command line as a program with arguments, if that is what it was; other arguments would change what runs."""
    if "args" not in entry or entry.get("type") != "command":
        return entry
    line, words = entry.get("command"), entry["args"]
    program = _program(line, words) if type(line) is str and type(words) is list and _are_strings(words) else None
    if program is not None:
        return entry | {"command": program}
    return {key: value for key, value in entry.items() if key != "args"}


def _program(line: str, words: list[str]) -> str | None:
    tail = "".join(f" {_quote_word(word)}" for word in words)
    try:
        head = shlex.split(line.removesuffix(tail))
    except ValueError:
        return None
    return head[0] if len(head) == 1 and _command_line(head[0], words) == line else None


def _are_strings(words: list[Json]) -> bool:
    return all(type(word) is str for word in words)


def _command_line(program: str, words: list[str]) -> str:
    return " ".join(map(_quote_word, [program, *words]))


def _quote_word(word: str) -> str:
    """A word for a shell, in which the agent's own variables still mean something."""
    if _VARIABLE_PREFIX not in word:
        return shlex.quote(word)
    return '"' + _SPECIAL.sub(lambda match: f"\\{match[0]}", word) + '"'
