"""Content pins of a project's hooks: the files and programs that a command references, pinned by digest and copied.

What a person has seen is kept as a read-only copy, and that copy is what runs. A file that says something else
than its pin is not trusted, whatever it is called and wherever a link leads. What is known only when a hook runs
cannot be pinned, and is told (`loose`).
"""

import os
import re
import sys
from collections.abc import Container
from pathlib import Path

from msgspec import Struct

from hookonce.manifest.shell import ShellWord, is_builtin, split_words
from hookonce.manifest.tokens import UnclearCommand
from hookonce.model import Handler, Hook

HOOK_DIR_VARIABLE = "HOOKONCE_HOOK_DIR"  # the one variable whose value is certain: the project
_PLATFORM_KEYS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_UNKNOWN_PREFIX = re.compile(r"(?:\$\w+|\$\{[^}]*\}|(?<=[)`]))/+")  # what comes before may be the project itself
_SEPARATORS = re.compile(r"[\s'\"`=:,;|&<>(){}$@]+")
_EVALUATION = re.compile(r"[$`]")  # what some variables are searched for when a shell uses them, such as PS4
_OPTION = re.compile(r"(-[A-Za-z]|[-\w.+]+=)(.+)", re.DOTALL)
_FILE_LIKE_NAME = re.compile(r".*\.(?:[cm]?[jt]s|sh|bash|py|rb|pl|php|lua|jsonc?|ya?ml|toml|cfg|ini|conf|txt)")


class FileReference(Struct, frozen=True, kw_only=True):
    """A word that a copy may replace: its position, and the files it may name, each after a prefix that stays."""

    start: int
    end: int
    choices: list[tuple[str, str]]
    is_assignment: bool = False
    is_program: bool = False


class ProgramReference(Struct, frozen=True, kw_only=True):
    """A program that is looked for on the path: its place, and its name."""

    start: int
    end: int
    name: str


class HookReferences(Struct, frozen=True, kw_only=True):
    """Everything that a hook references, by its words: whether there are such files is another question.

    `mentions` are paths inside of texts, where no copy can stand for them, and `loose` is what no digest covers;
    both say where or why.
    """

    command: str
    files: list[FileReference]
    programs: list[ProgramReference]
    mentions: dict[str, str]
    loose: dict[str, str]


def platform_command(handler: Handler) -> str | None:
    """The command that runs on this system."""
    return handler.platform.get(_PLATFORM_KEYS.get(sys.platform, "")) or handler.command


def find_references(project: Path, hook: Hook) -> HookReferences:
    """What a hook names, seen from its project."""
    handler, command = hook.handler, platform_command(hook.handler) or ""
    references = HookReferences(command=command, files=[], programs=[], mentions={}, loose={})
    project_paths = ProjectPaths(project, handler.cwd)
    try:
        command_words = split_words(command, {HOOK_DIR_VARIABLE: str(project)})
    except UnclearCommand as problem:
        references.loose[command] = f"it has {problem}"
        _add_mentions(references, project_paths, command, "named in it")
        command_words = []
    changes_directory = any(word.role == "program" and word.text == "cd" for word in command_words)
    for index, word in enumerate(command_words):
        # The script that a command begins with is looked for where the hook lies, all else where it runs.
        script = index == 0 and word.role == "program"
        _add_word(references, ProjectPaths(project) if script else project_paths, word, changes_directory=changes_directory)
    for name, value in handler.env.items():
        _add_mentions(references, project_paths, value, f"named by the variable {name}")
    return references


class ProjectPaths:
    """Paths of a project, by their letters: what relative paths are relative to, and what lies inside."""

    def __init__(self, project: Path, cwd: str | None = None) -> None:
        self._roots = dict.fromkeys((os.path.normpath(project), os.path.realpath(project)))
        self._base = project / (cwd or ".")

    def relative_path(self, text: str) -> str | None:
        """A text as a path in the project; None if it leads elsewhere."""
        if not text or "\0" in text:
            return None
        path = os.path.normpath(self._base / text)
        for root in self._roots:
            if path == root or path.startswith(root.rstrip("/") + "/"):
                return os.path.relpath(path, root)
        return None


def _add_word(references: HookReferences, project_paths: ProjectPaths, word: ShellWord, *, changes_directory: bool) -> None:
    if (word.role == "output" and word.plain) or (word.role == "program" and is_builtin(word.text)):
        return
    if word.role == "code" or (word.role == "assignment" and _EVALUATION.search(word.text)):
        references.loose[word.text] = "code"
        _add_mentions(references, project_paths, word.text, "named in code")
    elif not word.plain:
        if word.text not in {"{}", ""}:
            references.loose[word.text] = "known only when it runs"
            _add_mentions(references, project_paths, word.text, "named in it")
    elif word.role == "program" and "/" not in word.text:
        references.programs.append(ProgramReference(start=word.start, end=word.end, name=word.text))
    elif changes_directory and not word.text.startswith("/"):
        _add_mentions(references, project_paths, word.text, "the command goes to another directory")
    else:
        _add_file_reference(references, project_paths, word)


def _add_file_reference(references: HookReferences, project_paths: ProjectPaths, word: ShellWord) -> None:
    """A word that means what it says: a copy may stand for all of it, or for what follows an option's name."""
    option = _OPTION.fullmatch(word.text)
    parts = [] if word.role == "assignment" else [("", word.text)]
    parts += [(option[1], option[2])] if option else []
    choices = [(prefix, name) for prefix, text in parts if (name := project_paths.relative_path(text)) is not None]
    reference = FileReference(
        start=word.start,
        end=word.end,
        choices=choices,
        is_assignment=word.role == "assignment",
        is_program=word.role == "program",
    )
    references.files.append(reference)
    _add_mentions(references, project_paths, word.text, "named within a word", {name for _, name in choices})
    for _, text in parts:
        if project_paths.relative_path(text) is None and (reference.is_program or _is_outside_file(text)):
            references.loose[text] = "outside of the project"


def _is_outside_file(text: str) -> bool:
    elsewhere = text.startswith("/") and not text.startswith(("/dev/", "/proc/"))
    return elsewhere and os.path.isfile(text)  # noqa: PTH113  answers no where that of pathlib raises


def _add_mentions(references: HookReferences, project_paths: ProjectPaths, text: str, where: str, skip_names: Container[str] = frozenset()) -> None:
    """The text itself, and the parts of it that may be paths."""
    for piece in dict.fromkeys((text, *_SEPARATORS.split(_UNKNOWN_PREFIX.sub(" ", text)))):
        name = project_paths.relative_path(piece)
        if name is not None and name not in skip_names:
            references.mentions.setdefault(name, where)


def looks_like_file(name: str) -> bool:
    """Whether a word that names nothing yet looks as if it were to name a file."""
    return _FILE_LIKE_NAME.fullmatch(name) is not None
