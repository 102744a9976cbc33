"""The cold path: what the client runs when nobody warm is there."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select

_QUIET = 2.0  # seconds without a byte after which a whole payload is taken for all of it
_LOOK = 0.1  # seconds between two looks at the clock and at the caller
_CHUNK = 1 << 20


class Late(BaseException):
    """The agent will not wait any longer; no ordinary handling of errors may hold this up."""


def main(words: list[str], caller: int | None = None, stderr: int = 2) -> int:
    """Read the payload, answer the agent, and say nothing else; without the caller nobody needs an answer."""
    began = time.monotonic() - _age()
    _fill_gaps()
    from hookonce import ids
    from hookonce.journeys import on
    from hookonce.journeys.failmode import bytes_of
    from hookonce.runtime import calls

    environment, call, raw = dict(os.environ), ids.fresh(), b""
    try:
        with _hurrying(began + on.patience(words), caller):
            raw = _payload()
            reply = on.answer(words, raw, environment, call, began)
    except BaseException as problem:  # noqa: BLE001  the payload never came, or came too late
        reply = on.failed(words, raw, environment, problem)
    _write(1, bytes_of(reply))
    _write(stderr, reply.stderr.encode(errors="replace"))
    with suppress(Exception):
        calls.forget(call)  # nobody else knows of this call
    return reply.code


def _age() -> float:
    """Seconds since this process began, for which the agent has waited already; none where the system does not tell."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  before all imports
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _fill_gaps() -> None:
    """Standard descriptors that the caller has closed would become those of our next files."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


@contextmanager
def _hurrying(deadline: float, caller: int | None) -> Iterator[None]:
    """Look up now and then: an answer after the deadline, or to a caller that was killed, is none."""

    def look(*_: object) -> None:
        if caller is not None and os.getppid() != caller:
            os._exit(1)
        if time.monotonic() > deadline:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Late("there was no answer in time")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _payload() -> bytes:
    """All that comes on stdin; some agents never close it, so a whole document and then nothing is the end too."""
    data = bytearray()
    while True:
        if not select([0], [], [], _QUIET)[0]:
            if _is_whole(data):
                return bytes(data)
        elif chunk := os.read(0, _CHUNK):
            data += chunk
        else:
            return bytes(data)


def _is_whole(data: bytearray) -> bool:
    from hookonce.texts import load

    try:
        load(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _write(descriptor: int, data: bytes) -> None:
    """Whoever does not listen does not hear it."""
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]
