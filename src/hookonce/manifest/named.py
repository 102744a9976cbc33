"""What a hook names: files of its project, programs, and what nobody can pin because it is only known when it runs."""

import os
import re
import sys
from collections.abc import Container
from pathlib import Path

from msgspec import Struct

from hookonce.manifest.shell import Word, is_builtin, words
from hookonce.manifest.tokens import Unclear
from hookonce.model import Handler, Hook

HOOK_DIR = "HOOKONCE_HOOK_DIR"  # the one variable whose value is certain: the project
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_UNKNOWN = re.compile(r"(?:\$\w+|\$\{[^}]*\}|(?<=[)`]))/+")  # what comes before may be the project itself
_BETWEEN = re.compile(r"[\s'\"`=:,;|&<>(){}$@]+")
_EVALUATED = re.compile(r"[$`]")  # what some variables are searched for when a shell uses them, such as PS4
_OPTION = re.compile(r"(-[A-Za-z]|[-\w.+]+=)(.+)", re.DOTALL)
_LIKE_A_FILE = re.compile(r".*\.(?:[cm]?[jt]s|sh|bash|py|rb|pl|php|lua|jsonc?|ya?ml|toml|cfg|ini|conf|txt)")


class Spot(Struct, frozen=True, kw_only=True):
    """A word for which a copy may stand: its place, and what it may name, each after a prefix that stays."""

    start: int
    end: int
    choices: list[tuple[str, str]]
    is_assignment: bool = False
    is_program: bool = False


class Program(Struct, frozen=True, kw_only=True):
    """A program that is looked for on the path: its place, and its name."""

    start: int
    end: int
    name: str


class Named(Struct, frozen=True, kw_only=True):
    """Everything that a hook names, by its words: whether there are such files is another question.

    `mentioned` are paths inside of texts, where no copy can stand for them, and `loose` is what no digest covers;
    both say where or why.
    """

    command: str
    spots: list[Spot]
    programs: list[Program]
    mentioned: dict[str, str]
    loose: dict[str, str]


def command_of(handler: Handler) -> str | None:
    """The command that runs on this system."""
    return handler.platform.get(_SYSTEMS.get(sys.platform, "")) or handler.command


def named(project: Path, hook: Hook) -> Named:
    """What a hook names, seen from its project."""
    handler, command = hook.handler, command_of(hook.handler) or ""
    found = Named(command=command, spots=[], programs=[], mentioned={}, loose={})
    ground = Ground(project, handler.cwd)
    try:
        said = words(command, {HOOK_DIR: str(project)})
    except Unclear as problem:
        found.loose[command] = f"it has {problem}"
        _mention(found, ground, command, "named in it")
        said = []
    moves = any(word.role == "program" and word.text == "cd" for word in said)
    for index, word in enumerate(said):
        # The script that a command begins with is looked for where the hook lies, all else where it runs.
        script = index == 0 and word.role == "program"
        _note(found, Ground(project) if script else ground, word, moves=moves)
    for name, value in handler.env.items():
        _mention(found, ground, value, f"named by the variable {name}")
    return found


class Ground:
    """The project, by its letters: from where relative paths count, and what lies inside."""

    def __init__(self, project: Path, cwd: str | None = None) -> None:
        self._roots = dict.fromkeys((os.path.normpath(project), os.path.realpath(project)))
        self._base = project / (cwd or ".")

    def inside(self, text: str) -> str | None:
        """A text as a path in the project; None if it leads elsewhere."""
        if not text or "\0" in text:
            return None
        path = os.path.normpath(self._base / text)
        for root in self._roots:
            if path == root or path.startswith(root.rstrip("/") + "/"):
                return os.path.relpath(path, root)
        return None


def _note(found: Named, ground: Ground, word: Word, *, moves: bool) -> None:
    """Put one word where it belongs."""
    if (word.role == "output" and word.plain) or (word.role == "program" and is_builtin(word.text)):
        return
    if word.role == "code" or (word.role == "assignment" and _EVALUATED.search(word.text)):
        found.loose[word.text] = "code"
        _mention(found, ground, word.text, "named in code")
    elif not word.plain:
        if word.text not in {"{}", ""}:
            found.loose[word.text] = "known only when it runs"
            _mention(found, ground, word.text, "named in it")
    elif word.role == "program" and "/" not in word.text:
        found.programs.append(Program(start=word.start, end=word.end, name=word.text))
    elif moves and not word.text.startswith("/"):
        _mention(found, ground, word.text, "the command goes to another directory")
    else:
        _place(found, ground, word)


def _place(found: Named, ground: Ground, word: Word) -> None:
    """A word that means what it says: a copy may stand for all of it, or for what follows an option's name."""
    option = _OPTION.fullmatch(word.text)
    parts = [] if word.role == "assignment" else [("", word.text)]
    parts += [(option[1], option[2])] if option else []
    choices = [(prefix, name) for prefix, text in parts if (name := ground.inside(text)) is not None]
    spot = Spot(
        start=word.start,
        end=word.end,
        choices=choices,
        is_assignment=word.role == "assignment",
        is_program=word.role == "program",
    )
    found.spots.append(spot)
    _mention(found, ground, word.text, "named within a word", {name for _, name in choices})
    for _, text in parts:
        if ground.inside(text) is None and (spot.is_program or _is_file(text)):
            found.loose[text] = "outside of the project"


def _is_file(text: str) -> bool:
    elsewhere = text.startswith("/") and not text.startswith(("/dev/", "/proc/"))
    return elsewhere and os.path.isfile(text)  # noqa: PTH113  answers no where that of pathlib raises


def _mention(found: Named, ground: Ground, text: str, where: str, placed: Container[str] = frozenset()) -> None:
    """The text itself, and the parts of it that may be paths."""
    for piece in dict.fromkeys((text, *_BETWEEN.split(_UNKNOWN.sub(" ", text)))):
        name = ground.inside(piece)
        if name is not None and name not in placed:
            found.mentioned.setdefault(name, where)


def is_like_a_file(name: str) -> bool:
    """Whether a word that names nothing yet looks as if it were to name a file."""
    return _LIKE_A_FILE.fullmatch(name) is not None
