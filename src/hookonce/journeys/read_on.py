"""read on: session file after its cursor ─ lines ─ events ─ store, together with the new cursor."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce import times
from hookonce.journeys.record import Recorder
from hookonce.journeys.transcribe import Whose, transcribe
from hookonce.store import cursors
from hookonce.store.cursors import Place
from hookonce.transcripts.follow import LONGEST, follow
from hookonce.transcripts.reader import Reader, close
from hookonce.transcripts.reading import Cursor, Reading

PIECE = 1 << 18  # bytes at once: who calls meanwhile waits for as long as it takes to read them


class Piece(Struct, frozen=True, kw_only=True):
    """What one look at a file has told; there is `more` of it if the place in the file has changed."""

    path: Path
    before: Cursor | None
    cursor: Cursor
    reading: Reading
    more: bool


def read_on(recorder: Recorder, reader: Reader, path: Path, *, last: bool = False) -> Piece:
    """The next piece of a file; the `last` one, after which there is no more, tells what was held back."""
    before = cursors.read(recorder.writer.connection, path)
    cursor, reading = _followed(reader, path, before)
    more = before is None or (cursor.offset, cursor.mark) != (before.offset, before.mark)
    if last and not more:
        memory, rest = close(cursor.memory)
        cursor, reading = replace(cursor, memory=memory), reading + rest
    return Piece(path=path, before=before, cursor=cursor, reading=reading, more=more)


def _followed(reader: Reader, path: Path, before: Cursor | None) -> tuple[Cursor, Reading]:
    """A document that is written as a whole is read as one; so is a line, however long, if that is possible at all."""
    limit = PIECE
    while path.suffix != ".json" and limit < LONGEST:
        cursor, reading = follow(reader, path, before, limit)
        if not cursor.in_long_line or (before is not None and before.in_long_line):
            return cursor, reading
        limit *= 2  # no more than the line needs: what stands below it can wait
    return follow(reader, path, before, LONGEST)


def keep(recorder: Recorder, piece: Piece, whose: Whose) -> int:
    """Keep what a piece tells and how far it went, both or neither; how many events are new."""
    if piece.cursor == piece.before:
        return 0
    place = Place(piece.path, whose.agent, whose.session)
    return recorder.add(
        transcribe(piece.reading, whose),
        lambda connection: cursors.write(connection, place, piece.cursor, times.now()),
    )
