"""Watchdog process between us and a hook: spawns and feeds it, collects its output, kills everything that it started.

It hands one result to us. On the hangup pipe it hears that the hook is to be killed, or that its result can be
forgotten. If we are killed, a hook with a claim is heard out, and every other one is killed. Processes that leave their
group, session or parent come to it as orphans (child subreaper), where the system can do that. It has a session of its
own, because agents kill whole process groups. The native client has another, which starts faster and takes one order
after another.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from select import POLLIN, POLLOUT, poll
from stat import S_ISFIFO
from sys import platform
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookonce.base.spawn import close_fds, fork_child, kill_group, open_pipes, write_all
from hookonce.handlers.supervise import limits
from hookonce.handlers.supervise.hook_results import FORGET, KILL, ClaimHolder, HookClaim, encode_result

if TYPE_CHECKING:
    from subprocess import Popen

    from hookonce.base.event_loop import EventLoop
    from hookonce.handlers.supervise.watchdog_pool import WatchdogPool

MAX_OUTPUT_BYTES = 1 << 20  # bytes of an output that are kept; more is read and thrown away
_PR_SET_CHILD_SUBREAPER = 36  # prctl: orphans below a process come to it
_POLL_INTERVAL_MS = 10  # milliseconds between two looks at a process that cannot be waited for
_ORPHAN_POLL_MS = 50  # milliseconds between two looks at the client of a runner that was killed
_CHUNK_BYTES = 1 << 16
pools: dict["EventLoop", "WatchdogPool"] = {}  # of event loops that have one
_zombie_pids: list[int] = []  # watchdogs that had not ended when they were asked no more


class Watchdog:
    """The watchdog process and two pipes: it reports the hook's result on one, the other is the hangup pipe."""

    def __init__(self, start: Callable[[int, int], int]) -> None:
        """Start it with a function that gets the child's ends of the pipes and returns the pid."""
        child_hangup_fd, self._hangup_fd = os.pipe()
        try:
            self.status_fd, child_status_fd = os.pipe()
        except OSError:
            close_fds(child_hangup_fd, self._hangup_fd)
            raise
        try:
            self._pid = start(child_hangup_fd, child_status_fd)
        except (OSError, ValueError):
            close_fds(self._hangup_fd, self.status_fd)
            raise
        finally:
            close_fds(child_hangup_fd, child_status_fd)

    def order(self, order: bytes) -> None:
        """Give a native watchdog its order."""
        write_all(self._hangup_fd, order)

    def kill(self) -> None:
        """Kill everything that still runs."""
        with suppress(OSError):
            os.write(self._hangup_fd, KILL)

    def close(self, *, has_ended: bool) -> None:
        """Kill everything, and forget the result; a watchdog that has not ended is reaped later."""
        os.close(self.status_fd)
        with suppress(OSError):
            os.write(self._hangup_fd, FORGET)
        os.close(self._hangup_fd)
        if has_ended:
            os.waitpid(self._pid, 0)
        else:
            reap_later(self._pid)

    def finish(self, *, may_wait: bool) -> None:
        """Forget the result, which was reported whole."""
        self.close(has_ended=may_wait)


def reap_later(pid: int) -> None:
    """Reap a watchdog that is about to end."""
    _zombie_pids.append(pid)


def reap() -> None:
    """Reap watchdogs that have ended since; a long-lived process would collect zombies."""
    _zombie_pids[:] = [pid for pid in _zombie_pids if not _has_ended(pid)]


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # it is not ours: we are a copy of the one who started it
        return True


HookStart = Callable[[list[int]], "Popen[bytes]"]  # with the hook's three descriptors, if output is collected


class WatchOptions(Struct, frozen=True):
    """What a watchdog does besides killing: it feeds a payload file to the hook and collects its output; and it hears
    out a hook whose runner was killed, for so many seconds after its start, or, without a claim, after that kill.
    """

    payload_fd: int | None = None
    claim: HookClaim | None = None
    limit_s: float = 0


