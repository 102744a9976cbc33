"""Following a session file: what was written since the last time. A file that is another one now is begun anew."""

import os
import stat
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.transcripts.reader import Reader, read
from hookonce.transcripts.reading import Cursor, Memory, Reading
from hookonce.transcripts.telling import Telling

LONGEST = 16 << 20  # bytes at once; a line that is longer is left out
_MARK = 256  # bytes before the place that was reached


def follow(reader: Reader, path: Path, cursor: Cursor | None = None, limit: int = LONGEST) -> tuple[Cursor, Reading]:
    """What a file tells after the cursor, up to a limit: call again until the cursor stays where it is.

    A file that cannot be opened is an OSError, as everywhere.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, "rb", buffering=0):  # noqa: PTH123  opened by its handle
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise HookonceError(f"{path} is no file that a session could be read from")
        if path.suffix == ".json":
            return _whole(reader, cursor or _begin(reader, path, found)[0], os.pread(handle, limit + 1, 0), limit)
        begun = Reading()
        if cursor is None or not _is_same(cursor, found, handle):
            cursor, begun = _begin(reader, path, found)
        cursor, reading = _step(reader, cursor, handle, limit)
        return cursor, begun + reading


def _is_same(cursor: Cursor, found: os.stat_result, handle: int) -> bool:
    """Whether it is still that file: numbers of files are used again, so what stood there has to stand there."""
    if (found.st_dev, found.st_ino) != (cursor.device, cursor.inode) or found.st_size < cursor.offset:
        return False
    return _mark(handle, cursor.offset) == cursor.mark


def _mark(handle: int, offset: int) -> str:
    start = max(0, offset - _MARK)
    return sha256(os.pread(handle, offset - start, start)).hexdigest()[:16]


def _begin(reader: Reader, path: Path, found: os.stat_result) -> tuple[Cursor, Reading]:
    telling = Telling(Memory())
    origin = reader.origin(path) if reader.origin else None
    if origin is not None:
        telling.spawn(origin)
        telling.memory.parent_call = origin.call
    memory, reading = telling.told()
    empty = sha256(b"").hexdigest()[:16]
    return Cursor(device=found.st_dev, inode=found.st_ino, offset=0, mark=empty, memory=memory), reading


def _step(reader: Reader, cursor: Cursor, handle: int, limit: int) -> tuple[Cursor, Reading]:
    data = os.pread(handle, limit, cursor.offset)
    skipped = 0
    if cursor.in_long_line:
        skipped = data.find(b"\n") + 1 or len(data)
    memory, reading, used = read(reader, cursor.memory, data[skipped:])
    used += skipped
    in_long_line = cursor.in_long_line and b"\n" not in data
    if not used and len(data) == limit:
        used, in_long_line, reading = len(data), True, reading + Reading(unreadable=1)
    offset = cursor.offset + used
    moved = replace(cursor, offset=offset, mark=_mark(handle, offset), memory=memory, in_long_line=in_long_line)
    return moved, reading


def _whole(reader: Reader, cursor: Cursor, data: bytes, limit: int) -> tuple[Cursor, Reading]:
    """One document that is written anew each time: all of it is read again, and what was told is not told again."""
    mark = sha256(data).hexdigest()[:16]
    if mark == cursor.mark:
        return cursor, Reading()
    telling = Telling(cursor.memory)
    telling.read(reader.line, data if len(data) <= limit else b"too long")
    memory, reading = telling.told()
    if reading.unreadable and len(data) <= limit:
        return cursor, Reading()  # it is being written: the next time
    return replace(cursor, offset=len(data), mark=mark, memory=memory), reading
