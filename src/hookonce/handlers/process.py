"""One process of a hook: fed, heard up to a limit, and ended with everything that it started."""

import os
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.handlers import native, privileges
from hookonce.handlers.errand import Ongoing, Ran, waited
from hookonce.handlers.watchdog import Watchdog, copied
from hookonce.runtime.loop import READ, WRITE, Loop

__all__ = ["LIMIT", "Job", "Ran", "Running", "World", "run"]

LIMIT = 1 << 20  # bytes of an answer that are kept; more is read and thrown away
_CHUNK = 1 << 16
_GRACE = 0.15  # seconds for the end of what was killed, and for the last bytes of what has ended
_NEWS = 3  # after stdin, stdout and stderr: what the watchdog tells


class World(Struct, frozen=True, kw_only=True):
    """Where a hook runs: the caller's directory, environment and umask, with the caller's privileges or with fewer."""

    cwd: str | None
    env: Mapping[str, str]
    umask: int = -1
    reduced: bool = False


class Job(Struct, frozen=True):
    """A shell command to be run with bytes on its stdin, and for how many seconds at most."""

    command: str
    given: bytes
    world: World
    timeout: float

    def begin(self, loop: Loop, timeout: float, done: Callable[[Ran], object]) -> Ongoing:
        """Start it."""
        return Running(loop, replace(self, timeout=timeout), done)


def run(command: str, given: bytes, world: World, timeout: float) -> Ran:
    """Run a shell command and wait for it; in the end, or at the timeout, all its processes are killed."""
    return waited(Job(command, given, world, timeout))


class Running:
    """A process that runs: whoever has started it is told in the end how it went."""

    def __init__(self, loop: Loop, job: Job, done: Callable[[Ran], object]) -> None:
        """Start it."""
        self._loop, self._done, self._begin = loop, done, monotonic()
        self._left, self._cut, self._over, self._deaf = memoryview(job.given), False, False, False
        self._said = [bytearray() for _ in range(_NEWS + 1)]
        self._open: dict[int, int] = {}
        self._watchdog: Watchdog | None
        try:
            self._watchdog, ours = _watched(job)
        except (OSError, ValueError) as problem:
            self._watchdog = None
            said = Ran(failure=f"not started: {problem}", duration=monotonic() - self._begin)
            loop.at(0, lambda: done(said))
            return
        self._timer = loop.at(self._begin + job.timeout, self.end)
        for number, pipe in enumerate((*ours, self._watchdog.news)):
            os.set_blocking(pipe, False)
            self._open[number] = pipe
            loop.watch(pipe, READ if number else WRITE, partial(self._serve, number))

    def end(self) -> None:
        """Hear no more, and let everything be killed; the watchdog has a moment to be done with it."""
        if self._watchdog is None:
            return
        self._deaf = self._deaf or not self._over
        for number in [number for number in self._open if number != _NEWS]:
            self._shut(number)
        self._watchdog.let_go()
        self._timer.cancel()
        if self._over:
            self._finish()
        else:
            self._timer = self._loop.at(monotonic() + _GRACE, self._finish)

    def _serve(self, number: int, _: int) -> None:
        pipe = self._open[number]
        try:
            goes_on = self._feed(pipe) if number == 0 else self._hear(number, os.read(pipe, _CHUNK))
        except BlockingIOError:
            return
        except OSError:  # the process closed its end: it does not want to read on
            goes_on = 0
        if not goes_on:
            self._closed(number)

    def _closed(self, number: int) -> None:
        """One pipe has told everything."""
        self._shut(number)
        if number == _NEWS:  # everything that wrote was killed: what is left lies in the pipes
            self._over = True
            self._timer.cancel()
            self._timer = self._loop.at(monotonic() + _GRACE, self.end)
        if not any(self._open):  # what it reads, number 0, may stay open
            self.end()

    def _shut(self, number: int) -> None:
        pipe = self._open.pop(number)
        self._loop.forget(pipe)
        if number != _NEWS:
            os.close(pipe)

    def _feed(self, pipe: int) -> int:
        if self._left:
            self._left = self._left[os.write(pipe, self._left[:_CHUNK]) :]
        return len(self._left)

    def _hear(self, number: int, chunk: bytes) -> int:
        if self._deaf:  # how something ended that we have killed is no news
            return len(chunk)
        room = LIMIT - len(self._said[number])
        self._said[number] += chunk[:room]
        self._cut = self._cut or len(chunk) > room
        return len(chunk)

    def _finish(self) -> None:
        if self._watchdog is None:
            return
        self._timer.cancel()
        if _NEWS in self._open:
            self._shut(_NEWS)
        self._watchdog.close(ended=self._over)
        self._watchdog = None
        self._done(self._ran(monotonic() - self._begin))

    def _ran(self, duration: float) -> Ran:
        out, err, news = (bytes(said) for said in self._said[1:])
        told = news.decode(errors="replace")
        said = Ran(stdout=out, stderr=err, duration=duration, cut=self._cut)
        if told.isdigit():
            return replace(said, code=int(told))
        if told.startswith("-"):
            return replace(said, failure=f"ended by signal {told[1:]}")
        return replace(said, failure=told or ("timeout" if self._deaf else "its watchdog was killed"))


def _watched(job: Job) -> tuple[Watchdog, list[int]]:
    """The process that watches over the hook, and our ends of the hook's pipes."""
    theirs, ours = _pipes()
    try:
        return Watchdog(_watchdog(job, theirs)), ours
    except (OSError, ValueError):
        _close(ours)
        raise
    finally:
        _close(theirs)


def _watchdog(job: Job, pipes: list[int]) -> Callable[[int, int], int]:
    """Our native one, where it is there; what is to have fewer rights than we have is started by Python."""
    world = job.world
    program = native.program()
    if program is None or world.reduced or not os.access(program, os.X_OK):  # an upgrade may have taken it away
        return copied(lambda: _start(job.command, world, pipes), pipes)
    umask = f"{world.umask:o}" if world.umask >= 0 else "-"
    return native.started([umask, world.cwd or "-", job.command], world.env, pipes)


def _pipes() -> tuple[list[int], list[int]]:
    """Three pipes: the ends of the hook, in the order of its descriptors, and ours."""
    made: list[tuple[int, int]] = []
    try:
        while len(made) < _NEWS:
            made.append(os.pipe())
    except OSError:
        _close([end for ends in made for end in ends])
        raise
    into, out, err = made
    return [into[0], out[1], err[1]], [into[1], out[0], err[0]]


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _start(command: str, world: World, pipes: list[int]) -> "subprocess.Popen[bytes]":
    """Start the hook; this runs in the watchdog, which keeps no pipe of the hook's open."""
    try:
        if world.reduced:
            privileges.reduce()
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
