"""Journal of our changes in files of others: before and after, so that an uninstall restores the same bytes."""

from hashlib import sha256
from itertools import takewhile
from pathlib import Path

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from hookonce.base import paths, times
from hookonce.base.files import decode_own_file, read_file, replace_file


class JournalEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One file: its digest after our change, and the backup of what was there, None if there was no file."""

    after: str
    before: str | None = None
    made: list[str] = []  # the folders that were made for it, the innermost first
    at: str | None = None  # when we first wrote into it
    is_new: bool = False  # whether there was no file when we did


def file_digest(data: bytes) -> str:
    """The SHA-256 of a file's bytes."""
    return sha256(data).hexdigest()


def record_change(path: Path, old: bytes | None, new: bytes, copy: Path | None) -> None:
    """Record a change before it is made; one that never happens is recognised by its digest."""
    entries = load_entries()
    entry = entries.get(str(path))
    before = None if copy is None else str(copy)
    if entry is not None and old is not None and entry.after == file_digest(old):
        before = entry.before  # as we left it: what was there before us is still the older backup
    missing_folders = [str(folder) for folder in takewhile(lambda folder: not folder.exists(), path.parents)]
    new_folders = missing_folders if old is None or entry is None else entry.made
    is_new = old is None or (entry is not None and entry.is_new)
    at = times.now() if entry is None else entry.at
    entries[str(path)] = JournalEntry(file_digest(new), before, new_folders, at, is_new)
    _save_entries(entries)


def first_written_at(path: Path) -> str | None:
    """When we first wrote into a file, or into one of a folder; None where it was never recorded."""
    write_times = (entry.at for name, entry in load_entries().items() if Path(name).is_relative_to(path))
    return min((at for at in write_times if at is not None), default=None)


def drop_entry(path: Path) -> None:
    """Drop a file's entry when it is as it was; folders that we made go if nothing is in them."""
    entries = load_entries()
    entry = entries.pop(str(path), None)
    if entry is None:
        return
    remaining = _remove_empty_folders(entry.made)
    heir = next((other for other in entries if any(map(Path(other).is_relative_to, remaining))), None)
    if heir is not None:  # whose file still lies there, and may be the last to leave
        entries[heir] = replace(entries[heir], made=[*entries[heir].made, *remaining])
    _save_entries(entries)


def _remove_empty_folders(folders: list[str]) -> list[str]:
    """The folders that are left, because something is in them; from the inside out."""
    for number, folder in enumerate(folders):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return folders[number:]
    return []


def original_bytes(path: Path, current: bytes) -> tuple[bool, bytes | None]:
    """Whether nobody touched the file since we did, and what was there before: None for nothing."""
    entry = load_entries().get(str(path))
    if entry is None or entry.after != file_digest(current):
        return False, None
    if entry.before is None:
        return True, None
    copy = Path(entry.before)
    return (True, copy.read_bytes()) if copy.is_file() else (False, None)


def is_own_file(path: Path) -> bool:
    """Whether there was no such file before we wrote it."""
    entry = load_entries().get(str(path))
    return entry is not None and entry.is_new


def changed_files() -> list[Path]:
    """The files that we changed and never took back."""
    return [Path(path) for path in load_entries()]


def _journal_file() -> Path:
    return paths.data_dir() / "installed.json"


def load_entries() -> dict[str, JournalEntry]:
    """The files that we changed; NewerFileError if only a newer hookonce can tell.

    A journal that is damaged is an empty one: then entries are removed one by one.
    """
    entries: dict[str, JournalEntry]
    try:
        entries = decode_own_file(_journal_file(), read_file(_journal_file()) or b"{}", dict[str, JournalEntry])
    except ValueError:
        return {}
    return entries


def _save_entries(entries: dict[str, JournalEntry]) -> None:
    replace_file(_journal_file(), encode(entries), mode=0o600)