def forked_watchdog(
    start: HookStart, keep_fds: Collection[int], options: WatchOptions | None = None
) -> Callable[[int, int], int]:
    """A watchdog that is forked from this process, keeps only these descriptors, and starts the hook."""

    def begin(hangup_fd: int, status_fd: int) -> int:
        watch = _ForkedWatch(options or WatchOptions(), hangup_fd, status_fd)
        return fork_child(lambda: watch.run(start), {*keep_fds, hangup_fd, status_fd})

    return begin


class _ForkedWatch:
    """The life of a forked watchdog."""

    def __init__(self, options: WatchOptions, hangup_fd: int, status_fd: int) -> None:
        self._options, self._hangup_fd, self._status_fd = options, hangup_fd, status_fd
        self._deadline, self._word, self._is_orphan = monotonic() + options.limit_s, b"", False
        self._pipes, self._stdin_bytes, self._outputs = [-1, -1, -1], 0, (bytearray(), bytearray())

    def run(self, start: HookStart) -> None:
        """Run the hook, and report its exit code, a negative signal number, or why there is neither."""
        limits.restore_fd_limit()
        adopt_orphans()
        claim = self._options.claim
        holder = ClaimHolder(claim, self._hangup_fd) if claim is not None else None
        if holder is not None and not holder.begin():
            return
        try:
            payload_fd = self._options.payload_fd
            process = start([] if payload_fd is None else self._open_pipes(payload_fd))
        except (OSError, ValueError) as problem:
            status = f"not started: {problem}"
        else:
            has_ended = self._wait_for_end(process)
            _kill_all(process)
            status = str(process.returncode) if has_ended else "timeout"
        for number in (1, 2):
            while len(self._outputs[number - 1]) < MAX_OUTPUT_BYTES and self._collect(number):
                continue
        result = encode_result(status, *map(bytes, self._outputs))
        with suppress(OSError):
            write_all(self._status_fd, result)
        os.close(self._status_fd)
        if holder is not None:
            holder.keep(result, self._word or KILL)

    def _open_pipes(self, payload_fd: int) -> list[int]:
        child_fds, self._pipes = open_pipes()
        if S_ISFIFO(os.fstat(payload_fd).st_mode):  # what no file could hold is in a pipe already
            close_fds(child_fds[0], self._pipes[0])
            child_fds[0], self._pipes[0] = payload_fd, -1
        for pipe in self._pipes[self._pipes[0] < 0 :]:
            os.set_blocking(pipe, False)
        return child_fds

    def _wait_for_end(self, process: "Popen[bytes]") -> bool:
        """Wait until it has ended by itself, or we are to end it; its pid stays reserved until its group was killed."""
        try:
            hook_fd = os.pidfd_open(process.pid)
        except (OSError, AttributeError):  # an older system without pidfd: look again and again
            hook_fd = -1
        while True:
            ready_fds = self._poll(hook_fd)
            for number, pipe in enumerate(self._pipes):
                if pipe in ready_fds:
                    self._collect(number) if number else self._feed()
            if self._hangup_fd in ready_fds:
                self._hear_runner()
            if hook_fd in ready_fds or (hook_fd < 0 and process.poll() is not None):
                return True
            if self._word or (self._is_orphan and self._is_unheard()):
                return False

    def _poll(self, hook_fd: int) -> set[int]:
        poller = poll()
        for fd in (*self._pipes[1:], hook_fd, -1 if self._is_orphan else self._hangup_fd):
            if fd >= 0:
                poller.register(fd, POLLIN)
        if self._pipes[0] >= 0:
            poller.register(self._pipes[0], POLLOUT)
        timeout_ms = _POLL_INTERVAL_MS if hook_fd < 0 else _ORPHAN_POLL_MS if self._is_orphan else None
        return {fd for fd, _ in poller.poll(timeout_ms)}

    def _hear_runner(self) -> None:
        self._word = os.read(self._hangup_fd, 1)
        if not self._word:
            self._is_orphan = True
            if self._options.claim is None:
                self._deadline = monotonic() + self._options.limit_s

    def _is_unheard(self) -> bool:
        claim = self._options.claim
        return monotonic() >= self._deadline or (claim is not None and claim.is_client_gone)

    def _feed(self) -> None:
        chunk = os.pread(self._options.payload_fd or 0, _CHUNK_BYTES, self._stdin_bytes)
        try:
            self._stdin_bytes += os.write(self._pipes[0], chunk)
        except BlockingIOError:
            return
        except OSError:  # it does not want to read on
            chunk = b""
        if not chunk:
            self._close_pipe(0)

    def _collect(self, number: int) -> bool:
        """Collect what one output has now; whether there may be more."""
        try:
            chunk = os.read(self._pipes[number], _CHUNK_BYTES) if self._pipes[number] >= 0 else None
        except BlockingIOError:
            chunk = None
        if chunk is None:
            return False
        output = self._outputs[number - 1]
        output += chunk[: MAX_OUTPUT_BYTES - len(output)]
        if not chunk:
            self._close_pipe(number)
        return bool(chunk)

    def _close_pipe(self, number: int) -> None:
        os.close(self._pipes[number])
        self._pipes[number] = -1


