"""Sandbox home: a directory with hookonce and its own daemon, for a demo, a proof or a benchmark."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from hookonce.base.jsontext import dump
from hookonce.base.process_info import is_process_alive, iter_processes
from hookonce.base.runtime_dir import candidate_dirs
from hookonce.base.spawn import run
from hookonce.client import daemon_endpoints
from hookonce.errors import HookonceError
from hookonce.manifest.load import MANIFEST_SPEC
from hookonce.model import Object

AGENT, EVENT = "claude-code", "PreToolUse"
_DAEMON_TIMEOUT_S = 5.0  # seconds for a daemon to come or go
_POLL_INTERVAL_S = 0.05
_ELF_MAGIC = b"\x7fELF"


class SandboxHome:
    """A home directory, its client, and its daemon."""

    def __init__(
        self, path: Path, hooks: list[Object] | None = None, install: tuple[str, ...] = (AGENT,), **variables: str
    ) -> None:
        """Install there, with these hooks in the user's manifest; `install` is what the command is told."""
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        if hooks is not None:
            _write_manifest(path / ".config" / "hookonce", hooks)
        try:
            self._install(install, variables)
        except BaseException:  # what was started there goes on
            self.delete(force=True)
            raise

    def _install(self, install: tuple[str, ...], variables: dict[str, str]) -> None:
        command = [sys.executable, "-m", "hookonce", "install", *install]
        python_path = {"PYTHONPATH": path_value} if (path_value := os.environ.get("PYTHONPATH")) else {}
        process = run(command, env=self.environment() | python_path | variables)
        if process.returncode:
            raise HookonceError(
                f"hookonce cannot be installed in a home that was made for it: {process.stderr.decode().strip()}"
            )

    def environment(self) -> dict[str, str]:
        """The environment of calls in this home."""
        return {"HOME": str(self.path), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    @property
    def client(self) -> Path:
        """The command in the agent's configuration."""
        return self.path / ".local/share/hookonce/bin/hookonce-on"

    def is_native(self) -> bool:
        """Whether the client is machine code."""
        return self.client.read_bytes()[: len(_ELF_MAGIC)] == _ELF_MAGIC

    def command_line(self, client: Path | None = None) -> list[str]:
        """The command line with which the agent calls the client."""
        return [str(client or self.client), AGENT, EVENT, "--via", f"{AGENT}/user"]

    def runtime_dir(self) -> Path:
        """Its runtime directory."""
        candidates = candidate_dirs(self.path, self.path / ".local/share/hookonce")
        return next((folder for folder in candidates if folder.is_dir()), candidates[-1])

    def status(self) -> Object | None:
        """The daemon's status; None if there is none."""
        return daemon_endpoints.query_status(timeout_s=_DAEMON_TIMEOUT_S, socket_file=self.runtime_dir() / "socket")

    def start_daemon(self) -> Object | None:
        """Call once, so that a daemon is started, and wait for it."""
        deadline = time.monotonic() + _DAEMON_TIMEOUT_S
        while (status_reply := self.status()) is None and time.monotonic() < deadline:
            run(self.command_line(), b"{}", env=self.environment())
            time.sleep(_POLL_INTERVAL_S)
        return status_reply

    def stop_daemon(self, *, force: bool = False) -> None:
        """Stop the daemon, and delete what it has outside of the home; with `force` at once, and nothing is kept."""
        if (status_reply := self.status()) is not None:
            _stop_process(status_reply["pid"], signal.SIGKILL if force else signal.SIGTERM)
        rmtree(self.runtime_dir(), ignore_errors=True)

    def delete(self, *, force: bool = False) -> None:
        """Stop the daemon and delete the home, until it stays away.

        The rest of a call may still write there, and a daemon that was just started; both are ended.
        """
        deadline = time.monotonic() + _DAEMON_TIMEOUT_S
        while (self.path.exists() or _find_processes(self.path)) and time.monotonic() < deadline:
            self.stop_daemon(force=force)
            for pid in _find_processes(self.path):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            rmtree(self.path, ignore_errors=True)
            time.sleep(_POLL_INTERVAL_S)


def _find_processes(home: Path) -> list[int]:
    """Processes that were started with this home, where the system tells."""
    variable = b"HOME=" + os.fsencode(home)
    return [pid for pid, variables in iter_processes("environ") if variable in variables]


def _write_manifest(folder: Path, hooks: list[Object]) -> None:
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_bytes(dump({"spec": MANIFEST_SPEC, "hooks": hooks}))


def _stop_process(pid: int, signal_number: int) -> None:
    """Waits until the daemon is gone; it is nobody's child."""
    deadline = time.monotonic() + _DAEMON_TIMEOUT_S
    with suppress(ProcessLookupError):
        os.kill(pid, signal_number)
        while is_process_alive(pid) and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL_S)
        os.kill(pid, signal.SIGKILL)
