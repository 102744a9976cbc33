"""Daemon control: query, start and stop the daemon from another process."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic, sleep

from hookonce.base import paths
from hookonce.base.process_info import is_process_alive, iter_processes
from hookonce.client.daemon_endpoints import query_status
from hookonce.client.python.launch import DAEMON_VARIABLES
from hookonce.daemon.lifecycle import failure_marker_path, spawn_daemon
from hookonce.errors import HookonceError
from hookonce.model import Object

_START_STOP_TIMEOUT_S = 10.0  # seconds for a daemon that begins, or ends
_POLL_INTERVAL_S = 0.02
_MAX_OWN_WORDS = 5  # among which a process of ours has its folder: an interpreter, its switches, a script
__all__ = ["end_daemon", "has_active_calls", "query_status", "start_daemon", "stop_daemon"]


def start_daemon() -> Object:
    """Start the daemon unless it is running; its status."""
    daemon_status = query_status()
    if daemon_status is not None:
        return daemon_status
    environment = {name.decode(): value.decode() for name, value in DAEMON_VARIABLES.items()}
    environment |= {"HOME": str(paths.home()), "LANG": os.environ.get("LANG", "C.UTF-8")}
    spawn_daemon(environment).returncode = 0  # it lives on without us
    return _wait_until_started()


def _wait_until_started() -> Object:
    deadline = monotonic() + _START_STOP_TIMEOUT_S
    while monotonic() < deadline and not failure_marker_path().exists():
        if (daemon_status := query_status()) is not None:
            return daemon_status
        sleep(_POLL_INTERVAL_S)
    raise HookonceError(
        "the daemon does not start; hookonce logs says why. Agents are answered without it, more slowly"
    )


def stop_daemon() -> Object | None:
    """Stop the daemon after its active calls; the status that it had, None if there was none."""
    daemon_status = query_status()
    if daemon_status is None:
        return None
    with suppress(ProcessLookupError):
        os.kill(daemon_status["pid"], signal.SIGTERM)
    deadline = monotonic() + _START_STOP_TIMEOUT_S
    while monotonic() < deadline:
        current_status = query_status()
        if current_status is None or current_status["pid"] != daemon_status["pid"]:
            return daemon_status
        sleep(_POLL_INTERVAL_S)
    raise HookonceError(f"the daemon (process {daemon_status['pid']}) does not leave; hookonce logs may say why")


def end_daemon() -> None:
    """Stop the daemon and wait until its process has ended: it has nothing more to write then.

    So does one that has only just begun, and answers nobody yet.
    """
    daemon_status = stop_daemon()
    pids = {pid for pid, words in _own_processes() if _is_daemon(words)}
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    pids |= {daemon_status["pid"]} if daemon_status is not None else set()
    deadline = monotonic() + _START_STOP_TIMEOUT_S
    while monotonic() < deadline and any(map(is_process_alive, pids)):
        sleep(_POLL_INTERVAL_S)


def has_active_calls() -> bool:
    """Whether a call of an agent is being answered, where the system tells which processes there are."""
    return any(not _is_daemon(words) for _, words in _own_processes())


def _own_processes() -> Iterator[tuple[int, list[bytes]]]:
    """Clients, daemons and one-shot processes of this home: the folder of the client is among their words."""
    folder = os.fsencode(paths.client_path().parent)
    for pid, words in iter_processes():
        if any(word == folder or word.startswith(folder + b"/") for word in words[:_MAX_OWN_WORDS]):
            yield pid, words


def _is_daemon(words: list[bytes]) -> bool:
    return any(word.endswith(b"/hookonce/daemon/__main__.py") for word in words)
