"""Claude Code's configuration: groups of entries, programs that run without a shell, and events that refuse handlers.

A program with a list of arguments is one command line to everybody else. It is written as such a pair again
only if the line still says the same.
"""

import re
import shlex

from hookonce.agents.configs import grouped as _grouped
from hookonce.agents.configs.entry import lost, placed
from hookonce.agents.configs.mapped import mapped
from hookonce.agents.configs.words import misread
from hookonce.model import Agent, Gap, Hook, Json, Object, Wording

_ASKING = frozenset({"SessionStart", "Setup", "SubagentStart"})
_REFUSED = {"http": frozenset({"SessionStart", "Setup"}), "prompt": _ASKING, "agent": _ASKING}
_OWN = "${CLAUDE_"  # how the variables begin that Claude Code fills in where no shell does
_SPECIAL = re.compile(r'[\\"`]|\$(?!\{CLAUDE_)')


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """The configuration of these hooks; one whose handler never runs at its event is lost, by name."""
    kept: list[tuple[int, Hook]] = []
    gaps: list[Gap] = []
    for index, hook in hooks:
        native, _ = placed(agent, index, hook)
        kind = hook.handler.type
        if native in _REFUSED.get(kind, ()):
            gaps.append(lost(index, hook, "handler", f"{agent.title} runs no {kind} hooks on {native}"))
        else:
            kept.append((index, hook))
    made, unsaid = _grouped.render(agent, kept, wording)
    return {"hooks": mapped(made["hooks"], _parted)}, gaps + unsaid + misread(agent, kept)


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration."""
    events = document.get("hooks")
    return _grouped.parse(agent, document | ({"hooks": mapped(events, _joined)} if type(events) is dict else {}))


def _joined(entry: Object) -> Object:
    """A program and its arguments as one command line."""
    program, words = entry.get("command"), entry.get("args")
    if type(program) is str and type(words) is list and _are_texts(words):
        return entry | {"command": _line(program, words)}
    return entry


def _parted(entry: Object) -> Object:
    """A command line as a program with arguments, if that is what it was; other arguments would change what runs."""
    if "args" not in entry or entry.get("type") != "command":
        return entry
    line, words = entry.get("command"), entry["args"]
    program = _program(line, words) if type(line) is str and type(words) is list and _are_texts(words) else None
    if program is not None:
        return entry | {"command": program}
    return {key: value for key, value in entry.items() if key != "args"}


def _program(line: str, words: list[str]) -> str | None:
    """The program of a command line that ends with these words; None if it does not."""
    tail = "".join(f" {_quoted(word)}" for word in words)
    try:
        head = shlex.split(line.removesuffix(tail))
    except ValueError:
        return None
    return head[0] if len(head) == 1 and _line(head[0], words) == line else None


def _are_texts(words: list[Json]) -> bool:
    return all(type(word) is str for word in words)


def _line(program: str, words: list[str]) -> str:
    return " ".join(map(_quoted, [program, *words]))


def _quoted(word: str) -> str:
    """A word for a shell, in which the agent's own variables still mean something."""
    if _OWN not in word:
        return shlex.quote(word)
    return '"' + _SPECIAL.sub(lambda found: f"\\{found[0]}", word) + '"'
