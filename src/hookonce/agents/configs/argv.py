"""Commands of an agent that splits them into words by itself, and takes a shell only for what looks like one's work."""

import re
import shlex
from typing import Any

from hookonce import invocation

# Where one of these stands in a command, the agent takes a shell.
_SHELL = re.compile(r"[|&;><$`]|\A~")
# What needs a shell all the same: variables in front, words that are no programs, wildcards, brackets, several lines.
_WORDS = r"\.|source|cd|exec|eval|exit|export|set|trap|umask|if|for|while|until|case|!|\[\["
_NEEDS = re.compile(rf"\A\s*(?:\w+=|(?:{_WORDS})(?:\s|\Z))|[*?()\n]")


def shelled(command: str | None) -> str | None:
    """The command in the hands of a shell, if it needs one and would get none; our own never does."""
    if command is None or _SHELL.search(command) or not _NEEDS.search(command) or invocation.read(command):
        return command
    return f"bash -c {_quoted(command)}"


def _quoted(command: str) -> str:
    """One word in quotes, of one kind where that can be: the agent may not know words made of two."""
    if "'" in command and not re.search(r'["\\]', command):
        return f'"{command}"'
    return shlex.quote(command)


def unshelled(command: str) -> str:
    """The command without the shell that it was given here."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and shelled(words[2]) == command else command  # noqa: PLR2004  bash, -c, it


def joined(command: str | None, words: Any) -> str | None:
    """A command and the arguments that stand beside it, as one; None if they are no arguments."""
    if command is None or type(words) is not list or not all(type(word) is str for word in words):
        return None
    return " ".join([command, *map(shlex.quote, words)])


def parted(command: str | None, words: Any) -> str | None:
    """The command without the arguments behind it; None if it does not end in these."""
    tail = joined("", words)
    return None if command is None or tail is None or not command.endswith(tail) else command.removesuffix(tail)
