"""Trust in a project's hooks: pinned by content, under the repository that they belong to.

What a person has seen is kept as a read-only copy, and that copy is what runs. A file that says something else than its
pin is not trusted, whatever it is called and wherever a link leads.
"""

import os
import re
import shlex
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from hookonce.config import paths
from hookonce.model import Hook, Manifest

_READ_ONLY = 0o555


class Pin(Struct, frozen=True, kw_only=True):
    """One state of a project's hooks that a person has agreed to: the file of hooks, and every file that they name."""

    manifest: str
    files: dict[str, str] = {}
    unpinned: list[str] = []


def digest(data: bytes) -> str:
    """How content is known again."""
    return sha256(data).hexdigest()


def pin_of(project: Path, data: bytes, manifest: Manifest) -> Pin:
    """What a person would agree to, as things stand."""
    files: dict[str, str] = {}
    unpinned: list[str] = []
    for hook in manifest.hooks:
        for name in named_files(project, hook):
            files[name] = digest((project / name).read_bytes())
        unpinned += [word for word in _programs(hook) if not _inside(project, word)]
    return Pin(manifest=digest(data), files=dict(sorted(files.items())), unpinned=sorted(set(unpinned)))


def named_files(project: Path, hook: Hook) -> list[str]:
    """The project's files that a hook names: its script, its arguments, and what `files` lists."""
    words = [word for command in _commands(hook) for word in _words(command)]
    found = [_inside(project, word) for word in (*words, *hook.files)]
    return list(dict.fromkeys(name for name in found if name is not None))


def _commands(hook: Hook) -> list[str]:
    return [text for text in (hook.handler.command, *hook.handler.platform.values()) if text]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _programs(hook: Hook) -> Iterator[str]:
    """The first word of each command: what the copy of a script does not cover."""
    for command in _commands(hook):
        yield from _words(command)[:1]


def _inside(project: Path, word: str) -> str | None:
    """A word as a file of the project, by the way that leads to it without links."""
    try:
        path = (project / word).resolve()
        if path.is_file() and path.is_relative_to(project.resolve()):
            return str(path.relative_to(project.resolve()))
    except (OSError, ValueError):
        return None
    return None


def root_of(project: Path) -> str:
    """The repository that a project belongs to: worktrees share it, so they share what was agreed to."""
    git = project / ".git"
    try:
        if git.is_file():
            told = git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
            git = (project / told).resolve()
            common = git / "commondir"
            if common.is_file():
                git = (git / common.read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        return str(project.resolve())
    return str(git.resolve() if git.exists() else project.resolve())


def pins(project: Path) -> list[Pin]:
    """Every state of this project's hooks that was agreed to."""
    return _all().get(root_of(project), [])


def agree(project: Path, pin: Pin) -> None:
    """Keep a pin, and the copies of what it pins."""
    for name in pin.files:
        _copy(project / name, pin.files[name])
    known = _all()
    mine = known.setdefault(root_of(project), [])
    if pin not in mine:
        mine.append(pin)
    _write(known)


def revoke(project: Path) -> int:
    """Forget every pin of a project; how many there were."""
    known = _all()
    gone = known.pop(root_of(project), [])
    _write(known)
    return len(gone)


def _copy(source: Path, known: str) -> None:
    data = source.read_bytes()
    if digest(data) != known:
        raise OSError(f"{source} has changed meanwhile")
    target = _shelf(known) / source.name
    if target.exists():
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    draft.write_bytes(data)
    draft.chmod(_READ_ONLY)
    draft.replace(target)


def _shelf(known: str) -> Path:
    return paths.data() / "trusted" / known


def trusted(project: Path, data: bytes, hook: Hook) -> Hook | None:
    """The hook as it may run, its files replaced by the copies that were agreed to; None if it may not."""
    wanted = digest(data)
    for pin in pins(project):
        if pin.manifest == wanted and (safe := _from_copies(project, pin, hook)) is not None:
            return safe
    return None


def _from_copies(project: Path, pin: Pin, hook: Hook) -> Hook | None:
    copies: dict[str, str] = {}
    for name in named_files(project, hook):
        known = pin.files.get(name)
        copy = _shelf(known or "") / Path(name).name
        try:
            if known is None or digest((project / name).read_bytes()) != known or digest(copy.read_bytes()) != known:
                return None
        except OSError:
            return None
        copies[name] = str(copy)
    handler = hook.handler
    command = None if handler.command is None else _replaced(project, handler.command, copies)
    platform = {system: _replaced(project, text, copies) for system, text in handler.platform.items()}
    return replace(hook, handler=replace(handler, command=command, platform=platform))


def _replaced(project: Path, command: str, copies: dict[str, str]) -> str:
    """The command with the copies in the place of the files that it names."""
    for word in dict.fromkeys(_words(command)):
        name = _inside(project, word)
        if name in copies:
            pattern = rf"(?<![^\s'\"=;|&(]){re.escape(word)}(?![^\s'\";|&)])"
            command = re.sub(pattern, lambda _, copy=copies[name]: shlex.quote(copy), command)  # type: ignore[misc]
    return command


def _file() -> Path:
    return paths.data() / "trust.json"


def _all() -> dict[str, list[Pin]]:
    """Pins that cannot be read pin nothing."""
    try:
        return decode(_file().read_bytes(), type=dict[str, list[Pin]])
    except (OSError, DecodeError):
        return {}


def _write(known: dict[str, list[Pin]]) -> None:
    target = _file()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(encode(known))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
