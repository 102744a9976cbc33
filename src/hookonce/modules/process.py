"""The process of a module: its own group, its pipes, and an end that leaves nothing behind."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import ceil
from select import POLLIN, POLLOUT, poll
from threading import Thread
from time import monotonic, sleep

from hookonce.modules.leash import Leash

CHUNK = 1 << 16
GRACE = 1.0  # seconds for each of the ways to ask it to end
_TICK = 0.02  # seconds between two looks, where the system cannot tell us
_LAST = 0.1  # seconds for what it said last, where somebody else still holds its stderr
_TURN = 0.05  # seconds to write before we look again whether somebody else still reads


class Process:
    """One running module; `send` and `receive` may each be used by one thread at a time."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        said: Callable[[bytes], object] = bytes,
    ) -> None:
        """Start it; `said` is given what it writes to stderr. An OSError where it cannot be started."""
        (stdin, self._into), (self._out, stdout), (err, stderr) = pipes()
        self._leash = Leash()
        try:
            self._popen = subprocess.Popen(  # noqa: S603  what to run is what a descriptor is for
                command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env, start_new_session=True
            )
        except (OSError, ValueError) as problem:  # ValueError: a word with NUL in it
            close(self._into, self._out, err)
            self._leash.drop()
            raise problem if isinstance(problem, OSError) else OSError(str(problem)) from None
        finally:
            close(stdin, stdout, stderr)
        self.pid = self._popen.pid
        self._leash.hold(self.pid)
        self._watch(err, said)

    def _watch(self, err: int, said: Callable[[bytes], object]) -> None:
        self._ended = _pidfd(self.pid)
        os.set_blocking(self._into, False)
        os.set_blocking(self._out, False)
        self._readable, self._gone = poll(), poll()
        self._readable.register(self._out, POLLIN)
        if self._ended >= 0:
            self._readable.register(self._ended, POLLIN)
            self._gone.register(self._ended, POLLIN)
        self._ear = Thread(target=_drain, args=(err, said), name=f"stderr of {self.pid}", daemon=True)
        self._ear.start()

    def is_gone(self) -> bool:
        """Whether it has ended."""
        if self._ended < 0:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        try:
            return bool(self._gone.poll(0))
        except RuntimeError:  # another thread looks at this moment, and will see it
            return False

    def receive(self, deadline: float) -> bytes | None:
        """Some bytes of its stdout; none of them when there will be no more, None when the deadline has passed."""
        left = ceil((deadline - monotonic()) * 1000)
        if left < 0 or not self._readable.poll(left):
            return None
        try:
            return os.read(self._out, CHUNK)
        except BlockingIOError:
            return b""  # it has ended, and whoever still holds its stdout is not the module
        except OSError:
            return b""

    def send(self, data: bytes, deadline: float, meanwhile: Callable[[], bool] = bool) -> int:
        """Write to its stdin, and say how much of it went; a BrokenPipeError when nobody reads there.

        While there is no room, `meanwhile` is called when there is something to read: a module that waits for us
        to read its answers does not read. It says whether it was the one to read.
        """
        sent = self._write(data)
        if sent == len(data):
            return sent
        rest, both, room = memoryview(data)[sent:], poll(), poll()
        for one in (both, room):
            one.register(self._into, POLLOUT)
        both.register(self._out, POLLIN)
        look = both
        while rest and (left := deadline - monotonic()) > 0:
            ready = dict(look.poll(ceil(min(left, _TURN if look is room else left) * 1000)))
            look = both
            if self._into in ready:
                rest = rest[self._write(rest) :]
            elif self._out in ready and not meanwhile():
                look = room
        return len(data) - len(rest)

    def _write(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self._into, data)
        except BlockingIOError:
            return 0

    def finish(self) -> None:
        """Say that nothing more will come; most modules end then."""
        into, self._into = self._into, -1
        close(into)

    def stop(self, grace: float = GRACE) -> None:
        """Wait for its end, ask for it, and then not ask; in the end its whole group is gone."""
        for number in (0, signal.SIGTERM):
            if number:
                self._signal(number)
            if self._is_gone_in(grace):
                break
        self.kill()

    def kill(self, patience: float = 0.0) -> bool:
        """End it and its group now, or after a moment; whether it had ended by itself."""
        alone = self._popen.returncode is not None or self._is_gone_in(patience)
        self._signal(signal.SIGKILL)
        self._leash.drop()
        self._popen.wait()
        self._ear.join(_LAST)
        return alone

    @property
    def ending(self) -> str:
        """How it ended, for people."""
        code = self._popen.returncode
        if code is None:
            return "has not ended"
        return f"ended with code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"

    def _signal(self, number: int) -> None:
        if self._popen.returncode is None:  # until it is reaped the number is its own
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def _is_gone_in(self, seconds: float) -> bool:
        if self._ended >= 0:
            looks = poll()
            looks.register(self._ended, POLLIN)
            return bool(looks.poll(ceil(seconds * 1000)))
        until = monotonic() + seconds
        while not (gone := self.is_gone()) and monotonic() < until:
            sleep(_TICK)
        return gone

    def shut(self) -> None:
        """Close what is open; nobody may be reading or writing."""
        self.finish()
        out, ended, self._out, self._ended = self._out, self._ended, -1, -1
        close(out, ended)


def pipes() -> list[tuple[int, int]]:
    """Three pipes, or none of them."""
    made: list[tuple[int, int]] = []
    try:
        while len(made) < 3:  # noqa: PLR2004  stdin, stdout, stderr
            made.append(os.pipe())
    except OSError:
        close(*(end for ends in made for end in ends))
        raise
    return made


def _pidfd(pid: int) -> int:
    """Something that can be waited for; -1 where the system has nothing like it."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _drain(err: int, said: Callable[[bytes], object]) -> None:
    """Read what a module writes to stderr, so that it never waits for somebody to read it."""
    try:
        while chunk := os.read(err, CHUNK):
            said(chunk)
    finally:
        os.close(err)


def close(*descriptors: int) -> None:
    """Close those that are open."""
    for one in descriptors:
        if one >= 0:
            os.close(one)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
