"""What a pinned script runs besides itself: its interpreter, and the files that it sources.

Enough of a script is read to say which files its first line and its `.` and `source` commands name. These are pinned
with it; what a copy cannot stand for, because the script reads it where it lies, is told.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hookonce.base.files import read_regular_file
from hookonce.base.regex import lazy_pattern
from hookonce.trust.shell_words import harmless_switches, is_shell

_MAX_SCRIPT_BYTES = 1 << 24  # of a script that is searched for the names of others: all that can be pinned
_SOURCE_COMMAND = lazy_pattern(
    r"(?:^|[;&|(){`!]|[\"'](?=[.s])|\b(?:if|elif|then|else|while|until|do|time|command|builtin)\b)[ \t]*"
    r"(?:\.|source)[ \t]+((?:[^\s;&|\"'`()]|\"[^\"]*\"|'[^']*'|\$\([^)]*\))+)",
    re.MULTILINE,
)
_OWN_FOLDER = lazy_pattern(r"\$\(\s*dirname[^)]*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}")  # the copy's, when it runs
_HOOK_FOLDER = lazy_pattern(r"\$HOOKONCE_HOOK_DIR\b|\$\{HOOKONCE_HOOK_DIR\}")  # the project


_LOOKUP_ENDINGS = ".py /__main__.py /__init__.py .js .mjs .cjs .ts /index.js /package.json .rb"


def lookup_paths(text: str, *, is_module: bool) -> list[str]:
    """The paths at which an interpreter looks for a script, or for a module of Python and the packages around it."""
    parts = text.split(".")
    stems = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)] if is_module else [text]
    return [stem + ending for stem in stems for ending in ("", *_LOOKUP_ENDINGS.split())]


class ScriptReference(NamedTuple):
    """Files that a script names, relative ones from where it runs, and why no copy stands for them."""

    text: str
    names: list[str]
    reason: str | None  # None where the script looks beside itself, where its copies are


def find_script_references(project: Path, name: str) -> Iterator[ScriptReference]:
    """What a script of a project runs: words of its first line that name more than a program, and what it sources."""
    text = _read_script(project / name)
    program, words = _interpreter(text)
    switches = harmless_switches(os.path.basename(program))  # noqa: PTH119
    odd_words = [word for word in words if word[:1] != "-" or (switches and not switches.fullmatch(word))]
    names = [word for word in odd_words if word[:1] != "-"]
    if ("/" in program and not program.startswith("/")) or _lies_in(project, program):
        names.insert(0, program)
    if names or odd_words:
        yield ScriptReference(" ".join([program, *words]), names, f"named by the first line of {name}")
    if not is_shell(os.path.basename(program or "sh")):  # noqa: PTH119
        return
    for match in _SOURCE_COMMAND.finditer(text):
        word = re.sub(r"[\"']", "", match[1])
        own_folder = _OWN_FOLDER.match(word)
        known_folder = own_folder or _HOOK_FOLDER.match(word)
        tail = word[known_folder.end() :].lstrip("/") if known_folder else word
        is_known = "$" not in tail and "`" not in tail
        folder = str((project / name).parent) if own_folder else str(project) if known_folder else ""
        names = [os.path.join(folder, tail)] if is_known else []  # noqa: PTH118
        yield ScriptReference(
            word, names, None if own_folder and is_known else f"sourced by {name}, from a path known only at run time"
        )


def env_interpreter(project: Path, name: str) -> str | None:
    """The interpreter of a script for which `env` looks, if it does."""
    program, _ = _interpreter(_read_script(project / name))
    return program if program and "/" not in program else None


def _read_script(file: Path) -> str:
    """The text of a script; "" for what is none."""
    try:
        data = read_regular_file(file, _MAX_SCRIPT_BYTES)
    except (OSError, ValueError):
        return ""
    return "" if b"\0" in data else data.decode(errors="replace")


def _interpreter(text: str) -> tuple[str, list[str]]:
    """The program that the first line of a script names, and the words behind it; without one, or an own path, ""."""
    first_line = text.partition("\n")[0]
    words = first_line[2:].split() if first_line.startswith("#!") else []
    if not words:
        return "", []
    if os.path.basename(words[0]) != "env":  # noqa: PTH119
        return (words[0] if "/" in words[0] else f"./{words[0]}"), words[1:]
    index = next((index for index, word in enumerate(words) if index and word[:1] != "-" and "=" not in word), 0)
    return words[index], [word for word in words[1:] if "=" in word] + words[index + 1 :]


def _lies_in(project: Path, path: str) -> bool:
    return any(path.startswith(f"{root}/") for root in (os.path.normpath(project), os.path.realpath(project)))
