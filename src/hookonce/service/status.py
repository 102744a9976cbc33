"""What a daemon tells about itself."""

import os
from time import monotonic
from typing import Protocol

from hookonce.model import Object
from hookonce.service.http import Door
from hookonce.service.keeper import Keeper
from hookonce.service.listening import Listening


class Daemon(Protocol):
    """As much of a daemon as is told."""

    build: str
    began: float
    answered: int
    under_way: int
    http: Door
    keeper: Keeper
    listening: Listening


def status(daemon: Daemon) -> Object:
    """The process, its build, and what it has done so far."""
    return {
        "pid": os.getpid(),
        "build": daemon.build,
        "seconds": round(monotonic() - daemon.began, 1),
        "answered": daemon.answered,
        "under_way": daemon.under_way,
        "memory_kb": _memory(),
        "store": daemon.keeper.status(),
        "transcripts": daemon.listening.status(),
        "http": daemon.http.status(),
    }


def _memory() -> int | None:
    """Memory that is really used; None where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  one number
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, ValueError, IndexError):
        return None
