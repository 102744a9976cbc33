"""The runtime directory, and how files in it are replaced."""

import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import time

from hookonce.config import paths
from hookonce.errors import HookonceError

_OTHERS = 0o077
_OFFSET, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
_OLD = {"calls": 600, "doors": 600, "questions": 600, "approved": 600, "handlers": 86_400, "stops": 86_400}  # seconds


class NoPlace(HookonceError):
    """There is no directory that is ours alone."""


def folder() -> Path:
    """A directory for this home and these data alone, in the first usable place; no variable names the place.

    A repository can set variables, and whoever moves this directory begins every count anew.
    """
    user, name = os.getuid(), house(paths.home(), paths.data())
    for place in (Path(f"/run/user/{user}/hookonce"), Path(f"/tmp/hookonce-{user}")):  # noqa: S108  checked below
        if _usable(place, user) and _usable(place / name, user):
            return place / name
    raise NoPlace("no runtime directory is ours alone")


@cache
def house(home: Path, data: Path) -> str:
    """The name that two homes, or two data directories, do not share: FNV-1a 64 of the two, a NUL between them."""
    found = _OFFSET
    for byte in bytes(home) + b"\0" + bytes(data):
        found = (found ^ byte) * _PRIME % (1 << 64)
    return f"{found:016x}"


def _usable(place: Path, user: int) -> bool:
    with suppress(OSError):
        place.mkdir(mode=0o700)
    try:
        found = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & _OTHERS


def at(room: str, name: str) -> Path:
    """A file of a room."""
    place = folder() / room
    place.mkdir(mode=0o700, exist_ok=True)
    return place / name


def create(path: Path, data: bytes) -> bool:
    """Make a file that was not there; whether we were the first."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return True


def put(path: Path, data: bytes) -> None:
    """Replace a file, so that whoever looks sees the old one or the new one."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    create(draft, data)
    draft.replace(path)


def sweep() -> None:
    """Take away what nobody will ask for any more."""
    for room, age in _OLD.items():
        for path in at(room, "x").parent.iterdir():
            with suppress(OSError):
                if time() - path.stat().st_mtime > age:
                    path.unlink()
