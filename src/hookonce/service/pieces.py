"""Pieces of session files: one is read and kept at a time; what cannot be read is counted, and ends nobody."""

import sqlite3
from collections import deque

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys.read_on import Piece, keep, read_on
from hookonce.journeys.record import Recorder
from hookonce.model import Object
from hookonce.service.thread import Thread
from hookonce.store import log
from hookonce.transcripts.permitted import permitted

_LOOKS = 256  # at files, when they are read at once


class Pieces:
    """What was read so far, and what could not be."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.events = self.unreadable = self.refused = self.broken = 0
        self.problem: str | None = None

    def read(self, recorder: Recorder, thread: Thread, name: str, *, last: bool = False) -> tuple[list[str], int]:
        """Read a piece: what is to be read next because of it, the file itself or those that it leads to, and its size.

        Trouble with the store is for others.
        """
        found = self._piece(recorder, thread, name, last=last)
        if found is None:
            return [], 0
        piece, more = found
        self.unreadable += piece.reading.unreadable
        self.events += keep(recorder, piece, thread.whose)
        size = piece.cursor.offset - (piece.before.offset if piece.before is not None else 0)
        return [name] if piece.more else more, abs(size)

    def _piece(self, recorder: Recorder, thread: Thread, name: str, *, last: bool) -> tuple[Piece, list[str]] | None:
        try:
            path = permitted(thread.agent, name, paths.home())
            piece = read_on(recorder, thread.reader, path, last=last)
            return piece, thread.found(path, piece.cursor.memory.spawned)
        except FileNotFoundError:
            return None  # it will be written, or never
        except sqlite3.Error:
            raise
        except (OSError, HookonceError) as problem:
            self.refused += 1
            self.problem = str(problem)
        except Exception as problem:  # noqa: BLE001  it is somebody else's file, and anything may stand there
            self.broken += 1
            self.problem = f"{thread.agent}: {name} cannot be understood: {type(problem).__name__}"
            log.write(f"transcripts: {self.problem}\n{log.trace(problem)}")
        thread.drop(name)
        return None

    def catch_up(self, recorder: Recorder, thread: Thread, most: int, *, last: bool = False) -> int:
        """Read at once what is there, about so many bytes of it at most; how many may still be read."""
        todo, looks = deque(thread.files), _LOOKS
        while todo and looks and most > 0:
            next_ones, size = self.read(recorder, thread, todo.popleft(), last=last)
            todo.extendleft(next_ones)
            looks, most = looks - 1, most - size
        return most

    def status(self) -> Object:
        """What is told about it."""
        return {
            "events": self.events,
            "unreadable_lines": self.unreadable,
            "refused_files": self.refused,
            "broken_files": self.broken,
            "problem": self.problem,
        }
