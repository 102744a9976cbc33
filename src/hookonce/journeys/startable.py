"""Checks of handlers: whether a program, server, model, function or module could run. Nothing is started."""

from collections.abc import Iterator
from pathlib import Path
from shlex import split
from shutil import which

from hookonce.config import paths
from hookonce.journeys.chosen import SelectedHook
from hookonce.journeys.errands import command_of
from hookonce.manifest.discover import PROJECT_FOLDER, Scope
from hookonce.model import Handler, Hook, Object, Problem


def command_faults(command: str, scope: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the first word of a command, as a kind and a sentence."""
    word = _program_word(command)
    if "/" in word and not word.startswith("/"):
        if scope == "user":
            yield "relative", "has a relative path, which depends on where the agent was started"
    elif word.startswith("/") and not Path(word).exists():
        yield "missing", f"cannot run: {word} does not exist"
    elif word and "/" not in word and which(word) is None and word not in _SHELL_WORDS:
        yield "missing", f"cannot run: there is no program {word} on the path"


def _program_word(command: str) -> str:
    """The first word, unless a shell would expand or assign it."""
    try:
        words = split(command)
    except ValueError:
        words = []
    word = words[0] if words else ""
    if any(letter in word for letter in "$`=(&|;"):
        return ""
    return str(paths.home() / word[2:]) if word.startswith("~/") else word


_SHELL_WORDS = frozenset({"test", "[", ":", "echo", "printf", "read", "exit", "true", "false", "cd", "export", "set"}) | {
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


def resolve_command(folder: Path, hook: Hook, scope: Scope) -> str:
    """The command of a manifest's hook, its script as a whole path; empty for what is no command."""
    if hook.handler.type != "command":
        return ""
    return command_of(SelectedHook(hook=hook, scope=scope, folder=str(folder)))


def missing_scripts(file: Path, document: Object) -> Iterator[Problem]:
    """Scripts that a manifest names and that are not there, seen from where the file lies."""
    parent = file.absolute().parent
    folder = parent.parent if parent.name == PROJECT_FOLDER else parent
    for index, hook in enumerate(document["hooks"]):
        handler = hook["handler"]
        if handler["type"] != "command":
            continue
        command_handler = Handler(type="command", command=handler["command"], platform=handler.get("platform") or {})
        word = _program_word(resolve_command(folder, Hook(event=hook["event"], handler=command_handler), "project"))
        if word.startswith("/") and not Path(word).exists():
            yield f"$.hooks[{index}].handler.command", f"cannot run: {word} does not exist"
