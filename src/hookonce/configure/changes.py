"""Planned change of one file: shown as a diff first, then applied, with a backup and an entry in the journal."""

from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import diff_bytes, unified_diff
from hashlib import sha256
from io import StringIO
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base import paths
from hookonce.base.files import backup_file, read_file, remove_file, replace_file
from hookonce.base.terminal_text import escape_unprintable
from hookonce.configure import journal
from hookonce.secrets.detect import mask_secrets


class FileChange(Struct, frozen=True, kw_only=True):
    """A file's bytes before and after; None where there is no file."""

    path: Path
    old: bytes | None
    new: bytes | None
    mode: int = 0o666
    agent: str | None = None
    scope: str | None = None


def render_diff(changes: list[FileChange]) -> str:
    """Render changes as a unified diff, with secrets masked: a diff is shown, and it may stay in a log."""
    lines: list[str] = []
    for change in changes:
        sides = (change.old, change.new)
        old, new = (StringIO((data or b"").decode(errors="replace"), newline="\n").readlines() for data in sides)
        path = escape_unprintable(str(change.path))
        before, after = ("/dev/null" if data is None else path for data in sides)
        lines += unified_diff(old, new, before, after)
    return mask_secrets("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))[0]


def join_changes(changes: list[FileChange]) -> list[FileChange]:
    """One change for each file, of those that follow each other."""
    joint_changes: dict[Path, FileChange] = {}
    for change in changes:
        first = joint_changes.get(change.path, change)
        joint_changes[change.path] = replace(change, old=first.old)
    return list(joint_changes.values())


def read_after(path: Path, changes: Iterable[FileChange]) -> bytes | None:
    """A file's bytes once these changes were made; None if it is not there then."""
    contents = {change.path: change.new for change in changes}
    return contents[path] if path in contents else read_file(path)


def count_changed_lines(change: FileChange) -> tuple[int, int]:
    """How many lines of a file are new, and how many go."""
    old, new = ((data or b"").splitlines() for data in (change.old, change.new))
    lines = [*diff_bytes(unified_diff, old, new, n=0, lineterm=b"")][2:]  # below the names of both
    return sum(line[:1] == b"+" for line in lines), sum(line[:1] == b"-" for line in lines)


def confirmation_code(text: str) -> str:
    """The code that a person types to agree to a diff: the beginning of its digest."""
    return sha256(text.encode()).hexdigest()[:6]


def apply_change(change: FileChange, *, is_removal: bool = False) -> Path | None:
    """Apply one change, and return the backup; `is_removal` takes our entries out for good."""
    journal.load_entries()  # one that cannot be kept lets nothing be changed
    copy = backup_file(change.path, paths.backups_dir(), datetime.now(UTC))
    if not is_removal and change.new is not None:
        journal.record_change(change.path, change.old, change.new, copy)
    if change.new is None:
        remove_file(change.path)
    else:
        replace_file(change.path, change.new, old=change.old or b"", mode=change.mode)
    if is_removal:
        journal.drop_entry(change.path)
    return copy