def _kill_all(process: "Popen[bytes]") -> None:
    from signal import SIGKILL

    kill_group(process)
    while pids := child_pids():
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, SIGKILL)
        for pid in pids:
            with suppress(OSError):
                os.waitpid(pid, 0)


def child_pids() -> list[int]:
    """Pids of our direct children; their own children come to us when they die."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def adopt_orphans(*, enable: bool = True) -> None:
    """Become a child subreaper, where the system can do that, or stop being one."""
    if platform == "linux":
        with suppress(OSError, AttributeError):
            from ctypes import CDLL  # a native watchdog does without

            CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(enable), 0, 0, 0)


_SERVER_OPTION = "--watch-server"
_BINARY_MAGICS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # of Linux and macOS


@cache
def find_native_watchdog() -> str | None:
    """Path of the native client for this machine, if it was built of these sources: an older one takes no orders."""
    file = Path(__file__).parents[2] / "client" / "native" / "hookonce-on"
    try:
        content = file.read_bytes()
    except OSError:
        return None
    is_native = content.startswith(_BINARY_MAGICS) and _SERVER_OPTION.encode() in content
    return str(file) if is_native and os.access(file, os.X_OK) else None


def spawn_native(order_fd: int, status_fd: int, slot_path: str = "", order_file_fd: int | None = None) -> int:
    """Spawn a native watchdog, which takes orders from a descriptor; one that is too large lies in a file."""
    stdin_action = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    actions = [stdin_action if order_file_fd is None else (os.POSIX_SPAWN_DUP2, order_file_fd, 0)]
    return _spawn(["--watch", str(order_fd), str(status_fd), slot_path], {}, {order_fd, status_fd}, actions)


def native_watchdog(
    arguments: list[str], env: Mapping[str, str], fds: list[int], options: WatchOptions
) -> Callable[[int, int], int]:
    """A native watchdog of a server: its directory and command, its environment and its descriptors."""

    def begin(hangup_fd: int, status_fd: int) -> int:
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)]
        words = [_SERVER_OPTION, str(hangup_fd), str(status_fd), str(int(options.limit_s * 1000)), *arguments]
        return _spawn(words, env, {hangup_fd, status_fd}, actions)

    return begin


def _spawn(words: list[str], env: Mapping[str, str], fds: Collection[int], file_actions: list[Any]) -> int:
    for fd in fds:
        os.set_inheritable(fd, True)  # noqa: FBT003  the system's own order of words
    program = str(find_native_watchdog())
    with limits.lowered_fd_limit():
        return os.posix_spawn(program, [program, *words], env, file_actions=file_actions)
