"""The runtime directory, and how files in it are made, changed and taken away."""

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

from hookonce.config import paths
from hookonce.errors import HookonceError

_OTHERS = 0o077
_OFFSET, _PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
_OLD = {"calls": 600, "doors": 600, "questions": 600, "approved": 600, "handlers": 86_400, "stops": 86_400}  # seconds


_LEFT = 3 * 86_400  # seconds after which a directory that nobody uses belongs to nobody
_AT_ONCE = 64  # directories that are looked at in one call, which somebody waits for


class NoPlace(HookonceError):
    """There is no directory that is ours alone."""


def folder() -> Path:
    """A directory for this home and these data alone, in the first usable place; no variable names the place.

    A repository can set variables, and whoever moves this directory begins every count anew.
    """
    user, name = os.getuid(), house(paths.home(), paths.data())
    for place in _within_reach(user):
        if _usable(place, user) and _usable(place / name, user):
            return place / name
    raise NoPlace("no runtime directory is ours alone")


def _within_reach(user: int) -> Iterator[Path]:
    yield from places(user)
    with suppress(OSError):
        paths.data().mkdir(mode=0o700, parents=True, exist_ok=True)
    yield resort(paths.data())


def places(user: int) -> tuple[Path, Path]:
    """Where the directories of all of a user's homes may lie; somebody else can be faster to take the second."""
    return Path(f"/run/user/{user}/hookonce"), Path(f"/tmp/hookonce-{user}")  # noqa: S108  it must be ours alone


def resort(data: Path) -> Path:
    """The place of last resort: where our data lie nobody else can be faster."""
    return data / "run"


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
    """Make a file that was not there, and all of it at once; whether we were the first."""
    draft = _draft(path, data)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def put(path: Path, data: bytes) -> None:
    """Replace a file, so that whoever looks sees the old one or the new one."""
    _draft(path, data).replace(path)


def _draft(path: Path, data: bytes) -> Path:
    draft = path.with_name(f"{path.name}.{token_hex(4)}")
    with _opened(draft, os.O_EXCL) as file:
        file.write(data)
    return draft


def change(path: Path, new: Callable[[bytes], bytes]) -> bytes:
    """Let a function make a file's content of what it was, nothing at first, while everybody else waits."""
    while True:
        with _opened(path) as file:
            flock(file, LOCK_EX)
            if not _is_there(path, file.fileno()):
                continue  # it was swept away before we held it
            old = file.read()
            made = new(old)
            if made != old:
                file.seek(0)
                file.truncate()
                file.write(made)
                file.flush()
            return made


def _opened(path: Path, flags: int = 0) -> BinaryIO:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)
    return os.fdopen(handle, "r+b")


def _is_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except OSError:
        return False


def sweep() -> None:
    """Take away what nobody will ask for any more: our own old files, and what homes that are gone have left."""
    for room, age in _OLD.items():
        for path in at(room, "x").parent.iterdir():
            with suppress(OSError):
                if time() - path.stat().st_mtime > age:
                    path.unlink()
    mine = folder()
    for house_of_others in islice(mine.parent.iterdir(), _AT_ONCE):
        if house_of_others != mine and _is_left(house_of_others):
            rmtree(house_of_others, ignore_errors=True)


def _is_left(place: Path) -> bool:
    """Whether nobody has put anything there for days."""
    try:
        return all(time() - path.lstat().st_mtime > _LEFT for path in (place, *place.iterdir()))
    except OSError:
        return False
