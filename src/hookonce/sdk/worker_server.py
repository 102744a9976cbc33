"""Prefork worker server: a process that has loaded a file of functions and forks a worker ahead of each call.

A worker ends with its call. So no call sees what another has done, leaked or left running, and a function that
ends its process, sleeps or fills the memory harms nobody but its own call. The client at the other end of stdin
orders workers (`more`), gets a socket to each (`ready`), has one killed (`kill`), and is told when one has exited
(`ended`) with its stderr; a file that cannot be loaded is reported too (`broken`).
"""

import gc
import os
import signal
import socket
from contextlib import suppress
from select import select
from traceback import format_exception
from types import ModuleType
from typing import Any, NoReturn

from msgspec import msgpack

from hookonce.base.spawn import close_inherited_fds, fork, write_all
from hookonce.handlers.supervise.hook_results import ClaimHolder, HookClaim, encode_result
from hookonce.handlers.supervise.watchdog import MAX_OUTPUT_BYTES, adopt_orphans, child_pids
from hookonce.handlers.workers.client import CONTROL_SOCKET_TYPE
from hookonce.handlers.workers.protocol import MAX_STDERR_BYTES, receive_request
from hookonce.sdk.function_runner import answer_event, limit_memory, load_checked, run_and_exit

_MAX_PACKET_BYTES = 1 << 16
_MAX_ERROR_CHARS = 500  # characters of why a file cannot be loaded


class WorkerServer:
    """The server: the loaded file, and the workers that wait for a call or are in one."""

    def __init__(self, file: str, digest: str) -> None:
        self._file, self._digest = file, digest
        # The client is at the other end of our stdin.
        self._control = socket.socket(socket.AF_UNIX, CONTROL_SOCKET_TYPE, fileno=os.dup(0))
        self._workers: dict[int, tuple[int, int]] = {}
        self._last_number = 0

    def serve(self) -> int:
        """Load the file, and fork workers until the client is gone."""
        adopt_orphans()
        try:
            module = load_checked(self._file, self._digest)
        except BaseException as problem:  # noqa: BLE001  whatever is wrong with the file
            trace = "".join(format_exception(problem)).encode(errors="replace")
            self._send("broken", f"{type(problem).__name__}: {problem}"[:_MAX_ERROR_CHARS], trace[-MAX_STDERR_BYTES:])
            return 1
        self._file_children = set(child_pids())  # what the file itself has started stays as long as we do
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
            _kill_processes({pid for pid, (number, _) in self._workers.items() if number == arguments[0]})
        return True

    def _fork_worker(self, module: ModuleType) -> None:
        """Fork a worker; the client gets the other end of its socket."""
        self._last_number += 1
        server_end, worker_end = socket.socketpair()
        stderr_fd = _open_stderr_file()
        with server_end, worker_end:
            pid = fork()
            if pid == 0:
                self._run_worker(module, worker_end.fileno(), stderr_fd)
            self._workers[pid] = (self._last_number, stderr_fd)
            packet = msgpack.encode(("ready", self._last_number))
            with suppress(OSError):  # a client that was killed orders nothing any more
                socket.send_fds(self._control, [packet], [server_end.fileno()])

    def _run_worker(self, module: ModuleType, fd: int, stderr_fd: int) -> NoReturn:
        """Whole life of a worker: its result goes to the client and, if that is killed, into the claim file."""
        answers: list[bytes] = []
        holders: list[ClaimHolder] = []

        def work() -> None:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            os.dup2(stderr_fd, 1)
            os.dup2(stderr_fd, 2)
            close_inherited_fds({1, 2, fd})
            adopt_orphans()
            limit_memory()
            request = receive_request(fd)
            if request.claim is not None:
                signal.setitimer(signal.ITIMER_REAL, 2 * request.timeout_s + 1)  # later than anybody waits
                holders.append(ClaimHolder(HookClaim(*request.claim), fd))
                if not holders[0].begin():
                    raise SystemExit(0)
            request.apply()
            answers.append(answer_event(module, request.name, request.payload)[:MAX_OUTPUT_BYTES])

        def report(code: int) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            stderr = b""
            with suppress(OSError):  # the function may have closed it
                stderr = os.pread(2, MAX_STDERR_BYTES, 0)
            result = encode_result(str(code), b"".join(answers), stderr)
            with suppress(OSError):
                write_all(fd, result)
            for holder in holders:
                holder.keep(result)

        run_and_exit(work, report)

    def _reap_workers(self) -> None:
        """Report workers that have exited, and kill what they left running."""
        with suppress(ChildProcessError):
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = child
                if pid in self._workers:
                    number, stderr_fd = self._workers.pop(pid)
                    self._send(
                        "ended", number, os.waitstatus_to_exitcode(status), os.pread(stderr_fd, MAX_STDERR_BYTES, 0)
                    )
                    os.close(stderr_fd)
        _kill_processes({*child_pids()} - self._workers.keys() - self._file_children)

    def _send(self, *message: Any) -> None:
        with suppress(OSError):  # a daemon that has gone takes us with it
            self._control.send(msgpack.encode(message))


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
