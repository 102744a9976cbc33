"""Replacing a file that belongs to others, so that whoever looks sees the old one or the new one, never half."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from time import time

from hookonce.config.paths import home
from hookonce.edit.refusal import Refusal

_PRIVATE = 0o600
_USUAL = 0o666  # less what the umask takes away
_DRAFT = ".hookonce"
_ABANDONED = 60  # seconds after which a draft belongs to a writer that was killed


def read_file(path: Path) -> bytes | None:
    """The bytes of a file, None if there is none; refuses what could never be written back."""
    with _refusing(path, "read"):
        target = _target(path)
        return target.read_bytes() if _accepted(path, target) else None


def replace_file(path: Path, new: bytes, *, old: bytes | None = None, mode: int = _USUAL) -> None:
    """Put new bytes in the place of a file, keeping mode, owner and extended attributes, or make the file.

    With `old` given, a file that says something else by now is left alone: somebody wrote it in between.
    `mode` is that of a file that was not there.
    """
    with _refusing(path, "written"):
        target = _target(path)
        like = _accepted(path, target)
        if old is not None and (target.read_bytes() if like else b"") != old:
            raise Refusal(f"{path} was changed by somebody else meanwhile; try again")
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        _write(target, new, _PRIVATE if like else mode, like)


def remove_file(path: Path) -> None:
    """Take away a file that we made, under the rules for writing it."""
    with _refusing(path, "removed"):
        target = _target(path)
        if _accepted(path, target):
            target.unlink()
            _sync(target.parent)


def backup(path: Path, folder: Path, now: datetime) -> Path | None:
    """Copy a file, if there is one, to where `backups` finds it; named by the time, readable only for us."""
    data = read_file(path)
    if data is None:
        return None
    with _refusing(path, "copied"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = _shelf(path, folder)
        place.mkdir(parents=True, exist_ok=True)
        copy = place / now.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        while copy.exists():
            copy = copy.with_name(copy.name + "+")
        _write(copy, data, _PRIVATE, None)
        return copy


def backups(path: Path, folder: Path) -> list[Path]:
    """The copies of a file, oldest first."""
    return sorted(copy for copy in _shelf(path, folder).glob("[0-9]*") if copy.is_file())


def _shelf(path: Path, folder: Path) -> Path:
    return folder.joinpath(*_absolute(path).parts[1:])


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


@contextmanager
def _refusing(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refusal(f"{path} cannot be {done}: {error.strerror or error}") from error


def _target(path: Path) -> Path:
    """The file itself. Links are followed inside HOME only: elsewhere a repository could have planted them."""
    plain, real = _absolute(path), Path(os.path.realpath(path))
    ours = home(), home().resolve()
    if real == plain or all(any(place.is_relative_to(own) for own in ours) for place in (plain, real)):
        return real
    raise Refusal(f"{path} is a link, or lies behind one, that leads to {real}, outside of your home directory")


def _accepted(path: Path, target: Path) -> os.stat_result | None:
    """What is there, if it may be replaced; None if nothing is."""
    try:
        found = os.lstat(target)
    except FileNotFoundError:
        return None
    problem = _problem(found)
    if problem:
        raise Refusal(f"{path} {problem}")
    return found


def _problem(found: os.stat_result) -> str | None:
    if stat.S_ISDIR(found.st_mode):
        return "is a directory, not a file"
    if not stat.S_ISREG(found.st_mode):
        return "is no ordinary file"
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    return None if found.st_mode & stat.S_IWUSR else "is read-only"


def _write(target: Path, data: bytes, mode: int, like: os.stat_result | None) -> None:
    draft = target.with_name(f".{target.name}.{token_hex(4)}{_DRAFT}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        _fill(handle, data)
        _dress(handle, target, like)
        os.fsync(handle)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    _sync(target.parent)


def _sweep(target: Path) -> None:
    """Drafts that were never finished."""
    for draft in target.parent.iterdir():
        if draft.name.startswith(f".{target.name}.") and draft.name.endswith(_DRAFT):
            with suppress(OSError):
                if time() - draft.lstat().st_mtime > _ABANDONED:
                    draft.unlink()


def _fill(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _dress(handle: int, target: Path, like: os.stat_result | None) -> None:
    """Group, attributes and mode of the file that is replaced; its owner is us."""
    if like is None:
        return
    if os.fstat(handle).st_gid != like.st_gid:
        os.fchown(handle, -1, like.st_gid)
    if sys.platform == "linux":
        _copy_attributes(handle, target)
    os.fchmod(handle, stat.S_IMODE(like.st_mode))


def _copy_attributes(handle: int, target: Path) -> None:
    """As far as the file system has them, and lets us set them."""
    with suppress(OSError):
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(handle, name, os.getxattr(target, name))


def _sync(folder: Path) -> None:
    """Make a rename last; on file systems that cannot, it is there all the same."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
