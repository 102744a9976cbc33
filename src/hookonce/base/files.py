"""Atomic reading and replacement of files: whoever looks sees the old file or the new one, never half.

Many of these files belong to others (agents' configurations), so mode, group and extended attributes stay, links
out of the home directory or of a project are not followed, and an error is one sentence that says why the file was
left alone. Whatever a name of others leads to is read by `read_regular_file`.
"""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any, NoReturn

from msgspec import ValidationError
from msgspec.json import decode

from hookonce.base.paths import config_dir, data_dir, home, make_private_dir
from hookonce.base.spawn import write_all
from hookonce.errors import HookonceError

BOM = b"\xef\xbb\xbf"


class FileEditError(HookonceError):
    """A file cannot be read or edited, and was left alone."""


class FileSyntaxError(FileEditError):
    """A file is not valid in its language; `line` and `column` count from 1, in characters."""

    def __init__(self, language: str, reason: str, line: int, column: int) -> None:
        super().__init__(f"not valid {language} at line {line}, column {column}: {reason}")
        self.line = line
        self.column = column


def raise_syntax_error(language: str, reason: str, text: bytes, offset: int) -> NoReturn:
    """Raise a FileSyntaxError for what stands at an offset."""
    before = text[:offset].removeprefix(BOM).decode(errors="replace")
    line = before.count("\n") + 1
    raise FileSyntaxError(language, reason, line, len(before) - before.rfind("\n")) from None


