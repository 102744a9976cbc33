"""Session reaper: ends sessions whose end no agent reports, when their process is gone or they are idle.

A session belongs to the nearest process that has called us in it more than once: whatever is only started to run
a hook comes and goes. A process that is gone has ended its sessions, at once where its agent does not report
ends, else when that report is overdue. Of a session that was open before the daemon started nobody knows the
process; it ends when it has been idle for half an hour, as every other does.
"""

import os
from os.path import basename
from typing import NamedTuple

from hookonce.runtime.depth import read_proc_stat

_START_TIME_FIELD = 19  # where the moment of its start stands in what the system tells of a process
_MAX_ANCESTORS = 16  # processes above a client that are looked at
# What an agent starts a command with; it ends with the command, or is the one in which a person has started the agent.
_SHELLS = frozenset({"sh", "ash", "bash", "busybox", "dash", "env", "fish", "ksh", "mksh", "timeout", "zsh"})


class ProcessIdentity(NamedTuple):
    """Identity of a process: pids are reused, so its start time belongs to it."""

    pid: int
    start_time: str


ProcessAncestry = tuple[ProcessIdentity, ...]  # the nearest first


def parse_caller(field: bytes) -> ProcessIdentity | None:
    """Parse the caller of a client from its frame; None where the system does not tell."""
    pid, _, start_time = field.partition(b" ")
    return ProcessIdentity(int(pid), start_time.decode("ascii")) if pid.isdigit() and start_time.isdigit() else None


def find_ancestry(first: ProcessIdentity) -> ProcessAncestry:
    """Ancestry of a process, without shells and without init."""
    ancestry: list[ProcessIdentity] = []
    process: ProcessIdentity | None = first
    for _ in range(_MAX_ANCESTORS):
        if process is None or process.pid <= 1 or (stat := _stat_of(process)) is None:
            break
        if not _is_shell(process.pid):
            ancestry.append(process)
        process = _identify(int(stat[1]))
    return tuple(ancestry)


def is_running(process: ProcessIdentity) -> bool:
    """Whether a process still runs; a zombie does not."""
    stat = _stat_of(process)
    return stat is not None and stat[0] not in "ZX"


def _stat_of(process: ProcessIdentity) -> list[str] | None:
    stat = read_proc_stat(process.pid)
    return stat if stat is not None and stat[_START_TIME_FIELD] == process.start_time else None


def _identify(pid: int) -> ProcessIdentity | None:
    stat = read_proc_stat(pid)
    return None if stat is None else ProcessIdentity(pid, stat[_START_TIME_FIELD])


def _is_shell(pid: int) -> bool:
    try:
        program = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:  # of somebody else, who starts no hooks of ours
        return False
    return basename(program) in _SHELLS  # noqa: PTH119
