"""Process information from /proc: nesting depth of hooks, ancestors, age, controlling terminal.

A hook can start an agent whose hooks start agents. The depth is believed only of a handler of ours that really is
an ancestor; what a repository sets in the environment counts for nothing.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import CLOCK_BOOTTIME, clock_gettime, monotonic
from typing import Protocol

from hookonce.base.runtime_dir import NoRuntimeDirError, runtime_file, runtime_path, write_new

DEPTH_VARIABLE, PARENT_VARIABLE, HOOK_DIR_VARIABLE = "HOOKONCE_DEPTH", "HOOKONCE_PARENT", "HOOKONCE_HOOK_DIR"
PYTHON_VARIABLE = "HOOKONCE_PYTHON"  # for modules: the interpreter that has hookonce, which python3 need not have
MAX_DEPTH = 3
_MAX_CLIENT_AGE_S = 20.0  # seconds
_TOKEN_LIFETIME_S = 600.0  # seconds
_MAX_STAT_BYTES = 4096  # of what the system tells of a process


def nesting_depth(environment: Mapping[str, str], caller_pid: int = 0) -> int:
    """The depth that a running handler above a process has registered, by default above us; else 0."""
    token = environment.get(PARENT_VARIABLE, "")
    if not token.isalnum():
        return 0
    try:
        pid, depth = map(int, runtime_file("handlers", token).read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return 0
    return depth if pid in set(iter_ancestors(caller_pid or os.getpid())) else 0


class HandlerRegistry(Protocol):
    """Protocol of what tells the depth of handlers to whoever they start."""

    def register_handlers(self, depth: int, /) -> str:
        """Register that handlers of this depth run below this process; the token goes into their environment."""

    def unregister_handlers(self, token: str, /) -> None:
        """End the registration."""


def register_handlers(depth: int, runtime_dir: Path | None = None) -> str:
    """Register handlers of a process that runs them once; no token where nothing can be written."""
    token = os.urandom(8).hex()
    try:
        write_new(runtime_path("handlers", token, runtime_dir), f"{os.getpid()} {depth}".encode())
    except (OSError, NoRuntimeDirError):
        return ""  # how deep the next ones are nobody knows; that is better than not to ask these
    return token


def unregister_handlers(token: str) -> None:
    """Remove the registration."""
    with suppress(OSError):
        if token:
            runtime_file("handlers", token).unlink(missing_ok=True)


class LongLivedRegistry:
    """Registrations of a process that runs handlers all day: one for each depth, whichever call they are for."""

    def __init__(self, runtime_dir: Path) -> None:
        self._runtime_dir, self._tokens = runtime_dir, dict[int, tuple[str, float]]()

    def register_handlers(self, depth: int) -> str:
        """The token of a depth; it is renewed long before its file would be swept away."""
        token, registered_at = self._tokens.get(depth, ("", -_TOKEN_LIFETIME_S))
        if monotonic() - registered_at >= _TOKEN_LIFETIME_S:
            token = register_handlers(depth, self._runtime_dir)
            self._tokens[depth] = token, monotonic()
        return token

    def unregister_handlers(self, token: str) -> None:
        """Keep the registration, for the next call."""


def iter_ancestors(pid: int) -> Iterator[int]:
    """The processes that one comes from; where the system does not tell, none."""
    while pid > 1 and (fields := read_proc_stat(pid)) is not None:
        pid = int(fields[1])
        yield pid


def iter_processes(file: str = "cmdline") -> Iterator[tuple[int, list[bytes]]]:
    """Processes of this user but for our own, with their words or (`environ`) variables; none where nobody tells."""
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        with suppress(OSError):  # gone, or of somebody else
            if pid != os.getpid() and folder.stat().st_uid == os.getuid():
                yield pid, (folder / file).read_bytes().split(b"\0")


def process_age_s(pid: int) -> float:
    """Seconds since a process started, at most 20; 0 where the system does not tell, or it is gone.

    Our clients give up earlier; what is older is no client of ours, but somebody who speaks like one.
    """
    fields = read_proc_stat(pid) if pid else None
    if fields is None:
        return 0.0
    age_s = clock_gettime(CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return min(max(age_s, 0.0), _MAX_CLIENT_AGE_S)


def read_proc_stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the state on; None for a process that is gone."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(fd, _MAX_STAT_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)
    return data.rpartition(b")")[2].decode("ascii", "replace").split()


def is_process_alive(pid: int) -> bool:
    """Whether a process still runs; a zombie, which nobody may ever reap, does not. Number 0 is no process."""
    try:
        os.kill(pid, 0)
    except OSError as problem:
        return not isinstance(problem, ProcessLookupError)
    fields = read_proc_stat(pid) if pid else ["X"]
    return fields is None or fields[0] not in "ZX"


def has_terminal(caller_pid: int = 0) -> bool:
    """Whether a process, by default our own, has a controlling terminal that can be opened.

    An agent without one runs alone, and a question to it would be a question to nobody.
    """
    if caller_pid:
        fields = read_proc_stat(caller_pid)
        return fields is not None and fields[4] != "0"  # the number of its terminal
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(fd)
    return True


def resident_memory_kb() -> int | None:
    """Memory of this process; None where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  one number
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, ValueError, IndexError):
        return None
