"""A file of functions, loaded before anybody asks: every call is answered by a copy that is made beforehand.

A copy ends with its call. So no call sees what another has done, leaked or left running, and a function that ends its
process, sleeps or fills the memory harms nobody but its own call. The daemon at the other end of stdin orders copies
(`more`), gets the line to each (`ready`), has one ended (`kill`), and is told when one has (`ended`) with what it wrote
on stderr; a file that cannot be loaded is told too (`broken`).
"""

import gc
import os
import signal
import socket
from contextlib import suppress
from ctypes import CDLL
from select import select
from sys import platform
from traceback import format_exception
from types import ModuleType
from typing import Any, NoReturn

from msgspec import msgpack

from hookonce.handlers.function_wire import KEPT, framed, heard
from hookonce.handlers.nursery import CONTROL
from hookonce.handlers.watchdog import children, fork, leave_alone
from hookonce.sdk.single import end, limit, seen, spoken

_SUBREAPER = 36  # prctl: orphans below a process come to it
_PACKET = 1 << 16
_TOLD = 500  # characters of why a file cannot be loaded


class Nursery:
    """The loaded file, and the copies of us that wait for a call or are in one."""

    def __init__(self, file: str, digest: str) -> None:
        """A daemon is at the other end of our stdin."""
        self._file, self._digest = file, digest
        self._control = socket.socket(socket.AF_UNIX, CONTROL, fileno=os.dup(0))
        self._copies: dict[int, tuple[int, int]] = {}
        self._last = 0
        self._libc = CDLL(None) if platform == "linux" else None

    def live(self) -> int:
        """Load the file, and make copies until the daemon has gone."""
        self._adopt_orphans()
        try:
            module = seen(self._file, self._digest)
        except BaseException as problem:  # noqa: BLE001  whatever is wrong with the file
            trace = "".join(format_exception(problem)).encode(errors="replace")
            self._tell("broken", f"{type(problem).__name__}: {problem}"[:_TOLD], trace[-KEPT:])
            return 1
        self._kept = set(children())  # what the file itself has started stays as long as we do
        gc.freeze()
        ear, mouth = os.pipe()
        os.set_blocking(mouth, False)
        signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select([self._control.fileno(), ear], [], [])
            if ear in ready:
                os.read(ear, 512)
                self._reap()
            if self._control.fileno() in ready and not self._obey(module):
                return 0

    def _obey(self, module: ModuleType) -> bool:
        said = self._control.recv(_PACKET)
        if not said:
            return False
        word, *more = msgpack.decode(said)
        if word == "more":
            self._copy(module)
        elif word == "kill":
            for pid in [pid for pid, (number, _) in self._copies.items() if number == more[0]]:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        return True

    def _copy(self, module: ModuleType) -> None:
        """One more that waits for a call; the daemon gets the other end of its line."""
        self._last += 1
        line, given = socket.socketpair()
        notes = _notes()
        with line, given:
            pid = fork()
            if pid == 0:
                self._answer(module, given.fileno(), notes)
            self._copies[pid] = (self._last, notes)
            packet = msgpack.encode(("ready", self._last))
            socket.send_fds(self._control, [packet], [line.fileno()])

    def _answer(self, module: ModuleType, line: int, notes: int) -> NoReturn:
        """The whole life of a copy."""

        def work() -> None:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            os.dup2(notes, 1)
            os.dup2(notes, 2)
            leave_alone({1, 2, line})
            self._adopt_orphans()
            limit()
            asked = heard(line)
            asked.enter()
            said = memoryview(framed(spoken(module, asked.name, asked.given)))
            while said:
                said = said[os.write(line, said) :]

        end(work)

    def _reap(self) -> None:
        """Tell of those that have ended, and leave nothing running that they have started."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = found
                if pid in self._copies:
                    number, notes = self._copies.pop(pid)
                    self._tell("ended", number, os.waitstatus_to_exitcode(status), _read(notes))
        for pid in {*children()} - self._copies.keys() - self._kept:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _tell(self, *words: Any) -> None:
        with suppress(OSError):  # a daemon that has gone takes us with it
            self._control.send(msgpack.encode(words))

    def _adopt_orphans(self) -> None:
        if self._libc is not None:
            self._libc.prctl(_SUBREAPER, 1, 0, 0, 0)


def _notes() -> int:
    """Where a copy's stdout and stderr go: memory that is gone when nobody needs it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("notes")
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        return os.dup(file.fileno())


def _read(notes: int) -> bytes:
    """The beginning of what was written, which is then forgotten."""
    try:
        return os.pread(notes, KEPT, 0)
    finally:
        os.close(notes)
