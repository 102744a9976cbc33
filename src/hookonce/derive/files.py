"""Files that a session has touched, with lines where a call tells them."""

from typing import Any

from msgspec import Struct

from hookonce.derive.calls import CHANGED
from hookonce.formats._files import file_events
from hookonce.model import Event

MOST = 4096  # files of one session; the rest is only counted


class File(Struct, frozen=True, kw_only=True):
    """How often a file was written, and how many lines went in and out as far as calls have told."""

    writes: int = 0
    added: int = 0
    removed: int = 0


def touched(files: dict[str, File], event: Event) -> dict[str, File]:
    """The files after an event: those that a finished call has written, or that a watcher has seen change."""
    changes = [event] if event.type in CHANGED else file_events(event)
    for change in changes:
        path = change.data.get("path")
        if type(path) is str and (path in files or len(files) < MOST):
            files = files | {path: _written(files.get(path, File()), event, change, alone=len(changes) == 1)}
    return files


def _written(file: File, event: Event, change: Event, *, alone: bool) -> File:
    added, removed = _lines(event, change) if alone else (_span(change), 0)
    return File(writes=file.writes + 1, added=file.added + added, removed=file.removed + removed)


def _lines(event: Event, change: Event) -> tuple[int, int]:
    """An edit replaces one text by another; of other writes only what was written is known."""
    tool = event.tool
    if tool is None or not {"old_text", "new_text"} & tool.input.keys():
        return _span(change), 0
    return lines_of(tool.input.get("new_text")), lines_of(tool.input.get("old_text"))


def _span(change: Event) -> int:
    first, last = change.data.get("start_line"), change.data.get("end_line")
    return last - first + 1 if type(first) is int and type(last) is int and last >= first else 0


def lines_of(text: Any) -> int:
    """The lines of a text, or of one that was left out."""
    if type(text) is str:
        return len(text.splitlines())
    lines = text.get("lines") if type(text) is dict else None
    return lines if type(lines) is int else 0
