"""Process cleanup: processes of a run, found by an environment variable in /proc, ended by id."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

RUN_VARIABLE = "HOOKONCE_LAB_RUN"
_TERM_TIMEOUT_S = 3.0  # seconds to leave in peace
_POLL_INTERVAL_S = 0.05


def end_processes(run_id: str) -> list[str]:
    """End all processes of a run; return the commands of those that were ended."""
    processes = _find_processes(run_id)
    for pid in processes:
        _send_signal(pid, signal.SIGTERM)
    deadline = monotonic() + _TERM_TIMEOUT_S
    while (remaining := _find_processes(run_id)) and monotonic() < deadline:
        sleep(_POLL_INTERVAL_S)
    for pid in remaining:
        _send_signal(pid, signal.SIGKILL)
    return sorted(set(processes.values()))


def _find_processes(run_id: str) -> dict[int, str]:
    marker = f"{RUN_VARIABLE}={run_id}".encode()
    commands_by_pid = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                commands_by_pid[int(folder.name)] = " ".join(arguments[:2]).strip()
    return commands_by_pid


def _send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
