"""Content pins of a project's hooks: the files and programs that a command references, pinned by digest and copied.

What a person has seen is kept as a read-only copy, and that copy is what runs. A file that says something else
than its pin is not trusted, whatever it is called and wherever a link leads. What is known only when a hook runs
cannot be pinned, and is told (`loose`).
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from hookonce.base import paths
from hookonce.base.files import read_regular_file
from hookonce.base.regex import lazy_pattern
from hookonce.manifest.discover import PROJECT_FOLDER
from hookonce.manifest.policy import POLICY_FILE
from hookonce.model import Handler, Hook, Manifest
from hookonce.trust.pin_store import ClosedHook, Pin, PinMismatch, content_digest, folder_identity
from hookonce.trust.script_contents import find_script_references, lookup_paths
from hookonce.trust.shell_words import (
    Role,
    ShellWord,
    UnclearCommand,
    harmless_switches,
    is_builtin,
    is_runner,
    split_words,
)

POLICY_PATH = f"{PROJECT_FOLDER}/{POLICY_FILE}"
HOOK_DIR_VARIABLE = "HOOKONCE_HOOK_DIR"  # the one variable whose value is certain: the project
_MAX_PINNED_BYTES = 1 << 24  # of a file, which is hashed at every call
_READ_ONLY_MODE = 0o555
_DIRECTORY_COMMANDS = frozenset({"cd", "chdir", "pushd", "popd"})
_RUNNER_NOTE = ", which runs what it finds in the project"
_PLATFORM_KEYS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
UNKNOWN_PREFIX = lazy_pattern(r"(?:\$\w+|\$\{[^}]*\}|(?<=[)`]))/+")  # what comes before may be the project itself
_SEPARATORS = lazy_pattern(r"[\s'\"`=:,;|&<>(){}$@]+")
_EVALUATION = lazy_pattern(r"[$`]")  # what some variables are searched for when a shell uses them, such as PS4
_OPTION = lazy_pattern(r"(-[A-Za-z]|[-\w.+]+=)(.+)", re.DOTALL)
_FILE_LIKE_NAME = lazy_pattern(
    r".*\.(?:[cm]?[jt]s|sh|bash|py|rb|pl|php|lua|jsonc?|ya?ml|toml|cfg|ini|conf|txt|xml|sarif|html|csv|log|out|md)"
)


class FileReference(Struct, frozen=True, kw_only=True):
    """A word that a copy may replace: its position, and the files it may name, each after a prefix that stays."""

    start: int
    end: int
    choices: list[tuple[str, str]]
    role: Role


class HookReferences(Struct, frozen=True, kw_only=True):
    """Everything that a hook references, by its words: whether there are such files is another question."""

    command: str
    files: list[FileReference]
    programs: list[ShellWord]  # programs that are looked for on the path
    mentions: dict[str, str]  # paths inside of texts, where no copy can stand for them, and where that is
    loose: dict[str, str]  # what no digest covers, and why
    lookups: list[str]  # files that an interpreter looks for, the first that is there being run


def platform_command(handler: Handler) -> str | None:
    """The command that runs on this system."""
    return handler.platform.get(_PLATFORM_KEYS.get(sys.platform, "")) or handler.command


def find_references(project: Path, hook: Hook) -> HookReferences:
    """What a hook names, seen from its project."""
    handler, command = hook.handler, platform_command(hook.handler) or ""
    references = HookReferences(command=command, files=[], programs=[], mentions={}, loose={}, lookups=[])
    project_paths = ProjectPaths(project, handler.cwd)
    try:
        command_words = _split_command(command, project)
    except UnclearCommand as problem:
        references.loose[command] = f"it has {problem}"
        _add_mentions(references, project_paths, command, "named in it")
        command_words = []
    changes_directory = any(word.role == "program" and word.text in _DIRECTORY_COMMANDS for word in command_words)
    if changes_directory:
        references.loose[command] = "it changes the directory"
    _add_interpreter_words(references, project_paths, command_words)
    for index, word in enumerate(command_words):
        # The script that a command begins with is looked for where the hook lies, all else where it runs.
        base = ProjectPaths(project) if index == 0 and word.role == "program" else project_paths
        _add_word(references, base, word, changes_directory=changes_directory)
    for name, value in handler.env.items():
        _add_mentions(references, project_paths, value, f"named by the variable {name}")
    return references


def _split_command(command: str, project: Path) -> list[ShellWord]:
    """The words of a command; one that sets our variable itself may make anything of it."""
    words = split_words(command, {HOOK_DIR_VARIABLE: str(project)})
    is_set = any(re.fullmatch(rf"{HOOK_DIR_VARIABLE}(?:\+?=.*)?", word.text, re.DOTALL) for word in words)
    return split_words(command) if is_set else words


def _add_interpreter_words(references: HookReferences, base: "ProjectPaths", words: list[ShellWord]) -> None:
    """Options and names behind an interpreter, which may run other files than the words say."""
    program, switches, is_module = "", None, False
    for index, word in enumerate(words):
        if word.role == "program":
            program, is_module = os.path.basename(word.text), False  # noqa: PTH119
            switches = harmless_switches(program)
        elif switches is None or word.role != "argument" or not word.plain:
            continue
        elif word.text.startswith("-") and not is_module:
            is_module = word.text == "-m"
            has_code = [following.role for following in words[index + 1 : index + 2]] == ["code"]  # which is told
            if not has_code and word.text not in {"-", "--"} and switches.fullmatch(word.text) is None:
                references.loose[word.text] = f"an option of {program}, which may run something else"
        else:  # its script or module, and after it come arguments
            lookups = [base.relative_path(text) for text in lookup_paths(word.text, is_module=is_module)]
            if base.relative_path(word.text) is not None and (is_module or not base.is_file(word.text)):
                references.loose[word.text] = f"what {program} does with it is known only when it runs"
                references.lookups.extend(name for name in lookups if name is not None)
            switches = None


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

    def is_file(self, text: str) -> bool:
        """Whether a path names an ordinary file."""
        return os.path.isfile(self._base / text)  # noqa: PTH113  answers no where that of pathlib raises


def _add_word(references: HookReferences, base: ProjectPaths, word: ShellWord, *, changes_directory: bool) -> None:
    if (word.role == "output" and word.plain) or (word.role == "program" and is_builtin(word.text)):
        return
    if word.role == "code" or (word.role == "assignment" and _EVALUATION.search(word.text)):
        references.loose[word.text] = "code"
        _add_mentions(references, base, word.text, "named in code")
    elif not word.plain:
        if word.text not in {"{}", ""}:
            references.loose[word.text] = "known only when it runs"
            _add_mentions(references, base, word.text, "named in it")
    elif word.role == "program" and "/" not in word.text:
        references.programs.append(word)
    elif changes_directory and not word.text.startswith("/"):
        _add_mentions(references, base, word.text, "the command changes the directory")
    else:
        _add_file_reference(references, base, word)


def _add_file_reference(references: HookReferences, base: ProjectPaths, word: ShellWord) -> None:
    """A word that means what it says: a copy may stand for all of it, or for what follows an option's name."""
    option = _OPTION.fullmatch(word.text)
    parts = [] if word.role == "assignment" else [("", word.text)]
    parts += [(option[1], option[2])] if option else []
    choices = [(prefix, name) for prefix, text in parts if (name := base.relative_path(text)) is not None]
    references.files.append(FileReference(start=word.start, end=word.end, choices=choices, role=word.role))
    _add_mentions(references, base, word.text, "named within a word", {name for _, name in choices})
    for _, text in parts:
        if base.relative_path(text) is not None:
            continue
        is_path = text.startswith("/") and not text.startswith(("/dev/", "/proc/"))
        if word.role == "program" or (is_path and os.path.isfile(text)):  # noqa: PTH113  where pathlib raises, no file
            references.loose[text] = "outside of the project"


