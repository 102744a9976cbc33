"""Signing of checkpoints in a child process: a few milliseconds a minute need 7 MB of a library, which end with it."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from signal import SIGKILL
from sqlite3 import Connection

from msgspec import DecodeError, Struct
from msgspec.json import decode

from hookonce.base.event_loop import READ, EventLoop, Timer
from hookonce.base.jsontext import dump
from hookonce.base.spawn import fork_child, write_all
from hookonce.handlers.supervise import watchdog
from hookonce.secrets import log
from hookonce.sessions.recorder import Recorder, StoreAccess
from hookonce.store.integrity.checkpoint import CheckpointDraft, draft_checkpoint, sign_text, store_checkpoint

_MAX_ANSWER_BYTES = 4096  # that a pipe takes at once
_TIMEOUT_S = 60.0  # seconds after which a child that says nothing, because of its disk for example, is killed


class _Answer(Struct):
    """What the child says: a signature and its key, or why there is none."""

    key: str = ""
    signature: bytes = b""
    problem: str = "the process that signs has ended"


class CheckpointSigner:
    """Signer of the chain, one checkpoint at a time; nobody waits for it."""

    def __init__(self, loop: EventLoop, store: StoreAccess, on_failure: Callable[[], object]) -> None:
        """`on_failure` is called when nothing was signed, or another chain is there by now."""
        self._loop, self._store, self._on_failure = loop, store, on_failure
        self.is_busy, self.problem = False, None  # type: tuple[bool, str | None]

    def start(self, connection: Connection) -> None:
        """Have the chain signed as it is now; what cannot be signed is a problem of the store."""
        draft = draft_checkpoint(connection)
        if draft is None:
            return
        read_fd, write_fd = os.pipe()
        try:
            pid = fork_child(partial(_sign, draft.text, write_fd), [write_fd])
        except OSError:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
        self.is_busy = True
        timer = self._loop.call_later(_TIMEOUT_S, partial(os.kill, pid, SIGKILL))  # nobody reaps it before the end
        self._loop.watch_fd(read_fd, READ, lambda _: self._finish(read_fd, pid, draft, timer))

    def _finish(self, read_fd: int, pid: int, draft: CheckpointDraft, timer: Timer) -> None:
        self.is_busy = False
        timer.cancel()
        self._loop.remove_fd(read_fd)
        data = os.read(read_fd, _MAX_ANSWER_BYTES)
        os.close(read_fd)
        watchdog.reap_later(pid)
        answer = _Answer()
        with suppress(DecodeError):
            answer = decode(data, type=_Answer)
        if answer.problem and self.problem is None:
            log.write(f"daemon: a checkpoint could not be signed: {answer.problem}")
        self.problem = f"a checkpoint could not be signed: {answer.problem}" if answer.problem else None
        if answer.problem or not self._store_answer(draft, answer):
            self._on_failure()

    def _store_answer(self, draft: CheckpointDraft, answer: _Answer) -> bool:
        results: list[bool] = []

        def store(recorder: Recorder) -> None:
            results.append(store_checkpoint(recorder.writer.connection, draft, answer.key, answer.signature))

        return self._store.run_with_recorder(store) and results == [True]


def _sign(text: bytes, write_fd: int) -> None:
    try:
        answer = _Answer(*sign_text(text), problem="")
    except Exception as problem:  # noqa: BLE001  whatever it is, the daemon names it
        answer = _Answer(problem=str(problem)[:1000] or type(problem).__name__)
    write_all(write_fd, dump(answer))
