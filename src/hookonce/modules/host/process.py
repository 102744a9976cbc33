"""Child process of a module: process group, pipes, the tail of its stderr, and an end that leaves nothing behind."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import ceil
from select import POLLIN, POLLOUT, poll
from subprocess import DEVNULL, Popen
from threading import Thread
from time import monotonic, sleep

from hookonce.base.process_info import PYTHON_VARIABLE
from hookonce.base.spawn import close_fds, open_pipes, spawn

_CHUNK_BYTES = 1 << 16
STOP_GRACE_S = 1.0  # seconds for each of the ways to ask it to end
_POLL_INTERVAL_S = 0.02  # seconds between two looks, where the system cannot tell us
_STDERR_JOIN_S = 0.1  # for the end of its stderr, where a process that it left still holds it
_WRITE_POLL_S = 0.05  # between two looks whether another thread still reads
_SHELL = "/bin/sh"
_WATCH_SCRIPT = 'read -r group && { read -r _; kill -9 "-$group"; }'


class ParentGuard:
    """Shell that kills a module's process group when our end of a pipe closes, even if we are killed with SIGKILL."""

    def __init__(self) -> None:
        """Start the shell; where there is none, nothing is guarded."""
        self._write_fd = -1
        self._shell: Popen[bytes] | None = None
        with suppress(OSError):
            read_fd, self._write_fd = os.pipe()
            self._shell = spawn([_SHELL, "-c", _WATCH_SCRIPT], (read_fd, DEVNULL, DEVNULL), env={})

    def guard_group(self, group: int) -> None:
        """Have this process group killed with us."""
        with suppress(OSError):
            os.write(self._write_fd, f"{group}\n".encode())

    def release(self) -> None:
        """Guard nothing any more; call this while the group's number is still its own."""
        shell, write_fd, self._shell, self._write_fd = self._shell, self._write_fd, None, -1
        if shell is not None:
            shell.kill()
            shell.wait()
        close_fds(write_fd)