def _add_mentions(
    references: HookReferences, base: ProjectPaths, text: str, where: str, skip_names: Container[str] = ()
) -> None:
    """The text itself, and the parts of it that may be paths."""
    for piece in dict.fromkeys((text, *_SEPARATORS.split(UNKNOWN_PREFIX.sub(" ", text)))):
        name = base.relative_path(piece)
        if name is not None and name not in skip_names:
            references.mentions.setdefault(name, where)


def _looks_like_file(name: str) -> bool:
    """Whether a word that names nothing yet looks as if it were to name a file."""
    return _FILE_LIKE_NAME.fullmatch(name) is not None


def build_pin(project: Path, data: bytes, manifest: Manifest) -> Pin:
    """What a person would agree to, as things stand."""
    closed_hooks = [
        ClosedHook(hook.event, hook.name, hook.matcher, manifest.spec) for hook in manifest.hooks if hook.must_answer
    ]
    pin = Pin(manifest=content_digest(data), policy=_policy_digest(project), closed_hooks=closed_hooks)
    if closed_hooks:
        folder = os.path.realpath(project)
        pin = replace(pin, folder=folder, identity=folder_identity(folder))
    for hook in manifest.hooks:
        references = find_references(project, hook)
        pin.loose.update(references.loose)
        for reference in references.files:
            _pin_file_reference(project, reference, pin)
        for name, where in references.mentions.items():
            _pin_mention(project, name, where, pin)
        for program in references.programs:
            path = shutil.which(program.text)
            pin.loose[program.text] = (path or "not found") + (_RUNNER_NOTE if is_runner(program.text) else "")
            pin.programs.update({program.text: os.path.abspath(path)} if path else {})  # noqa: PTH100  links stay
        _pin_script_contents(project, hook, [name for file in references.files for _, name in file.choices], pin)
        if references.lookups:
            lookups = [name for name in references.lookups if not os.path.isdir(project / name)]  # noqa: PTH112
            pin.reads[references.command] = lookups
            digests = {name: _digest_of(project, name) for name in lookups}
            pin.files.update({name: digest for name, digest in digests.items() if digest is not None})
        for text, inner in _listed_files(project, hook):
            if inner is not None and (file_digest := _digest_of(project, inner)) is not None:
                pin.files[inner] = file_digest
            else:
                pin.loose[inner or text] = "named, but no file of the project"
    return pin


