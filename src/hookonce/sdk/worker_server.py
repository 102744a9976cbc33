"""Prefork worker server: a process that has loaded a file of functions, and forks the workers that answer calls.

A function that ends its process, sleeps or fills the memory harms nobody but its own call. The client at the other end
of stdin is told when the file is loaded, with the functions that want a worker of their own and the files that it has
imported from its folder (`loaded`), or why it cannot be (`broken`). It orders workers (`more`), gets a socket to each
(`ready`), has one killed (`kill`), and is told when one has exited (`ended`) with its stderr.
"""

import gc
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from select import select
from traceback import format_exception
from types import ModuleType
from typing import Any, NoReturn

from msgspec import msgpack

from hookonce.base.spawn import fork
from hookonce.handlers.supervise.watchdog import adopt_orphans, child_pids
from hookonce.handlers.workers.client import CONTROL_SOCKET_TYPE
from hookonce.handlers.workers.file_stamps import stamp_imports
from hookonce.handlers.workers.protocol import MAX_STDERR_BYTES
from hookonce.sdk.function_runner import load_checked
from hookonce.sdk.functions import find_isolated
from hookonce.sdk.worker_process import WorkerProcess

# What a call would import otherwise, in each worker anew.
_CALL_MODULES = ("hookonce.manifest.match", "hookonce.vocabulary.decision_merge", "hookonce.vocabulary.events")
_MAX_PACKET_BYTES = 1 << 16
_MAX_ERROR_CHARS = 500  # characters of why a file cannot be loaded


class WorkerServer:
    """The server: the loaded file, and the workers that wait for a call or are in one."""

    def __init__(self, file: str, digest: str) -> None:
        self._file, self._digest = file, digest
        # The client is at the other end of our stdin.
        self._control = socket.socket(socket.AF_UNIX, CONTROL_SOCKET_TYPE, fileno=os.dup(0))
        self._workers: dict[int, int] = {}  # the files of their output, by pid

    def serve(self) -> int:
        """Load the file, and fork workers until the client is gone."""
        adopt_orphans()
        try:
            module = load_checked(self._file, self._digest)
        except BaseException as problem:  # noqa: BLE001  whatever is wrong with the file
            trace = "".join(format_exception(problem)).encode(errors="replace")
            self._send("broken", f"{type(problem).__name__}: {problem}"[:_MAX_ERROR_CHARS], trace[-MAX_STDERR_BYTES:])
            return 1
        for name in _CALL_MODULES:
            import_module(name)
        self._file_children = set(child_pids())  # what the file itself has started stays as long as we do
        self._send("loaded", find_isolated(module), stamp_imports(_imported_files(module)))
        gc.freeze()
        read_fd, write_fd = os.pipe()
        os.set_blocking(write_fd, False)
        signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        control_fds = [self._control.fileno()]
        while control_fds or self._workers:  # calls that have begun are heard out when the client was killed
            ready_fds, _, _ = select([*control_fds, read_fd], [], [])
            if read_fd in ready_fds:
                os.read(read_fd, 512)
                self._reap_workers()
            if self._control.fileno() in ready_fds and not self._handle_message(module):
                control_fds.clear()
        return 0

    def _handle_message(self, module: ModuleType) -> bool:
        try:
            packet = self._control.recv(_MAX_PACKET_BYTES)
        except ConnectionError:
            return False
        if not packet:
            return False
        message, *arguments = msgpack.decode(packet)
        if message == "more":
            self._fork_worker(module)
        elif message == "kill":
            _kill_processes(self._workers.keys() & set(arguments))
        return True

    def _fork_worker(self, module: ModuleType) -> None:
        """Fork a worker; the client gets the other end of its socket."""
        server_end, worker_end = socket.socketpair()
        stderr_fd = _open_stderr_file()
        with server_end, worker_end:
            pid = fork()
            if pid == 0:
                _run_worker(module, worker_end.fileno(), stderr_fd)
            self._workers[pid] = stderr_fd
            packet = msgpack.encode(("ready", pid))
            with suppress(OSError):  # a client that was killed orders nothing any more
                socket.send_fds(self._control, [packet], [server_end.fileno()])

    def _reap_workers(self) -> None:
        """Report workers that have exited, and kill what they left running."""
        with suppress(ChildProcessError):
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = child
                if pid in self._workers:
                    stderr_fd = self._workers.pop(pid)
                    stderr = os.pread(stderr_fd, MAX_STDERR_BYTES, 0)
                    self._send("ended", pid, os.waitstatus_to_exitcode(status), stderr)
                    os.close(stderr_fd)
        _kill_processes({*child_pids()} - self._workers.keys() - self._file_children)

    def _send(self, *message: Any) -> None:
        with suppress(OSError):  # a daemon that has gone takes us with it
            self._control.send(msgpack.encode(message))


def _imported_files(module: ModuleType) -> list[str]:
    """Files beside that of a module, and below its folder, that were imported."""
    folder = f"{os.path.dirname(str(module.__file__))}/"  # noqa: PTH120  as text
    files = {getattr(other, "__file__", None) for other in [*sys.modules.values()]} - {module.__file__}
    return sorted(file for file in files if isinstance(file, str) and file.startswith(folder))


def _run_worker(module: ModuleType, fd: int, stderr_fd: int) -> NoReturn:
    try:
        WorkerProcess(module, fd, stderr_fd).serve()
    finally:
        os._exit(1)


def _kill_processes(pids: set[int]) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _open_stderr_file() -> int:
    """A file in memory for a worker's stdout and stderr."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("notes")
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        return os.dup(file.fileno())
