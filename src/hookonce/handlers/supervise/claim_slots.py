"""Claim slots: the claims of a worker or a watchdog that stays, in one file for all its calls.

A worker locks its slot as long as it lives, and writes the name of a claim into it before the hook begins. So a call
costs no file of its own, and whoever answers after a kill finds what has begun (ADR 0037). The result is left in a
file in the worker's memory, which the slot names, once nobody else can hand it over. Native watchdogs have slots of the
same form.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

from hookonce.base.spawn import write_all

_PREFIX, WATCHDOG_PREFIX = "worker-", "watchdog-"
_NAME_BYTES = 128  # of a slot, for the name of a claim; the place of its result stands behind them
_OPEN_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


def slot_path(claim_path: str, pid: int) -> str:
    """Path of the slot of a worker, beside the claims that it holds."""
    return f"{os.path.dirname(claim_path)}/{_PREFIX}{pid}"  # noqa: PTH120  as text; somebody waits


class ClaimSlot:
    """The slot of this process."""

    def __init__(self, path: str) -> None:
        """Create and lock the file; an OSError where that is not possible."""
        self._path = path
        self._fd = os.open(path, _OPEN_FLAGS | os.O_CREAT, 0o600)
        try:
            flock(self._fd, LOCK_EX | LOCK_NB)
            os.ftruncate(self._fd, 0)  # a process of this number may have been killed before us
            self._result_fd = _open_result_file()
            place = b"" if self._result_fd < 0 else f"/proc/{os.getpid()}/fd/{self._result_fd}".encode()
            os.pwrite(self._fd, bytes(_NAME_BYTES) + place, 0)
        except OSError:
            os.close(self._fd)
            raise

    def fill(self, claim_path: str) -> None:
        """Name the claim of the hook that begins now."""
        os.pwrite(self._fd, claim_path.rpartition("/")[2].encode().ljust(_NAME_BYTES, b"\0"), 0)

    def save(self, result: bytes) -> None:
        """Leave the result for whoever answers in our client's place."""
        if self._result_fd < 0:
            os.lseek(self._fd, _NAME_BYTES, os.SEEK_SET)
        write_all(self._fd if self._result_fd < 0 else self._result_fd, result)
        flock(self._fd, LOCK_UN)  # also for copies of us that the hook has made

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            os.unlink(self._path)  # noqa: PTH108  as text; somebody waits


def _open_result_file() -> int:
    """A file in memory, which ends with us; -1 where there is none, and the slot has to hold the result itself."""
    try:
        fd = os.memfd_create("result")
    except (OSError, AttributeError):
        return -1
    return fd if os.access(f"/proc/{os.getpid()}/fd/{fd}", os.R_OK) else -1


def iter_slots(folder: str) -> Iterator[tuple[str, str]]:
    """Names of the claims that slots hold, with the paths of the slots."""
    with suppress(OSError):
        for entry in os.listdir(folder):  # noqa: PTH208  as text; somebody waits
            if entry.startswith((_PREFIX, WATCHDOG_PREFIX)):
                path = f"{folder}/{entry}"
                with suppress(OSError), open(os.open(path, _OPEN_FLAGS), "rb", buffering=0) as file:  # noqa: PTH123
                    yield file.read(_NAME_BYTES).rstrip(b"\0").decode(errors="replace"), path


def iter_claims(folder: str) -> Iterator[str]:
    """Names of all claims, those with a file of their own and those that slots hold."""
    yield from os.listdir(folder)  # noqa: PTH208  as text; somebody waits
    yield from (name for name, _ in iter_slots(folder))


def find_slot(claim_path: str) -> str | None:
    """Path of the slot that holds a claim."""
    folder, _, name = claim_path.rpartition("/")
    return next((path for held_name, path in iter_slots(folder) if held_name == name), None)


def take_slot(path: str) -> bytes:
    """What a slot says of the result, or where that is; BlockingIOError while its worker holds it, or it is gone."""
    try:
        file = open(os.open(path, _OPEN_FLAGS), "rb", buffering=0)  # noqa: PTH123, SIM115  as text; somebody waits
    except FileNotFoundError as problem:
        raise BlockingIOError("its worker has just removed it") from problem
    with file:
        flock(file, LOCK_EX | LOCK_NB)
        if not os.fstat(file.fileno()).st_nlink:
            raise BlockingIOError("its worker has just removed it")
        file.seek(_NAME_BYTES)
        return file.read() or b"\0"
