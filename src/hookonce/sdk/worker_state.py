"""Process state of a worker: set for each call, and put right after it, or found to be beyond that.

What a function changes of its process is not there for the next call: environment, directory, umask, signals, timers,
output. A worker is replaced after a call that has left threads or processes running, has grown its memory or its
descriptors, or has changed limits or the user. Python objects are the function's own: they stay.
"""

import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from hookonce.handlers.workers.protocol import MAX_STDERR_BYTES, WorkerRequest, decode_environment

MAX_GROWTH_MB = 64  # megabytes of memory above what the loaded file takes
MAX_LEFT_FDS = 32  # descriptors that functions have left open
_FD_CHECK_INTERVAL_CALLS = 16  # calls
_TIME_ZONE = b"TZ"
_BYTES_PER_MB = 1 << 20
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024  # bytes of its unit
_LIMITS = tuple(
    getattr(resource, f"RLIMIT_{name}") for name in ("AS", "CORE", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC", "STACK")
)
_TASK_LINKS = 3  # of a folder with one folder in it, that of the only thread
_THREAD_EXIT_S, _MAX_THREAD_LOOKS = 0.0002, 5  # a thread that was joined needs a moment to be gone
_getsignal: Any = sys.modules["_signal"].getsignal  # without making enums of what it finds


class ProcessState:
    """State of this process as it was before its first call."""

    def __init__(self, stderr_fd: int) -> None:
        """`stderr_fd` is the file for what functions print."""
        self._stderr_fd, self._streams = stderr_fd, (sys.stdout, sys.stderr)
        self._environ, self._environb = os.environ, os.environb
        self._variables: dict[bytes, bytes] = vars(os.environ)["_data"]  # of both of them
        self._environment, self._encoded_environment = dict(self._variables), b""  # of the latest call
        self._umask = os.umask(0)
        self._signals = {number: _getsignal(number) for number in signal.valid_signals()}
        self._blocked_signals = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._identity, self._size_bytes, self._fd_count = _process_identity(), _resident_bytes(), _count_fds()
        self._call_count, self._is_output_lost = 0, False
        self.restore()

    def apply(self, request: WorkerRequest) -> None:
        """Set the environment, directory and umask of a call."""
        os.environ, os.environb = self._environ, self._environb  # a function may have put others there
        if self._encoded_environment != request.environment:
            self._environment = decode_environment(request.environment)
            self._encoded_environment = request.environment
        if self._variables != self._environment:
            self._apply_environment()
        os.umask(request.umask if request.umask >= 0 else self._umask)
        os.chdir(os.sep if request.cwd is None else request.cwd)

    def _apply_environment(self) -> None:
        variables, environment = self._variables, self._environment
        time_zone = variables.get(_TIME_ZONE)
        for name in variables.keys() - environment.keys():
            del os.environb[name]
        for name, value in environment.items():
            if variables.get(name) != value:
                os.environb[name] = value
        if environment.get(_TIME_ZONE) != time_zone:
            time.tzset()

    def take_stderr(self) -> bytes:
        """What the call has printed; the next one begins with nothing."""
        self._is_output_lost, stderr = True, b""
        with suppress(OSError, ValueError):  # the function may have closed it
            for stream in self._streams:
                stream.flush()
            if os.fstat(self._stderr_fd).st_size:
                stderr = os.pread(self._stderr_fd, MAX_STDERR_BYTES, 0)
                os.ftruncate(self._stderr_fd, 0)
                os.lseek(self._stderr_fd, 0, os.SEEK_SET)
            self._is_output_lost = False
        return stderr

    def is_lost(self) -> bool:
        """Whether the call has left what cannot be put right."""
        self._call_count += 1
        checks_fds = not self._call_count % _FD_CHECK_INTERVAL_CALLS
        return (
            self._is_output_lost
            or _has_children()
            or _has_threads()
            or _process_identity() != self._identity
            or _has_grown(self._size_bytes + MAX_GROWTH_MB * _BYTES_PER_MB)
            or (checks_fds and _count_fds() > self._fd_count + MAX_LEFT_FDS)
        )

    def restore(self) -> None:
        """Put right what the call has changed, but for what the next one sets."""
        for number, handler in self._signals.items():
            if _getsignal(number) != handler and handler is not None:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked_signals)
        signal.set_wakeup_fd(-1)
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        sys.stdout, sys.stderr = self._streams
        for fd in (1, 2):
            os.dup2(self._stderr_fd, fd)
        sys.settrace(None)
        sys.setprofile(None)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:  # what has ended is reaped
            continue
    except ChildProcessError:
        return False
    return True


def _has_threads() -> bool:
    try:
        looks = 0
        while os.stat("/proc/self/task").st_nlink > _TASK_LINKS:  # noqa: PTH116  as text; somebody waits
            looks += 1
            if looks > _MAX_THREAD_LOOKS or threading.active_count() > 1:
                return True
            time.sleep(_THREAD_EXIT_S)
    except OSError:
        return threading.active_count() > 1
    return False


def _has_grown(limit_bytes: int) -> bool:
    """Whether more memory is in use; it is looked up only if it ever was."""
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES
    return peak_bytes > limit_bytes and _resident_bytes() > limit_bytes


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123  as text; somebody waits
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES


def _count_fds() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208  as text; somebody waits
    except OSError:
        return 0


def _process_identity() -> tuple[Any, ...]:
    """User, groups, priority and limits."""
    ids = os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getpriority(os.PRIO_PROCESS, 0)
    return *ids, *map(resource.getrlimit, _LIMITS)