def _pin_script_contents(project: Path, hook: Hook, scripts: list[str], pin: Pin) -> None:
    """Pin what scripts run besides themselves, and what that runs."""
    queue, base = list(dict.fromkeys(scripts)), ProjectPaths(project, hook.handler.cwd)
    for script in queue:
        if script not in pin.files:
            continue
        for reference in find_script_references(project, script):
            names = [name for text in reference.names if (name := base.relative_path(text)) is not None]
            pin.reads[script] = list(dict.fromkeys([*pin.reads.get(script, []), *names]))
            digests = {name: digest for name in names if (digest := _digest_of(project, name)) is not None}
            pin.files.update(digests)
            queue += [name for name in digests if name not in queue]
            if reference.reason is not None or not names:
                pin.loose[(names or [reference.text])[0]] = reference.reason or f"named by {script}"


def _pin_file_reference(project: Path, reference: FileReference, pin: Pin) -> None:
    """A word names the first file that is there; what is there and no file, or should be there, is told."""
    for _, name in reference.choices:
        if (file_digest := _digest_of(project, name)) is not None:
            pin.files[name] = file_digest
            return
    for _, name in reference.choices:
        if (why := _explain_unpinned(project, name, is_expected=reference.role == "program")) is not None:
            pin.loose[name] = why


def _pin_mention(project: Path, name: str, where: str, pin: Pin) -> None:
    """What is only mentioned is watched, but read where it lies, and therefore told too."""
    file_digest = _digest_of(project, name)
    if file_digest is not None:
        pin.files[name] = file_digest
        pin.loose[name] = where
    elif (why := _explain_unpinned(project, name)) is not None:
        pin.loose[name] = f"{why}, {where}"


def _listed_files(project: Path, hook: Hook) -> list[tuple[str, str | None]]:
    """The files that a hook lists beyond those in its command, and that of its function, from the project's root."""
    project_paths = ProjectPaths(project)
    own = [hook.handler.file] if hook.handler.file is not None else []
    return [(text, project_paths.relative_path(text)) for text in (*own, *hook.files)]


def _explain_unpinned(project: Path, name: str, *, is_expected: bool = False) -> str | None:
    """Why something that is named cannot be pinned; None if it is nothing but a word."""
    if os.path.isdir(project / name):  # noqa: PTH112  answers no where that of pathlib raises
        return "a directory"
    if os.path.lexists(project / name):
        return "not a regular file of the project"
    return "not there" if is_expected or _looks_like_file(name) else None


def _policy_digest(project: Path) -> str | None:
    """The digest of the project's policy, None without one; what can be no file of the project is like no other."""
    if not os.path.lexists(project / POLICY_PATH):
        return None
    return _digest_of(project, POLICY_PATH) or content_digest(os.urandom(32))