class ModuleProcess:
    """Running process of a module; `send` and `receive` may each be used by one thread at a time."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        on_stderr: Callable[[bytes], object] = bytes,
    ) -> None:
        """Start it; `on_stderr` gets what it writes to stderr. An OSError where it cannot be started."""
        environment = {**(os.environ if env is None else env), PYTHON_VARIABLE: sys.executable}
        child_fds, (self._stdin_fd, self._stdout_fd, stderr_fd) = open_pipes()
        self._parent_guard = ParentGuard()
        try:
            self._popen = spawn(command, child_fds, cwd=cwd, env=environment)
        except (OSError, ValueError) as problem:  # ValueError: a word with NUL in it
            close_fds(self._stdin_fd, self._stdout_fd, stderr_fd)
            self._parent_guard.release()
            raise problem if isinstance(problem, OSError) else OSError(str(problem)) from None
        self.pid = self._popen.pid
        self._parent_guard.guard_group(self.pid)
        self._exit_fd = -1
        with suppress(AttributeError, OSError):  # where the system has no pidfd
            self._exit_fd = os.pidfd_open(self.pid)
        os.set_blocking(self._stdin_fd, False)
        os.set_blocking(self._stdout_fd, False)
        self._read_poll, self._exit_poll = poll(), poll()
        self._read_poll.register(self._stdout_fd, POLLIN)
        if self._exit_fd >= 0:
            self._read_poll.register(self._exit_fd, POLLIN)
            self._exit_poll.register(self._exit_fd, POLLIN)
        self._stderr_thread = Thread(target=_drain_stderr, args=(stderr_fd, on_stderr), daemon=True)
        self._stderr_thread.start()

    def has_exited(self) -> bool:
        """Whether it has exited."""
        if self._exit_fd < 0:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        try:
            return bool(self._exit_poll.poll(0))
        except RuntimeError:  # another thread looks at this moment, and will see it
            return False

    def receive(self, deadline: float) -> bytes | None:
        """Read some bytes of its stdout; b"" at the end, None when the deadline has passed."""
        timeout_ms = ceil((deadline - monotonic()) * 1000)
        if timeout_ms < 0 or not self._read_poll.poll(timeout_ms):
            return None
        try:
            return os.read(self._stdout_fd, _CHUNK_BYTES)
        except OSError:
            return b""  # where this would block, it has ended, and a process that it left still holds its stdout

    def send(self, data: bytes, deadline: float, read_meanwhile: Callable[[], bool] = bool) -> int:
        """Write to its stdin, and return how many bytes went; a BrokenPipeError when nobody reads there."""
        sent_bytes = self._write(data)
        if sent_bytes == len(data):
            return sent_bytes
        # While the pipe is full, `read_meanwhile` is called when there is something to read: a module that waits for us
        # to read its responses does not read. It returns whether it was the one to read.
        rest, read_write_poll, write_poll = memoryview(data)[sent_bytes:], poll(), poll()
        for poller in (read_write_poll, write_poll):
            poller.register(self._stdin_fd, POLLOUT)
        read_write_poll.register(self._stdout_fd, POLLIN)
        active_poll = read_write_poll
        while rest and (remaining_s := deadline - monotonic()) > 0:
            wait_s = min(remaining_s, _WRITE_POLL_S) if active_poll is write_poll else remaining_s
            ready = dict(active_poll.poll(ceil(wait_s * 1000)))
            active_poll = read_write_poll
            if self._stdin_fd in ready:
                rest = rest[self._write(rest) :]
            elif self._stdout_fd in ready and not read_meanwhile():
                active_poll = write_poll
        return len(data) - len(rest)

    def _write(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self._stdin_fd, data)
        except BlockingIOError:
            return 0

    def close_stdin(self) -> None:
        """Close its stdin; most modules exit then."""
        fd, self._stdin_fd = self._stdin_fd, -1
        close_fds(fd)

    def stop(self, grace: float = STOP_GRACE_S) -> None:
        """Wait for its exit, send SIGTERM, then kill its whole group."""
        for signum in (0, signal.SIGTERM):
            if signum:
                self._signal(signum)
            if self._has_exited_within(grace):
                break
        self.kill()

    def kill(self, wait_s: float = 0.0) -> bool:
        """Kill its group now, or after `wait_s` seconds; whether it had exited by itself."""
        exited_alone = self._popen.returncode is not None or self._has_exited_within(wait_s)
        self._signal(signal.SIGKILL)
        self._parent_guard.release()
        self._popen.wait()
        self._stderr_thread.join(_STDERR_JOIN_S)
        return exited_alone

    @property
    def exit_text(self) -> str:
        """How it exited, for people."""
        code = self._popen.returncode
        if code is None:
            return "has not ended"
        if code >= 0:
            return f"ended with code {code}"
        is_named = -code in {*signal.Signals}
        return f"was ended by {signal.Signals(-code).name if is_named else f'signal {-code}'}"

    def _signal(self, signum: int) -> None:
        if self._popen.returncode is None:  # until it is reaped, nobody else gets its process id
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signum)

    def _has_exited_within(self, seconds: float) -> bool:
        if self._exit_fd >= 0:
            poller = poll()
            poller.register(self._exit_fd, POLLIN)
            return bool(poller.poll(ceil(seconds * 1000)))
        until = monotonic() + seconds
        while not (is_gone := self.has_exited()) and monotonic() < until:
            sleep(_POLL_INTERVAL_S)
        return is_gone

    def close_pipes(self) -> None:
        """Close the pipes; no thread may be reading or writing."""
        self.close_stdin()
        stdout_fd, exit_fd, self._stdout_fd, self._exit_fd = self._stdout_fd, self._exit_fd, -1, -1
        close_fds(stdout_fd, exit_fd)


def _drain_stderr(stderr_fd: int, on_stderr: Callable[[bytes], object]) -> None:
    try:
        while chunk := os.read(stderr_fd, _CHUNK_BYTES):
            on_stderr(chunk)
    finally:
        os.close(stderr_fd)
