"""One process of a hook: fed, heard up to a limit, and ended with everything that it started."""

import os
import selectors
import subprocess
from collections.abc import Mapping
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.handlers.watchdog import Watchdog

LIMIT = 1 << 20  # bytes of an answer that are kept; more is read and thrown away
_CHUNK = 1 << 16
_GRACE = 0.5  # seconds for the end of what was killed, and for the last bytes of what has ended
_NEWS = 3  # after stdin, stdout and stderr: what the watchdog tells


class Ran(Struct, frozen=True, kw_only=True):
    """How it went: the exit code, or why there is none."""

    code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    failure: str | None = None
    duration: float = 0.0
    cut: bool = False


class World(Struct, frozen=True, kw_only=True):
    """Where a hook runs: the caller's directory, environment and umask."""

    cwd: str | None
    env: Mapping[str, str]
    umask: int = -1


def run(command: str, given: bytes, world: World, timeout: float) -> Ran:
    """Run a shell command with bytes on its stdin; in the end, or at the timeout, all its processes are killed."""
    begin = monotonic()
    theirs, ours = _pipes()
    try:
        watchdog = Watchdog(lambda: _start(command, world, theirs), theirs)
    except OSError as problem:
        _close(ours)
        return Ran(failure=f"not started: {problem}", duration=monotonic() - begin)
    finally:
        _close(theirs)
    heard = _Ears([*ours, watchdog.news], given)
    try:
        heard.listen(begin + timeout)
    finally:
        _close(heard.open)
        watchdog.close(_GRACE)
    return _ran(heard, monotonic() - begin)


def _pipes() -> tuple[list[int], list[int]]:
    """Three pipes: the ends of the hook, in the order of its descriptors, and ours."""
    into, out, err = (os.pipe() for _ in range(3))
    return [into[0], out[1], err[1]], [into[1], out[0], err[0]]


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _start(command: str, world: World, pipes: list[int]) -> "subprocess.Popen[bytes]":
    """Start the hook; this runs in the watchdog, which keeps no pipe of the hook's open."""
    try:
        return subprocess.Popen(  # noqa: S602  the command is a shell line by the specification
            command,
            shell=True,
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            cwd=world.cwd,
            env=dict(world.env),
            start_new_session=True,
            umask=world.umask,
        )
    finally:
        _close(pipes)


def _ran(heard: "_Ears", duration: float) -> Ran:
    out, err, news = (bytes(said) for said in heard.said[1:])
    told = news.decode(errors="replace")
    said = Ran(stdout=out, stderr=err, duration=duration, cut=heard.cut)
    if told.isdigit():
        return replace(said, code=int(told))
    if told.startswith("-"):
        return replace(said, failure=f"ended by signal {told[1:]}")
    return replace(said, failure=told or ("its watchdog was killed" if heard.over else "timeout"))


class _Ears:
    """The pipes of a process and of its watchdog, served until it has ended or the time is over."""

    def __init__(self, pipes: list[int], given: bytes) -> None:
        self.left, self.cut, self.over = memoryview(given), False, False
        self.said = [bytearray() for _ in pipes]
        self.open = pipes[:_NEWS]
        self.selector = selectors.DefaultSelector()
        for number, pipe in enumerate(pipes):
            os.set_blocking(pipe, False)
            self.selector.register(pipe, selectors.EVENT_READ if number else selectors.EVENT_WRITE, number)

    def listen(self, deadline: float) -> None:
        """Until the watchdog has told the ending and the last bytes were heard, but not beyond the deadline."""
        with self.selector:
            while self._hears() and (left := deadline - monotonic()) > 0:
                for key, _ in self.selector.select(left):
                    self._serve(key)
                    if self.over:  # everything that wrote was killed: what is left lies in the pipes
                        deadline = min(deadline, monotonic() + _GRACE)

    def _hears(self) -> bool:
        return any(key.data for key in self.selector.get_map().values())

    def _serve(self, key: selectors.SelectorKey) -> None:
        try:
            done = not (self._feed(key.fd) if key.data == 0 else self._hear(key.data, os.read(key.fd, _CHUNK)))
        except BlockingIOError:
            return
        except OSError:  # the process closed its end: it does not want to read on
            done = True
        if done:
            self.selector.unregister(key.fd)
            if key.data == _NEWS:
                self.over = True
            else:
                self.open.remove(key.fd)
                os.close(key.fd)

    def _feed(self, pipe: int) -> int:
        if self.left:
            self.left = self.left[os.write(pipe, self.left[:_CHUNK]) :]
        return len(self.left)

    def _hear(self, number: int, chunk: bytes) -> int:
        room = LIMIT - len(self.said[number])
        self.said[number] += chunk[:room]
        self.cut = self.cut or len(chunk) > room
        return len(chunk)
