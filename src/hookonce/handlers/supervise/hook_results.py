"""Hook results that outlive their runner: result frames, the claim file of a hook, and the results of one call.

Whoever supervises a hook (watchdog, worker) creates its claim file, locks it, and names in it a file in its own memory
before the hook begins. If the runner is killed, the result is left there, and the process that answers in its place
reads it once the lock is free (ADR 0037). A hook whose claim file is missing, or empty and free, has never begun. If
nothing can be read where it points, nobody knows how the hook ended. A worker and a native watchdog have one file for
all their calls (`claim_slots.py`).
"""

import os
from collections.abc import Callable, Generator
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from hashlib import sha256
from pathlib import Path
from select import POLLIN, poll
from struct import Struct as Packed
from time import monotonic, sleep

from msgspec import Struct

from hookonce.base.process_info import is_process_alive
from hookonce.base.runtime_dir import write_atomic
from hookonce.base.spawn import write_all
from hookonce.handlers.operation import OperationResult
from hookonce.handlers.supervise.claim_slots import find_slot, take_slot

KILL, FORGET = b"k", b"f"  # what a runner says on the hangup pipe; a runner that was killed says nothing
UNKNOWN_ENDING = "the process that ran it was killed"
_LENGTHS = Packed("<3I")  # of status, stdout and stderr
_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_POLL_INTERVAL_S = 0.01  # seconds between two looks at a claim file
_CLIENT_POLL_S = 0.05  # seconds between two looks at a client that has not read a result yet
_MAX_RESULT_AGE_S = 600.0  # seconds for which a result waits for its reader


def encode_result(status: str, stdout: bytes = b"", stderr: bytes = b"") -> bytes:
    """Frame of a result: an exit code, a negative signal number, or why there is neither; and both outputs."""
    status_bytes = status.encode(errors="replace")[:512]
    return _LENGTHS.pack(len(status_bytes), len(stdout), len(stderr)) + status_bytes + stdout + stderr


def parse_result(data: bytes | bytearray, duration: float = 0.0) -> OperationResult | None:
    """Result of a frame; None while it is not whole."""
    if len(data) < _LENGTHS.size:
        return None
    lengths = _LENGTHS.unpack_from(data)
    stdout_start = _LENGTHS.size + lengths[0]
    stderr_start = stdout_start + lengths[1]
    if len(data) < stderr_start + lengths[2]:
        return None
    status = data[_LENGTHS.size : stdout_start].decode(errors="replace")
    is_code, is_signal = status.isascii() and status.isdecimal(), status.startswith("-")
    return OperationResult(
        code=int(status) if is_code else None,
        failure=None if is_code else f"ended by signal {status[1:]}" if is_signal else status,
        stdout=bytes(data[stdout_start:stderr_start]),
        stderr=bytes(data[stderr_start : stderr_start + lengths[2]]),
        duration=duration,
    )


class HookClaim(Struct, frozen=True):
    """Claim of one hook: its file, the client that its call is for, and what is called once that was answered."""

    path: str
    client_pid: int
    on_release: list[Callable[[], object]] = []

    @property
    def is_client_gone(self) -> bool:
        """Whether nobody waits for the result; an unknown client, 0, counts as there."""
        return self.client_pid > 0 and not is_process_alive(self.client_pid)

    def save(self, status: str) -> None:
        """Leave a result that only the runner knows; never what the hook has said."""
        with suppress(OSError):
            write_atomic(self.path, encode_result(status))

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            os.unlink(self.path)  # noqa: PTH108  as text; somebody waits


class ClaimHolder:
    """Holder of a claim file: the process that supervises a hook, at the other end of the hangup pipe or socket."""

    def __init__(self, claim: HookClaim, hangup_fd: int) -> None:
        self._claim, self._hangup_fd, self._fd, self._result_fd = claim, hangup_fd, -1, -1

    def begin(self) -> bool:
        """Claim the hook; whether it may begin, because nobody else has claimed it and the runner is there."""
        try:
            self._fd = os.open(self._claim.path, _OPEN_FLAGS | os.O_EXCL, 0o600)
        except OSError as problem:  # a full disk keeps no hook from being asked
            return not isinstance(problem, FileExistsError)
        try:
            return self._lock_claim()
        except BlockingIOError:
            return False
        except BaseException as problem:
            self._claim.remove()
            if isinstance(problem, OSError):  # nor does a disk without locks
                return True
            raise

    def _lock_claim(self) -> bool:
        flock(self._fd, LOCK_EX | LOCK_NB)
        if os.fstat(self._fd).st_size:  # it was taken before we held it
            return False
        poller = poll()
        poller.register(self._hangup_fd, POLLIN)
        if poller.poll(0):
            self._claim.remove()
            return False
        self._open_result_file()
        return True

    def _open_result_file(self) -> None:
        """Let the claim file name a file in memory, which ends with us; elsewhere it has to hold the result itself."""
        try:
            self._result_fd = os.memfd_create("result")
            os.write(self._fd, f"/proc/{os.getpid()}/fd/{self._result_fd}".encode())
        except (OSError, AttributeError):
            self._result_fd = self._fd
            with suppress(OSError):  # no file may grow: our lock says that it has begun
                os.ftruncate(self._fd, 1)

    def keep(self, result: bytes, word: bytes = KILL) -> None:
        """Keep the result until the call was answered; if the runner was killed, for as long as the client is there."""
        if self._result_fd < 0:
            return
        while word == KILL:
            try:
                word = os.read(self._hangup_fd, 1)
            except OSError:  # a socket whose other end was killed before it had read everything
                word = b""
        if word != FORGET:
            with suppress(OSError):
                write_all(self._result_fd, result)
                flock(self._fd, LOCK_UN)  # also for copies of us that the hook has made
            deadline = monotonic() + _MAX_RESULT_AGE_S
            while not self._claim.is_client_gone and monotonic() < deadline:
                sleep(_CLIENT_POLL_S)
        self._claim.remove()


