"""Whether the program that a command begins with can be started."""

from collections.abc import Iterator
from pathlib import Path
from shlex import split
from shutil import which

from hookonce.config import paths
from hookonce.journeys.chosen import Chosen
from hookonce.journeys.errands import command_of
from hookonce.manifest.discover import FOLDER, Scope
from hookonce.model import Handler, Hook, Object, Problem


def faults(command: str, scope: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the first word of a command, as a kind and a sentence."""
    word = _program(command)
    if "/" in word and not word.startswith("/"):
        if scope == "user":
            yield "relative", "has a relative path, which depends on where the agent was started"
    elif word.startswith("/") and not Path(word).exists():
        yield "missing", f"cannot run: {word} does not exist"
    elif word and "/" not in word and which(word) is None and word not in _BUILTINS:
        yield "missing", f"cannot run: there is no program {word} on the path"


def _program(command: str) -> str:
    """The first word, if it means what it says; else nothing."""
    try:
        words = split(command)
    except ValueError:
        words = []
    word = words[0] if words else ""
    if any(letter in word for letter in "$`=(&|;"):
        return ""
    return str(paths.home() / word[2:]) if word.startswith("~/") else word


_BUILTINS = frozenset({"test", "[", ":", "echo", "printf", "read", "exit", "true", "false", "cd", "export", "set"}) | {
    *(
        "!",
        "[[",
        "(",
        "function",
        "time",
        "if",
        "for",
        "while",
        "until",
        "case",
        "{",
        "exec",
        ".",
        "eval",
        "command",
        "trap",
        "ulimit",
        "umask",
    )
}


def seen_from(folder: Path, hook: Hook, scope: Scope) -> str:
    """The command of a manifest's hook, its script as a whole path; empty for what is no command."""
    if hook.handler.type != "command":
        return ""
    return command_of(Chosen(hook=hook, scope=scope, folder=str(folder)))


def scripts_missing(file: Path, document: Object) -> Iterator[Problem]:
    """Scripts that a manifest names and that are not there, seen from where the file lies."""
    around = file.absolute().parent
    folder = around.parent if around.name == FOLDER else around
    for index, hook in enumerate(document["hooks"]):
        handler = hook["handler"]
        if handler["type"] != "command":
            continue
        named = Handler(type="command", command=handler["command"], platform=handler.get("platform") or {})
        word = _program(seen_from(folder, Hook(event=hook["event"], handler=named), "project"))
        if word.startswith("/") and not Path(word).exists():
            yield f"$.hooks[{index}].handler.command", f"cannot run: {word} does not exist"
