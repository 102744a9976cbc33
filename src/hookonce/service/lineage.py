"""Who is above a client: the processes that have called it, and whether one of them is still there."""

import os
from os.path import basename
from typing import NamedTuple

from hookonce.runtime.depth import stat_of

_BEGAN = 19  # where the moment of its start stands in what the system tells of a process
_HIGHEST = 16  # processes above a client that are looked at
# What an agent starts a command with; it ends with the command, or is the one in which a person has started the agent.
_SHELLS = frozenset({"sh", "ash", "bash", "busybox", "dash", "env", "fish", "ksh", "mksh", "timeout", "zsh"})


class Process(NamedTuple):
    """A process; numbers are used again, so the moment of its start belongs to it."""

    pid: int
    began: str


Lineage = tuple[Process, ...]  # the nearest first


def caller(told: bytes) -> Process | None:
    """The process that has called a client, as its frame says; None where the system does not tell."""
    pid, _, began = told.partition(b" ")
    return Process(int(pid), began.decode("ascii")) if pid.isdigit() and began.isdigit() else None


def above(first: Process) -> Lineage:
    """A process and those above it, without shells and without the one above all."""
    found: list[Process] = []
    now: Process | None = first
    for _ in range(_HIGHEST):
        if now is None or now.pid <= 1 or (known := _known(now)) is None:
            break
        if not _is_shell(now.pid):
            found.append(now)
        now = _now(int(known[1]))
    return tuple(found)


def is_there(process: Process) -> bool:
    """Whether it still runs; one that has ended may not have been taken away yet."""
    known = _known(process)
    return known is not None and known[0] not in "ZX"


def _known(process: Process) -> list[str] | None:
    known = stat_of(process.pid)
    return known if known is not None and known[_BEGAN] == process.began else None


def _now(pid: int) -> Process | None:
    known = stat_of(pid)
    return None if known is None else Process(pid, known[_BEGAN])


def _is_shell(pid: int) -> bool:
    try:
        program = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:  # of somebody else, who starts no hooks of ours
        return False
    return basename(program) in _SHELLS  # noqa: PTH119
