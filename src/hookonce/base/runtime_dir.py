"""Runtime directory of one home: its location, and atomic creation, locked update and sweeping of its files."""

import os
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import lru_cache
from io import FileIO
from itertools import islice
from pathlib import Path
from time import time

from hookonce.base import paths
from hookonce.base.runtime_location import DATA_SUBDIR, is_private_dir, runtime_dir_name, runtime_locations
from hookonce.errors import HookonceError

_MAX_AGE_S = {
    "calls": 600,
    "doors": 600,
    "questions": 600,
    "approved": 600,
    "handlers": 86_400,
    "sessions": 86_400,
    "stops": 86_400,
}  # seconds
_ABANDONED_AFTER_S = 3 * 86_400  # seconds after which a directory that nobody uses belongs to nobody
_MAX_DIRS_PER_SWEEP = 64  # directories that are looked at in one call, which somebody waits for


class NoRuntimeDirError(HookonceError):
    """No location for the runtime directory is ours alone."""


def find_runtime_dir() -> Path:
    """The runtime directory for this home and these data, created in the first usable location."""
    uid, data_dir = os.getuid(), paths.data_dir()
    for location, folder in _candidate_dirs(paths.home(), data_dir, uid):
        if (is_private_dir(location, uid) or _ensure_private(location, uid, data_dir)) and (
            is_private_dir(folder, uid) or _ensure_private(folder, uid)
        ):
            return _cached_path(folder)
    raise NoRuntimeDirError("no runtime directory is ours alone")


def candidate_dirs(home: Path, data_dir: Path) -> list[Path]:
    """Where the runtime directory of a home may lie; the last one is below its data."""
    return [Path(folder) for _, folder in _candidate_dirs(home, data_dir, os.getuid())]


@lru_cache(maxsize=8)
def _candidate_dirs(home: Path, data_dir: Path, uid: int) -> list[tuple[str, str]]:
    real_home = os.path.realpath(home)  # which is what the client knows of it
    name = runtime_dir_name(os.fsencode(real_home), os.fsencode(f"{real_home.rstrip('/')}/{DATA_SUBDIR}"))
    return [(location, f"{location}/{name}") for location in runtime_locations(uid, str(data_dir))]


_cached_path = lru_cache(maxsize=8)(Path)  # made anew it costs more than all that was asked of the disk


def _ensure_private(path: str, uid: int, data_dir: Path | None = None) -> bool:
    with suppress(OSError):  # another process may have been faster: what lies there now decides
        if data_dir is not None and path.startswith(f"{data_dir}/"):
            paths.make_private_dir(data_dir)
        os.mkdir(path, 0o700)  # noqa: PTH102  as texts; every call asks for it
    return is_private_dir(path, uid)


def runtime_file(subdir: str, name: str) -> Path:
    """Path of a file in a subdirectory, which is created."""
    return Path(runtime_path(subdir, name))


def runtime_path(subdir: str, name: str, runtime_dir: Path | None = None) -> str:
    """The same as text, below a runtime directory that was found already, if it was."""
    folder = f"{runtime_dir or find_runtime_dir()}/{subdir}"
    if not os.access(folder, os.F_OK):
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)  # noqa: PTH102
    return f"{folder}/{name}"


def create_exclusive(path: Path | str, data: bytes) -> bool:
    """Create a file atomically with its content; whether we were first."""
    draft = write_new(f"{path}.{os.urandom(4).hex()}", data)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)  # noqa: PTH108
    return True


def write_atomic(path: Path | str, data: bytes) -> None:
    """Replace a file atomically."""
    os.replace(write_new(f"{path}.{os.urandom(4).hex()}", data), path)  # noqa: PTH105


def write_new(path: str, data: bytes) -> str:
    """Write a file of a name that nobody else knows yet."""
    with open(os.open(path, os.O_WRONLY | _OPEN_FLAGS | os.O_EXCL, 0o600), "wb", buffering=0) as file:  # noqa: PTH123
        _write_all(file, data)
    return path


_OPEN_FLAGS = os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def update_locked(
    path: Path | str, transform: Callable[[bytes], bytes], acquire_lock: Callable[[int], object] | None = None
) -> bytes:
    """Update a file under an exclusive lock: `transform` makes its new content of the old one.

    `acquire_lock` takes the lock of the open file, where somebody does not want to wait for ever.
    """
    while True:
        with open(os.open(path, os.O_RDWR | _OPEN_FLAGS, 0o600), "r+b", buffering=0) as file:  # noqa: PTH123
            if acquire_lock is None:
                flock(file, LOCK_EX)
            else:
                acquire_lock(file.fileno())
            if not _is_same_file(path, file.fileno()):
                continue  # it was swept away before we held it
            content = file.read()
            new_content = transform(content)
            if new_content != content:
                if content:
                    file.seek(0)
                    file.truncate()
                _write_all(file, new_content)
            return new_content


def _write_all(file: FileIO, data: bytes) -> None:
    while data:
        data = data[file.write(data) :]


def _is_same_file(path: Path | str, fd: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(fd))
    except OSError:
        return False


def remove_stale_files(**max_age_s: float) -> None:
    """Remove files that are too old, and the runtime directories of homes that nobody uses any more.

    `max_age_s`: other ages for some subdirectories, where somebody leaves, or wants to be forgotten.
    """
    for subdir, subdir_max_age_s in (_MAX_AGE_S | max_age_s).items():
        for path in runtime_file(subdir, "x").parent.iterdir():
            with suppress(OSError):
                if time() - path.stat().st_mtime >= subdir_max_age_s:
                    _remove_unlocked(path) if subdir == "calls" else path.unlink()
    own_dir = find_runtime_dir()
    for other_dir in islice(own_dir.parent.iterdir(), _MAX_DIRS_PER_SWEEP):
        if other_dir != own_dir and _is_abandoned(other_dir):
            from shutil import rmtree  # few calls find one

            rmtree(other_dir, ignore_errors=True)


def _remove_unlocked(path: Path) -> None:
    """Remove a claim, unless it is of a hook that still runs: without it that would run again after a kill."""
    with open(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:  # noqa: PTH123
        flock(file, LOCK_EX | LOCK_NB)
        path.unlink()


def remove_runtime_dirs() -> None:
    """Remove the runtime directory of this home and these data, wherever it was made."""
    from shutil import rmtree

    uid = os.getuid()
    for location, folder in _candidate_dirs(paths.home(), paths.data_dir(), uid):
        if is_private_dir(location, uid) and is_private_dir(folder, uid):
            rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        return all(time() - path.lstat().st_mtime > _ABANDONED_AFTER_S for path in (folder, *folder.iterdir()))
    except OSError:
        return False
