"""What we changed in files that belong to others: before and after, so that leaving gives back the same bytes."""

from hashlib import sha256
from itertools import takewhile
from pathlib import Path

from msgspec import Struct, ValidationError
from msgspec.json import decode, encode
from msgspec.structs import replace

from hookonce import times
from hookonce.config import paths
from hookonce.edit.file import read_file, replace_file


class Line(Struct, frozen=True, omit_defaults=True):
    """One file: the digest that we left it with, and the copy of what was there, None if there was no file.

    `made` are the folders that were made for it, the innermost first; `at` is when we first wrote into it.
    """

    after: str
    before: str | None = None
    made: list[str] = []
    at: str | None = None


def digest(data: bytes) -> str:
    """How a file's bytes are known again."""
    return sha256(data).hexdigest()


def note(path: Path, old: bytes | None, new: bytes, copy: Path | None) -> None:
    """Write down a change before it is made; one that never happens is recognised by its digest.

    Where the file stands as we left it, what was there before us is still the older copy.
    """
    lines = _lines()
    line = lines.get(str(path))
    before = None if copy is None else str(copy)
    if line is not None and old is not None and line.after == digest(old):
        before = line.before
    made = _missing(path) if old is None or line is None else line.made
    lines[str(path)] = Line(digest(new), before, made, times.now() if line is None else line.at)
    _write(lines)


def _missing(path: Path) -> list[str]:
    return [str(folder) for folder in takewhile(lambda folder: not folder.exists(), path.parents)]


def knows(path: Path) -> bool:
    """Whether we have written into a file and never taken it back."""
    return str(path) in _lines()


def since(path: Path) -> str | None:
    """When we first wrote into a file, or into one of a folder; None where nobody has noted it."""
    found = (line.at for name, line in _lines().items() if Path(name).is_relative_to(path))
    return min((at for at in found if at is not None), default=None)


def forget(path: Path) -> None:
    """The file is as it was, and so are the folders around it: those that we made go if nothing is in them."""
    lines = _lines()
    line = lines.pop(str(path), None)
    if line is None:
        return
    left = _cleared(line.made)
    heir = next((other for other in lines if any(Path(other).is_relative_to(folder) for folder in left)), None)
    if heir is not None:  # whose file still lies there, and may be the last to leave
        lines[heir] = replace(lines[heir], made=[*lines[heir].made, *left])
    _write(lines)


def _cleared(folders: list[str]) -> list[str]:
    """Take away empty folders, from the inside out; those that are not are told."""
    for number, folder in enumerate(folders):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return folders[number:]
    return []


def undo(path: Path, now: bytes) -> tuple[bool, bytes | None]:
    """Whether nobody touched the file since we did, and what was there before: None for nothing."""
    line = _lines().get(str(path))
    if line is None or line.after != digest(now):
        return False, None
    if line.before is None:
        return True, None
    copy = Path(line.before)
    return (True, copy.read_bytes()) if copy.is_file() else (False, None)


def known() -> list[Path]:
    """The files that we changed."""
    return [Path(path) for path in _lines()]


def _file() -> Path:
    return paths.data() / "installed.json"


def _lines() -> dict[str, Line]:
    """A ledger that cannot be read is an empty one: then entries are taken out one by one."""
    try:
        return decode(read_file(_file()) or b"{}", type=dict[str, Line])
    except (ValidationError, ValueError):
        return {}


def _write(lines: dict[str, Line]) -> None:
    replace_file(_file(), encode(lines), mode=0o600)
