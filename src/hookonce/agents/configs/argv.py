"""Augment (Auggie) config codec: groups as Claude Code has them, and a second set of events with flat lists.

Auggie drops all hooks of a file for one event that it does not know, so none is ever written. It splits commands
into words by itself and takes a shell only for what looks like shell syntax. Its matchers: a pattern fits all
tools but those of MCP servers, one behind `mcp:` fits only these. So a matcher for both kinds is two patterns
here, one line each, which stand in two groups of the file; that they belong together shows in the brackets
around the second.
"""

import re
import shlex
from typing import Any

from hookonce import invocation

# Where one of these stands in a command, the agent takes a shell.
_SHELL_SYNTAX = re.compile(r"[|&;><$`]|\A~")
# What needs a shell all the same: variables in front, words that are no programs, wildcards, brackets, several lines.
_SHELL_KEYWORDS = r"\.|source|cd|exec|eval|exit|export|set|trap|umask|if|for|while|until|case|!|\[\["
_NEEDS_SHELL = re.compile(rf"\A\s*(?:\w+=|(?:{_SHELL_KEYWORDS})(?:\s|\Z))|[*?()\n]")


def wrap_in_shell(command: str | None) -> str | None:
    """The command wrapped in `bash -c` if it needs a shell and would get none; our own client never does."""
    if command is None or _SHELL_SYNTAX.search(command) or not _NEEDS_SHELL.search(command) or invocation.parse_command(command):
        return command
    return f"bash -c {_quote_command(command)}"


def _quote_command(command: str) -> str:
    """One word in quotes, of one kind where that can be: the agent may not know words made of two."""
    if "'" in command and not re.search(r'["\\]', command):
        return f'"{command}"'
    return shlex.quote(command)


def unwrap_shell(command: str) -> str:
    """The command without the `bash -c` that `wrap_in_shell` put around it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and wrap_in_shell(words[2]) == command else command  # noqa: PLR2004  bash, -c, it


def join_arguments(command: str | None, words: Any) -> str | None:
    """A command and its separate arguments as one command line; None if they are no arguments."""
    if command is None or type(words) is not list or not all(type(word) is str for word in words):
        return None
    return " ".join([command, *map(shlex.quote, words)])


def strip_arguments(command: str | None, words: Any) -> str | None:
    """The command without these arguments at its end; None if it does not end in them."""
    tail = join_arguments("", words)
    return None if command is None or tail is None or not command.endswith(tail) else command.removesuffix(tail)