class CallResults:
    """Results of the hooks of one call, which wait until it was answered; or, after a kill, for us to answer it."""

    def __init__(self, path: str, client_pid: int, *, takes_over: bool = False) -> None:
        """`path` is that of the call's own claim; `takes_over`: whoever ran the hooks of this call was killed."""
        self._path, self._client_pid, self.takes_over = path, client_pid, takes_over
        self._counts: dict[bytes, int] = {}
        self._on_release: list[Callable[[], object]] = []

    def claim(self, command: str) -> HookClaim:
        """Claim of the next hook with this command; its file has the same name for whoever answers after a kill."""
        digest = sha256(command.encode(errors="surrogateescape")).digest()[:8]
        self._counts[digest] = count = self._counts.get(digest, 0) + 1
        return HookClaim(f"{self._path}.{digest.hex()}.{count}", self._client_pid, self._on_release)

    def begin(self, command: str) -> bool:
        """Claim a hook that only this process supervises; if we are killed, nobody knows how it ended.

        Whether it may begin, because nobody has begun it before.
        """
        claim = self.claim(command)
        self._on_release.append(claim.remove)
        try:
            return not _take_claim(claim.path)
        except OSError as problem:
            return not isinstance(problem, BlockingIOError)

    def recover(self, command: str, timeout: float) -> Generator[float, None, OperationResult | None]:
        """Result of a hook that has begun; None if it has not, and is claimed by us now."""
        claim, started_at = self.claim(command), monotonic()
        self._on_release.append(claim.remove)
        while (duration := monotonic() - started_at) < timeout:
            path, take_content = claim.path, _take_over
            if not _has_content(path) and (slot := find_slot(path)) is not None:
                path, take_content = slot, take_slot
            try:
                content = take_content(path)
            except BlockingIOError:
                yield _POLL_INTERVAL_S
            except OSError as problem:
                return OperationResult(failure=f"not started: {problem}", duration=duration)
            else:
                return _load_result(content, _run_time_s(path, content) or duration) if content else None
        return OperationResult(failure="timeout", duration=timeout)

    def release(self) -> None:
        """The call was answered: nobody needs the results."""
        while self._on_release:
            self._on_release.pop()()


def _take_claim(path: str, has_slot: Callable[[], bool] = lambda: False) -> bytes:
    """Content of a claim file; if it is empty, the hook has not begun, and is ours.

    BlockingIOError while somebody holds it.
    """
    with open(os.open(path, _OPEN_FLAGS, 0o600), "r+b", buffering=0) as file:  # noqa: PTH123  as text; somebody waits
        flock(file, LOCK_EX | LOCK_NB)
        if not os.fstat(file.fileno()).st_nlink:
            raise BlockingIOError("another process has just removed it")
        content = file.read()
        if not content:
            if has_slot():
                raise BlockingIOError("a slot holds it")
            file.truncate(1)
        return content


def _has_content(path: str) -> bool:
    with suppress(OSError):
        return os.stat(path).st_size > 0  # noqa: PTH116  as text; somebody waits
    return False


def _take_over(path: str) -> bytes:
    """The same for whoever answers in the place of a runner that was killed.

    Slots are looked at once more when the file is there: a watchdog fills its slot and then looks for the file, so one
    of both sees the other.
    """
    return _take_claim(path, lambda: find_slot(path) is not None)


def _run_time_s(path: str, content: bytes) -> float:
    """Seconds from the claim of a hook until its result was left, 0 if unknown: an heir has seen the rest of it."""
    with suppress(OSError, ValueError):
        if content.startswith(b"/proc/"):
            return max(os.stat(content).st_mtime - os.stat(path).st_mtime, 0)  # noqa: PTH116  as text; somebody waits
    return 0


def _load_result(content: bytes, duration: float) -> OperationResult:
    """Result that a claim file holds, or names as a file in the memory of its holder."""
    with suppress(OSError):
        content = Path(os.fsdecode(content)).read_bytes() if content.startswith(b"/proc/") else content
    return parse_result(content, duration) or OperationResult(failure=UNKNOWN_ENDING, duration=duration)
