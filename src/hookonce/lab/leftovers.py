"""Processes that an agent has left behind: known by a mark in their environment, ended by their id."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

MARK = "HOOKONCE_LAB_RUN"
_PATIENCE = 3.0  # seconds to leave in peace
_LOOK = 0.05


def end(run: str) -> list[str]:
    """End whatever still runs of a run; the commands of what had to be ended."""
    found = _marked(run)
    for pid in found:
        _signal(pid, signal.SIGTERM)
    last = monotonic() + _PATIENCE
    while (left := _marked(run)) and monotonic() < last:
        sleep(_LOOK)
    for pid in left:
        _signal(pid, signal.SIGKILL)
    return sorted(set(found.values()))


def _marked(run: str) -> dict[int, str]:
    mark = f"{MARK}={run}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                found[int(folder.name)] = " ".join(words[:2]).strip()
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
