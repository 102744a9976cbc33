"""Session summary: turns and calls one by one as they end, everything else as sums, files with line counts.

The aggregate holds what is open and what is counted, so that it stays small however long a session lasts.
"""

from typing import Any

from msgspec import Struct

from hookonce.derive.calls import FILE_CHANGE_EVENTS
from hookonce.formats._files import build_file_events
from hookonce.model import Event

MAX_FILES = 4096  # files of one session; the rest is only counted


class FileStats(Struct, frozen=True, kw_only=True):
    """How often a file was written, and lines added and removed as far as calls report them."""

    writes: int = 0
    added: int = 0
    removed: int = 0


def update_files(files: dict[str, FileStats], event: Event) -> dict[str, FileStats]:
    """The files after an event: those that a finished call has written, or that a watcher has seen change."""
    changes = [event] if event.type in FILE_CHANGE_EVENTS else build_file_events(event)
    for change in changes:
        path = change.data.get("path")
        if type(path) is str and (path in files or len(files) < MAX_FILES):
            files = files | {path: _count_write(files.get(path, FileStats()), event, change, is_only_file=len(changes) == 1)}
    return files


def _count_write(file: FileStats, event: Event, change: Event, *, is_only_file: bool) -> FileStats:
    added_lines, removed_lines = _edit_lines(event, change) if is_only_file else (_count_changed_lines(change), 0)
    return FileStats(writes=file.writes + 1, added=file.added + added_lines, removed=file.removed + removed_lines)


def _edit_lines(event: Event, change: Event) -> tuple[int, int]:
    """An edit replaces one text by another; of other writes only what was written is known."""
    tool = event.tool
    if tool is None or not {"old_text", "new_text"} & tool.input.keys():
        return _count_changed_lines(change), 0
    return count_lines(tool.input.get("new_text")), count_lines(tool.input.get("old_text"))


def _count_changed_lines(change: Event) -> int:
    first, last = change.data.get("start_line"), change.data.get("end_line")
    return last - first + 1 if type(first) is int and type(last) is int and last >= first else 0


def count_lines(text: Any) -> int:
    """Line count of a text or of its digest."""
    if type(text) is str:
        return len(text.splitlines())
    lines = text.get("lines") if type(text) is dict else None
    return lines if type(lines) is int else 0