def check_utf8(language: str, text: bytes) -> None:
    """Raise a FileSyntaxError for bytes that are no UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise_syntax_error(language, "not UTF-8", text, error.start)


PRIVATE_MODE = 0o600
DEFAULT_MODE = 0o666  # less what the umask takes away
_TEMP_SUFFIX = ".hookonce"
_MAX_PATH_STEPS = 1000  # folders and links on the way to a file
_STALE_TEMP_S = 60  # seconds after which a draft belongs to a writer that was killed


def read_file(path: Path) -> bytes | None:
    """The bytes of a file, None if there is none; a file that could never be written back raises FileEditError."""
    with _as_edit_error(path, "read"):
        target = _resolve_target(path)
        return read_regular_file(target) if _stat_replaceable(path, target) else None


class NewerFileError(HookonceError):
    """A file of our own has a form that only a newer hookonce knows."""


def decode_own_file(path: Path, data: bytes, form: Any) -> Any:
    """What a JSON file of our own says; NewerFileError for one of another form, other ValueErrors for a damaged one.

    Structs of such a form forbid unknown fields: to ignore one is to misread what it limits, and to lose it in writing.
    """
    try:
        return decode(data, type=form)
    except ValidationError:
        message = f"{path} was written by a newer hookonce and is left as it is; upgrade hookonce to use it"
        raise NewerFileError(message) from None


def read_if_readable(path: Path) -> bytes | None:
    """The bytes of a file, None if it is not there or cannot be read."""
    try:
        return read_regular_file(path)
    except OSError:
        return None


def replace_file(path: Path, new: bytes, *, old: bytes | None = None, mode: int = DEFAULT_MODE) -> None:
    """Replace a file atomically, keeping mode, group and extended attributes, or create it.

    With `old` given, a file that says something else by now is left alone: somebody wrote it in between. `mode` is
    that of a file that was not there.
    """
    with _as_edit_error(path, "written"):
        target = _resolve_target(path)
        original = _stat_replaceable(path, target)
        if old is not None and (read_regular_file(target) if original else b"") != old:
            raise FileEditError(f"{path} was changed by somebody else meanwhile; try again")
        if target.is_relative_to(data_dir()) or target.is_relative_to(config_dir()):
            make_private_dir(target.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale_temps(target)
        _write_atomically(target, new, PRIVATE_MODE if original else mode, original)


def remove_file(path: Path) -> None:
    """Delete a file that we made, under the rules for writing it."""
    with _as_edit_error(path, "removed"):
        target = _resolve_target(path)
        if _stat_replaceable(path, target):
            target.unlink()
            _sync_folder(target.parent)


def backup_file(path: Path, folder: Path, now: datetime) -> Path | None:
    """Copy a file, if there is one, to where `list_backups` finds it; named by the time, readable only for us."""
    data = read_file(path)
    if data is None:
        return None
    with _as_edit_error(path, "copied"):
        make_private_dir(folder)
        shelf = _backup_folder(path, folder)
        shelf.mkdir(parents=True, exist_ok=True)
        copy = shelf / now.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        while copy.exists():
            copy = copy.with_name(copy.name + "+")
        _write_atomically(copy, data, PRIVATE_MODE, None)
        return copy


def list_backups(path: Path, folder: Path) -> list[Path]:
    """The backups of a file, oldest first."""
    return sorted(copy for copy in _backup_folder(path, folder).glob("[0-9]*") if copy.is_file())


def _backup_folder(path: Path, folder: Path) -> Path:
    return folder.joinpath(*_absolute(path).parts[1:])


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


@contextmanager
def _as_edit_error(path: Path, action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileEditError(f"{path} cannot be {action}: {error.strerror or error}") from error


def _resolve_target(path: Path) -> Path:
    """The file itself. Links are followed inside HOME only, and in no project: a repository could have planted them."""
    plain, real = _absolute(path), Path(os.path.realpath(path))
    if real == plain:
        return real
    homes = home(), home().resolve()
    if not all(any(candidate.is_relative_to(base) for base in homes) for candidate in (plain, real)):
        way = f"leads to {real}, outside of your home directory"
    elif (link := _find_planted_link(plain, homes)) is not None:
        way = f"leads to {real}; {link} may come from a repository, so put a file or a folder in its place"
    else:
        return real
    raise FileEditError(f"{path} is a link, or lies behind one, that {way}")


def _find_planted_link(path: Path, homes: tuple[Path, ...]) -> Path | None:
    """The first link on the way to a file that lies in a project: where we are, or below the mark of a repository."""
    cwd = Path.cwd()
    parts, here = list(reversed(path.parts[1:])), Path(path.parts[0])
    for _ in range(_MAX_PATH_STEPS):
        if not parts:
            return None
        here = _absolute(here / parts.pop())
        if here.is_symlink():
            real_parent = Path(os.path.realpath(here.parent))
            folders = [folder for folder in (real_parent, *real_parent.parents) if folder.is_relative_to(homes[1])]
            if any(folder == cwd or _is_repository(folder) for folder in folders if folder != homes[1]):
                return here
            target = here.readlink()
            parts += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            here = Path(target.anchor) if target.is_absolute() else here.parent
    return path


def _is_repository(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (".git", ".hg", ".svn", ".jj"))


def _stat_replaceable(path: Path, target: Path) -> os.stat_result | None:
    """The status of the file, if it may be replaced; None if there is none."""
    try:
        status = os.lstat(target)
    except FileNotFoundError:
        return None
    obstacles = {
        "is a directory, not a file": stat.S_ISDIR(status.st_mode),
        "is not a regular file": not stat.S_ISREG(status.st_mode),
        "belongs to another user": status.st_uid != os.geteuid(),
        "is read-only": not status.st_mode & stat.S_IWUSR,
    }
    if (obstacle := next((text for text, is_there in obstacles.items() if is_there), None)) is not None:
        raise FileEditError(f"{path} {obstacle}")
    return status


def _write_atomically(target: Path, data: bytes, mode: int, original: os.stat_result | None) -> None:
    temp = target.with_name(f".{target.name}.{os.urandom(4).hex()}{_TEMP_SUFFIX}")
    handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        write_all(handle, data)
        _copy_metadata(handle, target, original)
        os.fsync(handle)
        temp.replace(target)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    _sync_folder(target.parent)


def _remove_stale_temps(target: Path) -> None:
    for temp in target.parent.iterdir():
        if temp.name.startswith(f".{target.name}.") and temp.name.endswith(_TEMP_SUFFIX):
            with suppress(OSError):
                if time() - temp.lstat().st_mtime > _STALE_TEMP_S:
                    temp.unlink()


def _copy_metadata(handle: int, target: Path, original: os.stat_result | None) -> None:
    if original is None:
        return
    if os.fstat(handle).st_gid != original.st_gid:
        os.fchown(handle, -1, original.st_gid)
    if sys.platform == "linux":
        _copy_attributes(handle, target)
    os.fchmod(handle, stat.S_IMODE(original.st_mode))


def _copy_attributes(handle: int, target: Path) -> None:
    with suppress(OSError):
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(handle, name, os.getxattr(target, name))


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; on file systems that cannot, it is there all the same."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


MAX_FILE_BYTES = 16 << 20  # of a file of others, unless its reader knows better


def read_regular_file(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a regular file of at most `max_bytes`; OSError for anything else that a name can lead to.

    A pipe would keep us waiting, and a link to an endless device would fill the memory.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(None, "it is not a regular file")
        data = file.read(min(status.st_size, max_bytes) + 1)  # what is asked for is also reserved
    if len(data) > max_bytes:
        raise OSError(None, f"it has more than {max_bytes:,} bytes")
    return data
