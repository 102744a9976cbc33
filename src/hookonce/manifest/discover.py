"""Discovery of manifests: project, user, organisation and system, in the order in which their hooks run.

Hooks of higher scopes run later, so that they judge what a project's hooks have made of an action. While a
manifest above the project's cannot be used, its last good version goes on; a project's is not kept, because what
runs there is what somebody has agreed to, as it is now.
"""

import os
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from os import F_OK, access
from os.path import dirname, isfile, join, realpath
from pathlib import Path
from stat import S_ISREG
from typing import Literal

from msgspec import Struct

from hookonce.base import paths, settings
from hookonce.base.files import read_regular_file
from hookonce.errors import HookonceError
from hookonce.manifest.load import NO_HOOKS_PROBLEM, ManifestError, load_manifest, load_openhook_file
from hookonce.model import Manifest

Scope = Literal["project", "user", "organisation", "system"]
SCOPES: tuple[Scope, ...] = ("project", "user", "organisation", "system")
PROJECT_FOLDER = ".hookonce"
MANIFEST_NAMES = ("hooks.json", "hooks.yaml", "hooks.yml")
OPENHOOK_FILE = ".openhook.json"
_PROJECT_FILES = (OPENHOOK_FILE, *(f"{PROJECT_FOLDER}/{name}" for name in MANIFEST_NAMES))
_MAX_MANIFEST_BYTES = 1 << 20  # bytes of a file of hooks
_MAX_GIT_FILE_BYTES = 1 << 13  # bytes of a `.git` that is a file


class ManifestSource(Struct, frozen=True, kw_only=True):
    """A file of hooks: its bytes as they were read once, or why they could not be."""

    scope: Scope
    path: Path
    data: bytes = b""
    problem: str | None = None

    @property
    def is_openhook(self) -> bool:
        """Whether its hooks only look on, as OpenHook has it."""
        return self.path.name == OPENHOOK_FILE


def find_sources(project: Path | None) -> list[ManifestSource]:
    """Every manifest that counts for a project; two manifests of one scope are a problem of both."""
    sources = find_project_sources(project) if project is not None else []
    sources += _sources_in(paths.config_dir(), "user") + _sources_in(settings.SYSTEM / "org", "organisation")
    return sources + _sources_in(settings.SYSTEM, "system")


def find_project_sources(project: Path) -> list[ManifestSource]:
    """The manifests of a project itself."""
    return _sources_in(project / PROJECT_FOLDER, "project") + _read_source(project / OPENHOOK_FILE, "project")


def _sources_in(folder: Path, scope: Scope) -> list[ManifestSource]:
    candidates = [source for name in MANIFEST_NAMES for source in _read_source(folder / name, scope)]
    if len(candidates) <= 1:
        return candidates
    problem = f"is not the only manifest there: {' and '.join(source.path.name for source in candidates)}; keep one"
    return [ManifestSource(scope=scope, path=source.path, problem=problem) for source in candidates]


