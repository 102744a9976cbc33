"""Daemon server: accepts calls on the Unix socket, answers them, and stops when idle or outdated.

Also runs the periodic maintenance of everything that the daemon holds, and builds its status report.
"""

import os
from time import monotonic
from typing import Protocol

from hookonce.model import Object
from hookonce.service.http import HttpListener
from hookonce.service.keeper import BackgroundStoreWriter
from hookonce.service.listening import TranscriptTailer


class StatusSource(Protocol):
    """The fields of the daemon that its status report shows."""

    build: str
    started_at: float
    answered_count: int
    active_calls: int
    http: HttpListener
    store_writer: BackgroundStoreWriter
    tailer: TranscriptTailer


def build_status(daemon: StatusSource) -> Object:
    """Build the status report: process, build, counters, memory, store, transcripts, HTTP."""
    return {
        "pid": os.getpid(),
        "build": daemon.build,
        "seconds": round(monotonic() - daemon.started_at, 1),
        "answered": daemon.answered_count,
        "under_way": daemon.active_calls,
        "memory_kb": _resident_memory_kb(),
        "store": daemon.store_writer.status(),
        "transcripts": daemon.tailer.status(),
        "http": daemon.http.status(),
    }


def _resident_memory_kb() -> int | None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  one number
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, ValueError, IndexError):
        return None