def _digest_of(project: Path, name: str) -> str | None:
    """The digest of an ordinary file of the project; a link that leads out of it is none."""
    try:
        real = os.path.realpath(project / name, strict=True)
        if not Path(real).is_relative_to(os.path.realpath(project)):
            return None
        return content_digest(read_regular_file(Path(real), _MAX_PINNED_BYTES))
    except (OSError, ValueError):
        return None


def copies_dir(root: str, pin: Pin) -> Path:
    """The folder of a pin's copies, laid out as in the project, so that scripts find each other."""
    return paths.data_dir() / "trusted" / content_digest(encode([root, pin.manifest, sorted(pin.files.items())]))


def store_copies(project: Path, root: str, pin: Pin) -> None:
    """Copy the files of a pin; OSError if one is not any more what was shown."""
    target_dir = copies_dir(root, pin)
    draft = target_dir.with_name(f"{target_dir.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    paths.make_private_dir(draft)
    try:
        for name, expected_digest in pin.files.items():
            data = read_regular_file(project / name, _MAX_PINNED_BYTES)
            if content_digest(data) != expected_digest:
                raise OSError(None, f"{name} has changed meanwhile")
            target = draft / name
            paths.make_private_dir(target.parent)
            target.write_bytes(data)
            target.chmod(_READ_ONLY_MODE)
        remove_copies(root, pin)
        draft.rename(target_dir)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def remove_copies(root: str, pin: Pin) -> None:
    """Take the copies of a pin away."""
    with suppress(FileNotFoundError):
        shutil.rmtree(copies_dir(root, pin))


def verify_hook(project: Path, root: str, pin: Pin, hook: Hook) -> Hook:
    """The hook as it may run, copies in the place of the files that it names; PinMismatch if it may not."""
    if _policy_digest(project) != pin.policy:
        raise PinMismatch(f"{POLICY_PATH} is not the version that was trusted")
    references = find_references(project, hook)
    copies = copies_dir(root, pin)
    names = [name for reference in references.files for _, name in reference.choices] + [*references.mentions]
    names += [name for _, name in _listed_files(project, hook) if name is not None]
    names += pin.reads.get(references.command, [])
    for name in names:
        names += [inner for inner in pin.reads.get(name, ()) if inner not in names]
    for name in dict.fromkeys(names):
        _check_file(project, copies, pin, name)
    command = references.command
    for start, end, text in sorted(_command_edits(references, copies, pin), reverse=True):
        command = command[:start] + text + command[end:]
    file = hook.handler.file
    if file is not None:
        inner = ProjectPaths(project).relative_path(file)
        if inner not in pin.files:
            raise PinMismatch(f"{file} is not a trusted file of the project")
        file = str(copies / inner)
    return replace(hook, handler=replace(hook.handler, command=command or None, platform={}, file=file))


def _check_file(project: Path, copies: Path, pin: Pin, name: str) -> None:
    expected_digest = pin.files.get(name)
    if expected_digest is None:
        was_told = name in pin.loose and not any(name in names for names in pin.reads.values())
        if os.path.lexists(project / name) and not was_told:
            raise PinMismatch(f"{name} did not exist when the hook was trusted")
        return
    if _digest_of(project, name) != expected_digest:
        raise PinMismatch(f"{name} is not the version that was trusted")
    with suppress(OSError):
        if content_digest(read_regular_file(copies / name, _MAX_PINNED_BYTES)) == expected_digest:
            return
    raise PinMismatch(f"the copy of {name} is gone or damaged")


def _command_edits(references: HookReferences, copies: Path, pin: Pin) -> Iterator[tuple[int, int, str]]:
    """Where the command is written otherwise: copies for files, full paths for programs."""
    for reference in references.files:
        for prefix, name in reference.choices:
            if name in pin.files:
                copy = str(copies / name)
                text = prefix + shlex.quote(copy) if reference.role == "assignment" else shlex.quote(prefix + copy)
                yield reference.start, reference.end, text
                break
    for program in references.programs:
        if (path := pin.programs.get(program.text)) is not None:
            if not os.access(path, os.X_OK):
                raise PinMismatch(f"{program.text} is no longer at its old path: {path}")
            yield program.start, program.end, shlex.quote(path)