def _read_source(path: Path, scope: Scope) -> list[ManifestSource]:
    source = partial(ManifestSource, scope=scope, path=path)
    try:
        data = read_regular_file(path, _MAX_MANIFEST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        link = _dangling_link(path)
        is_told = link is not None and (link == path or path.name == MANIFEST_NAMES[0])  # of a folder once
        return [source(problem=f"cannot be read: {link} is a link to nothing")] if is_told else []
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        return [source(problem=f"cannot be read: {reason}")]
    is_safe = has_safe_owner(path, scope)
    return [
        source(data=data) if is_safe else source(problem="can be written by users other than root, so it is ignored")
    ]


def _dangling_link(path: Path) -> Path | None:
    """The link to nothing through which a file is missing, such as a home of dotfiles that is not mounted."""
    folders = (path, path.parent, path.parent.parent)
    return next((folder for folder in folders if folder.is_symlink() and not folder.exists()), None)


def load_source(source: ManifestSource) -> Manifest:
    """The manifest of a source; an error with its path if it has none to give."""
    if source.problem is not None:
        raise HookonceError(f"{source.path} {source.problem}")
    try:
        return load_openhook_file(source.data) if source.is_openhook else load_manifest(source.data)
    except HookonceError as problem:
        if source.scope != "project" and isinstance(problem, ManifestError) and problem.problems == [NO_HOOKS_PROBLEM]:
            return Manifest(spec="", hooks=[])  # somebody has taken all of them out
        raise HookonceError(f"{source.path}: {problem}") from None


def has_safe_owner(path: Path, scope: Scope) -> bool:
    """Whether a file may speak for its scope: above the user's, it and its folders must be writable by root alone."""
    folders = {"organisation": (path.parent, path.parent.parent), "system": (path.parent,)}.get(scope)
    return folders is None or settings.is_writable_by_owner_only(path, *folders)


def find_project(cwd: Path | str) -> Path:
    """The project around a directory: its repository; without one the nearest folder with hooks, else itself.

    A link into a project is a place in it.
    """
    folders = _ancestors(str(cwd))
    with suppress(ValueError):  # NUL or half a character: nothing lies there
        folders = _ancestors(resolve_folder(str(cwd)))
        for folder in folders:  # the repository first: hooks further in must not take the place of those at its root
            if access(f"{folder}/.git", F_OK) and _is_repository(f"{folder}/.git"):
                return _cached_path(folder)
        for folder in folders:
            is_candidate = access(f"{folder}/{OPENHOOK_FILE}", F_OK) or access(f"{folder}/{PROJECT_FOLDER}", F_OK)
            if is_candidate and any(isfile(f"{folder}/{name}") for name in _PROJECT_FILES):  # noqa: PTH113
                return _cached_path(folder)
    return _cached_path(folders[0])


def resolve_folder(folder: str) -> str:
    """The folder behind links, as far as they can be followed; the kernel finds it in fewer steps than Python."""
    try:
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            path = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
        finally:
            os.close(fd)
        if not path.endswith(" (deleted)"):
            return path
    except (OSError, AttributeError):
        pass
    try:
        return realpath(folder)
    except OSError:
        return folder


def _is_repository(git: str) -> bool:
    """Whether `.git` is a real repository's, or names one, and is ours or root's: others must not end a project."""
    try:
        status = os.stat(git)  # noqa: PTH116  as texts; somebody waits
        if S_ISREG(status.st_mode):
            word, _, path = read_regular_file(Path(git), _MAX_GIT_FILE_BYTES).decode().strip().partition(" ")
            git = join(dirname(git), path) if word == "gitdir:" else ""  # noqa: PTH118, PTH120
            status = os.stat(git)  # noqa: PTH116
        return status.st_uid in {0, os.getuid()} and isfile(f"{git}/HEAD")  # noqa: PTH113
    except (OSError, ValueError):
        return False


_cached_path = lru_cache(maxsize=256)(Path)  # building a Path costs more than all the disk lookups around it


@lru_cache(maxsize=256)
def _ancestors(folder: str) -> tuple[str, ...]:
    """A folder and those above it; as texts, because this is asked while somebody waits."""
    path = Path(folder)
    return str(path), *map(str, path.parents)


def last_good_path(source: ManifestSource) -> Path:
    """The path of the last good copy of a manifest: one for its folder, whatever the file there is called."""
    return paths.data_dir() / "good" / sha256(bytes(source.path.parent)).hexdigest()[:32]


def load_last_good(source: ManifestSource) -> Manifest | None:
    """The last good version of a manifest; None for a project's, or if there is none."""
    if source.scope == "project":
        return None
    try:
        return load_manifest(read_regular_file(last_good_path(source), _MAX_MANIFEST_BYTES))
    except (OSError, HookonceError):
        return None


def find_lost_source() -> ManifestSource | None:
    """The user's manifest, if it had hooks when it was last read and is not there any more."""
    folder = paths.config_dir()
    if any(access(folder / name, F_OK) for name in MANIFEST_NAMES):
        return None
    source = ManifestSource(scope="user", path=folder / MANIFEST_NAMES[0])
    last_good = load_last_good(source)
    return source if last_good is not None and last_good.hooks else None


def is_last_good(source: ManifestSource) -> bool:
    """Whether the last good copy is what the file says now."""
    try:
        return read_regular_file(last_good_path(source), _MAX_MANIFEST_BYTES) == source.data
    except OSError:
        return False
