"""One file that will be changed: seen as a difference first, then made, with a copy of what was there."""

from datetime import UTC, datetime
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hookonce.config import paths
from hookonce.edit.file import backup, remove_file, replace_file
from hookonce.journeys import ledger


class Change(Struct, frozen=True, kw_only=True):
    """A file's bytes before and after; None where there is no file."""

    path: Path
    old: bytes | None
    new: bytes | None
    mode: int = 0o666
    agent: str | None = None
    scope: str | None = None


def diff(changes: list[Change]) -> str:
    """What would change, as people read it."""
    return "".join(line for change in changes for line in _lines(change))


def _lines(change: Change) -> list[str]:
    old, new = ((data or b"").decode(errors="replace").splitlines(keepends=True) for data in (change.old, change.new))
    names = (
        str(change.path) if change.old is not None else "/dev/null",
        str(change.path) if change.new is not None else "/dev/null",
    )
    return [line if line.endswith("\n") else f"{line}\n" for line in unified_diff(old, new, *names)]


def digest(text: str) -> str:
    """What a person types to agree to a difference: its beginning."""
    return sha256(text.encode()).hexdigest()[:6]


def make(change: Change, *, leaving: bool = False) -> Path | None:
    """Make one change, and return the copy of what was there; `leaving` takes our entries out for good."""
    copy = backup(change.path, paths.backups(), datetime.now(UTC))
    if not leaving and change.new is not None:
        ledger.note(change.path, change.old, change.new, copy)
    if change.new is None:
        remove_file(change.path)
    else:
        replace_file(change.path, change.new, old=change.old or b"", mode=change.mode)
    if leaving:
        ledger.forget(change.path)
    return copy
