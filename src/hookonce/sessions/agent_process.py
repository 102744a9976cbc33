"""Agent process of a session: the nearest process that has called us in it more than once.

Whatever is only started to run a hook comes and goes. What is known is kept in the runtime directory, so that a
process for one call can tell it to a daemon, and a daemon that is killed to the next one. Numbers of processes are
used again: a process is its number with the moment of its start, in this namespace since this start of the machine.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from os.path import basename
from types import MappingProxyType
from typing import NamedTuple

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from hookonce.base.process_info import read_proc_stat
from hookonce.base.runtime_dir import NoRuntimeDirError, runtime_path, write_atomic
from hookonce.model import Event
from hookonce.sessions.derive.calls import SESSION_ENDS

_FOLDER = "sessions"
_PARENT_FIELD, START_TIME_FIELD = 1, 19  # places in what the system tells of a process
_MAX_ANCESTORS = 16  # processes above a client that are looked at
_MIN_AGENT_CALLS = 2  # calls by which a process is known to be the agent's
# What an agent starts a command with; it ends with the command, or is the one in which a person has started the agent.
_SHELLS = frozenset({"sh", "ash", "bash", "busybox", "dash", "env", "fish", "ksh", "mksh", "timeout", "zsh"})
# What orphans are given to: a hook that Cline leaves behind, for example, would otherwise be theirs.
_INITS = frozenset({"systemd", "init", "tini", "docker-init", "dumb-init", "catatonit", "s6-svscan", "runsvdir"})


class ProcessIdentity(NamedTuple):
    """Identity of a process: pids are reused, so its start time belongs to it."""

    pid: int
    start_time: str


ProcessAncestry = tuple[ProcessIdentity, ...]  # the nearest first
AncestryCache = Mapping[int, tuple[ProcessIdentity, ProcessAncestry]]  # by pid


def identify_process(pid: int) -> ProcessIdentity | None:
    """The process that has a number now; None where the system does not tell, or nobody has it."""
    stat = read_proc_stat(pid)
    return None if stat is None else ProcessIdentity(pid, stat[START_TIME_FIELD])


def find_ancestry(pid: int, ancestries: AncestryCache = MappingProxyType({})) -> ProcessAncestry:
    """Ancestry of a process, itself included, without shells and inits."""
    processes: list[ProcessIdentity] = []
    while pid > 1 and len(processes) < _MAX_ANCESTORS:
        if (stat := read_proc_stat(pid)) is None:
            break
        process = ProcessIdentity(pid, stat[START_TIME_FIELD])
        if pid in ancestries and ancestries[pid][0] == process:
            return drop_shells(processes) + ancestries[pid][1]
        processes.append(process)
        pid = int(stat[_PARENT_FIELD])
    return drop_shells(processes)


def drop_shells(processes: Sequence[tuple[int, str]]) -> ProcessAncestry:
    """Ancestry of a process that may be gone, by all processes that were above it."""
    return tuple(ProcessIdentity(*process) for process in processes if process[0] > 1 and not _is_launcher(process[0]))


def is_running(process: ProcessIdentity) -> bool:
    """Whether a process still runs; a zombie does not."""
    stat = _stat_of(process)
    return stat is not None and stat[0] not in "ZX"


def _stat_of(process: ProcessIdentity) -> list[str] | None:
    stat = read_proc_stat(process.pid)
    return stat if stat is not None and stat[START_TIME_FIELD] == process.start_time else None


def _is_launcher(pid: int) -> bool:
    """Whether a process is a shell or an init."""
    try:
        program = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:  # systemd, for one, does not show it
        program = _command_name(pid)
    return basename(program) in _SHELLS | _INITS  # noqa: PTH119


def _command_name(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read().strip()
    return ""


class AgentProcess(Struct, frozen=True):
    """The processes above all calls of a session, the nearest first, and whether there were enough to know the agent's.

    `scope` is where their numbers mean something.
    """

    ancestry: ProcessAncestry = ()
    call_count: int = 0
    scope: str = ""

    def add_call(self, ancestry: ProcessAncestry, *, is_restart: bool) -> "AgentProcess":
        """After one more call. A session that starts again, or has no process in common, may have moved to another."""
        common = () if is_restart else tuple(process for process in self.ancestry if process in ancestry)
        call_count = min(self.call_count + 1, _MIN_AGENT_CALLS) if common else 1
        return AgentProcess(common or ancestry, call_count, self.scope)

    @property
    def identity(self) -> ProcessIdentity | None:
        """The agent's own process, if that is known."""
        return self.ancestry[0] if self.ancestry and self.call_count >= _MIN_AGENT_CALLS else None


def load_process(agent: str, session: str) -> AgentProcess:
    """What is kept of a session's process; nothing of another namespace, or from before the machine was started."""
    with suppress(OSError, NoRuntimeDirError, DecodeError):
        with open(_process_file(agent, session), "rb") as file:  # noqa: PTH123  as text; every call of one-shots asks
            process = decode(file.read(), type=AgentProcess)
        if process.scope == _number_scope():
            return process
    return AgentProcess()


def save_process(agent: str, session: str, process: AgentProcess) -> AgentProcess:
    """Keep a session's process, and return it as it is kept; where that cannot be, an idle session ends later."""
    process = replace(process, scope=_number_scope())
    with suppress(OSError, NoRuntimeDirError):
        write_atomic(_process_file(agent, session), encode(process))
    return process


def remove_process(agent: str, session: str) -> None:
    """Forget the process of a session that has ended."""
    with suppress(OSError, NoRuntimeDirError):
        os.unlink(_process_file(agent, session))  # noqa: PTH108


def note_call(event: Event, ancestry: ProcessAncestry) -> None:
    """Keep the process of a call that a process for one call has answered."""
    if event.session is None:
        return
    if event.type in SESSION_ENDS:
        remove_process(event.agent, event.session)
        return
    known_process = load_process(event.agent, event.session)
    process = known_process.add_call(ancestry, is_restart=event.type == "session_start")
    if ancestry and process != known_process:
        save_process(event.agent, event.session, process)


def _process_file(agent: str, session: str) -> str:
    return runtime_path(_FOLDER, sha256(f"{agent}\0{session}".encode(errors="surrogatepass")).hexdigest()[:32])


@cache
def _number_scope() -> str:
    """Where and since when numbers of processes mean what they do now."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115
    except OSError:
        return ""
