"""Runtime directory of one home: its location, and atomic creation, locked update and sweeping of its files.

No environment variable names the location: a repository can set variables, and whoever moves this directory begins
every count anew.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import LOCK_EX, flock
from functools import cache
from itertools import islice
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from time import time
from typing import BinaryIO

from hookonce.base import paths
from hookonce.errors import HookonceError

_GROUP_OTHER_MODE = 0o077
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
_MAX_AGE_S = {
    "calls": 600,
    "doors": 600,
    "questions": 600,
    "approved": 600,
    "handlers": 86_400,
    "stops": 86_400,
}  # seconds


_ABANDONED_AFTER_S = 3 * 86_400  # seconds after which a directory that nobody uses belongs to nobody
_MAX_DIRS_PER_SWEEP = 64  # directories that are looked at in one call, which somebody waits for


class NoRuntimeDirError(HookonceError):
    """No location for the runtime directory is ours alone."""


def find_runtime_dir() -> Path:
    """The runtime directory for this home and these data, created in the first usable location."""
    uid, name = os.getuid(), runtime_dir_name(paths.home(), paths.data_dir())
    for location in _iter_locations(uid):
        if _ensure_private(location, uid) and _ensure_private(location / name, uid):
            return location / name
    raise NoRuntimeDirError("no runtime directory is ours alone")


def _iter_locations(uid: int) -> Iterator[Path]:
    yield from shared_locations(uid)
    with suppress(OSError):
        paths.data_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
    yield fallback_location(paths.data_dir())


def shared_locations(uid: int) -> tuple[Path, Path]:
    """Locations for the runtime directories of all of a user's homes; somebody else can take the second first."""
    return Path(f"/run/user/{uid}/hookonce"), Path(f"/tmp/hookonce-{uid}")  # noqa: S108  it must be ours alone


def fallback_location(data: Path) -> Path:
    """The location of last resort, below our data, where nobody else can be faster."""
    return data / "run"


@cache
def runtime_dir_name(home: Path, data: Path) -> str:
    """Name of the runtime directory: FNV-1a 64 of home and data directory, with a NUL between them."""
    digest = _FNV_OFFSET
    for byte in bytes(home) + b"\0" + bytes(data):
        digest = (digest ^ byte) * _FNV_PRIME % (1 << 64)
    return f"{digest:016x}"


def _ensure_private(path: Path, uid: int) -> bool:
    with suppress(OSError):
        path.mkdir(mode=0o700)
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & _GROUP_OTHER_MODE


def runtime_file(subdir: str, name: str) -> Path:
    """Path of a file in a subdirectory, which is created."""
    folder = find_runtime_dir() / subdir
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / name


def create_exclusive(path: Path, data: bytes) -> bool:
    """Create a file atomically with its content; whether we were first."""
    draft = _write_draft(path, data)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file atomically."""
    _write_draft(path, data).replace(path)


def _write_draft(path: Path, data: bytes) -> Path:
    draft = path.with_name(f"{path.name}.{token_hex(4)}")
    with _open_private(draft, os.O_EXCL) as file:
        file.write(data)
    return draft


def update_locked(path: Path, transform: Callable[[bytes], bytes]) -> bytes:
    """Update a file under an exclusive lock: `transform` makes its new content of the old one."""
    while True:
        with _open_private(path) as file:
            flock(file, LOCK_EX)
            if not _is_same_file(path, file.fileno()):
                continue  # it was swept away before we held it
            content = file.read()
            new_content = transform(content)
            if new_content != content:
                file.seek(0)
                file.truncate()
                file.write(new_content)
                file.flush()
            return new_content


def _open_private(path: Path, flags: int = 0) -> BinaryIO:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)
    return os.fdopen(fd, "r+b")


def _is_same_file(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(fd))
    except OSError:
        return False


def remove_stale_files() -> None:
    """Remove files that are too old, and the runtime directories of homes that nobody uses any more."""
    for subdir, max_age_s in _MAX_AGE_S.items():
        for path in runtime_file(subdir, "x").parent.iterdir():
            with suppress(OSError):
                if time() - path.stat().st_mtime > max_age_s:
                    path.unlink()
    own_dir = find_runtime_dir()
    for other_dir in islice(own_dir.parent.iterdir(), _MAX_DIRS_PER_SWEEP):
        if other_dir != own_dir and _is_abandoned(other_dir):
            rmtree(other_dir, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        return all(time() - path.lstat().st_mtime > _ABANDONED_AFTER_S for path in (folder, *folder.iterdir()))
    except OSError:
        return False
