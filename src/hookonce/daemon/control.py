"""Daemon control: query, start and stop the daemon from another process."""

import os
import signal
from contextlib import suppress
from subprocess import DEVNULL
from time import monotonic, sleep

from hookonce.base import paths
from hookonce.base.process_info import is_process_alive
from hookonce.base.spawn import spawn
from hookonce.client.daemon_endpoints import query_status
from hookonce.client.python.launch import DAEMON_VARIABLES
from hookonce.daemon.lifecycle import failure_marker_path
from hookonce.errors import HookonceError
from hookonce.model import Object

_START_STOP_TIMEOUT_S = 10.0  # seconds for a daemon that begins, or ends
_POLL_INTERVAL_S = 0.02
__all__ = ["end_daemon", "query_status", "start_daemon", "stop_daemon"]


def start_daemon() -> Object:
    """Start the daemon unless it is running; its status."""
    daemon_status = query_status()
    if daemon_status is not None:
        return daemon_status
    folder = paths.client_path().parent
    try:
        python, _, package_dir, *_ = (folder / "interpreter").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise HookonceError("no agent calls hookonce here yet; hookonce install puts everything in place") from None
    failure_marker_path().unlink(missing_ok=True)
    environment = {name.decode(): value.decode() for name, value in DAEMON_VARIABLES.items()}
    environment |= {"HOME": str(paths.home()), "LANG": os.environ.get("LANG", "C.UTF-8")}
    command = [python, "-I", "-S", f"{package_dir}/hookonce/daemon/__main__.py", str(folder)]
    spawn(command, (DEVNULL, DEVNULL, DEVNULL), cwd="/", env=environment).returncode = 0  # it lives on without us
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
    """Stop the daemon and wait until its process has ended: it has nothing more to write then."""
    daemon_status = stop_daemon()
    deadline = monotonic() + _START_STOP_TIMEOUT_S
    while daemon_status is not None and monotonic() < deadline and is_process_alive(daemon_status["pid"]):
        sleep(_POLL_INTERVAL_S)
