"""One process of a hook: fed, heard up to a limit, and ended with everything that it started."""

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from sys import platform
from time import monotonic

from msgspec import Struct

from hookonce.handlers.watchdog import Watchdog

MARK = "HOOKONCE_PARENT"  # names the running hook in the environment of all that it starts
LIMIT = 1 << 20  # bytes of an answer that are kept; more is read and thrown away
_CHUNK = 1 << 16
_SUBREAPER = 36  # prctl: orphans below us come to us, so that they can be found
_GRACE = 0.05  # seconds for the last bytes of a process that has ended


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


def run(command: str, given: bytes, world: World, timeout: float, watchdog: Watchdog | None = None) -> Ran:
    """Run a shell command with bytes on its stdin; at the timeout it is killed with all its children."""
    begin = monotonic()
    adopt_orphans()
    try:
        process = subprocess.Popen(  # noqa: S602  the command is a shell line by the specification
            command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=world.cwd,
            env=dict(world.env),
            start_new_session=True,
            umask=world.umask,
        )
    except (OSError, ValueError) as problem:
        return Ran(failure=f"not started: {problem}", duration=monotonic() - begin)
    if watchdog is not None:
        watchdog.started(process.pid)
    heard = _Ears(process, given)
    try:
        in_time = heard.listen(begin + timeout)
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end_orphans(world.env.get(MARK))
        if watchdog is not None:
            watchdog.ended(process.pid)
        heard.close()
    return _ran(process.returncode, heard, monotonic() - begin, in_time=in_time)


def _ran(code: int, heard: "_Ears", duration: float, *, in_time: bool) -> Ran:
    out, err = (bytes(heard.said[number]) for number in (1, 2))
    failure = None if in_time else "timeout"
    if in_time and code < 0:
        failure = f"ended by signal {-code}"
    plain = code if in_time and code >= 0 else None
    return Ran(code=plain, stdout=out, stderr=err, failure=failure, duration=duration, cut=heard.cut)


class _Ears:
    """The three pipes of a process, served until it has ended or the time is over."""

    def __init__(self, process: "subprocess.Popen[bytes]", given: bytes) -> None:
        self.process, self.left, self.cut = process, memoryview(given), False
        self.said = {1: bytearray(), 2: bytearray()}
        self.selector = selectors.DefaultSelector()
        self.pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
        for number, pipe in enumerate(self.pipes):
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ if number else selectors.EVENT_WRITE, number)

    def close(self) -> None:
        """Let go of the pipes."""
        for pipe in self.pipes:
            with suppress(OSError):
                pipe.close()

    def listen(self, deadline: float) -> bool:
        """Whether the process ended before the deadline."""
        ended: float | None = None
        with self.selector:
            while (left := deadline - monotonic()) > 0:
                if ended is None and self.process.poll() is not None:
                    ended = monotonic()
                if ended is not None and (not self._hears() or monotonic() - ended > _GRACE):
                    return True
                for key, _ in self.selector.select(min(left, 0.02)):
                    self._serve(key)
        return self.process.poll() is not None

    def _hears(self) -> bool:
        return any(key.data for key in self.selector.get_map().values())

    def _serve(self, key: selectors.SelectorKey) -> None:
        try:
            if key.data == 0:
                self.left = self.left[os.write(key.fd, self.left[:_CHUNK]) :] if self.left else self.left
                done = not self.left
            else:
                done = not self._hear(key.data, os.read(key.fd, _CHUNK))
        except BlockingIOError:
            return
        except OSError:  # the process closed its end: it does not want to read on
            done = True
        if done:
            self.selector.unregister(key.fileobj)
            with suppress(OSError):
                self.pipes[key.data].close()

    def _hear(self, number: int, chunk: bytes) -> bytes:
        room = LIMIT - len(self.said[number])
        self.said[number] += chunk[:room]
        self.cut = self.cut or len(chunk) > room
        return chunk


def end_orphans(mark: str | None) -> None:
    """Kill what left its process group: orphans that came to us and carry the mark of this hook."""
    wanted = f"{MARK}={mark}".encode()
    while mark and (found := [pid for pid in _children() if _carries(pid, wanted)]):
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _children() -> list[int]:
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def adopt_orphans() -> None:
    """Let processes whose parent has died become our children, where the system can do that."""
    if platform == "linux":
        with suppress(OSError, AttributeError):
            CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
