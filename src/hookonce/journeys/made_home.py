"""A home that is made for an occasion: hookonce is installed there, with the hooks wanted and its own daemon."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.runtime import asking
from hookonce.runtime.folder import house, places, resort
from hookonce.texts import dump

AGENT, EVENT = "claude-code", "PreToolUse"
_PATIENCE = 5.0  # seconds for a daemon to come or go
_LOOK = 0.05
_ELF = b"\x7fELF"


class Home:
    """A directory, its client, and whoever listens for it."""

    def __init__(
        self, path: Path, hooks: list[Object] | None = None, install: tuple[str, ...] = (AGENT,), **more: str
    ) -> None:
        """Install there, with these hooks in the user's manifest; `install` is what the command is told."""
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        if hooks is not None:
            _write_manifest(path / ".config" / "hookonce", hooks)
        words = [sys.executable, "-m", "hookonce", "install", *install]
        shelves = {"PYTHONPATH": shelf} if (shelf := os.environ.get("PYTHONPATH")) else {}
        done = subprocess.run(  # noqa: S603  our own command
            words, env=self.environment() | shelves | more, capture_output=True, check=False, text=True
        )
        if done.returncode:
            raise HookonceError(f"hookonce cannot be installed in a home that was made for it: {done.stderr.strip()}")

    def environment(self) -> dict[str, str]:
        """What the calls of this home are given."""
        return {"HOME": str(self.path), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    @property
    def client(self) -> Path:
        """The command in the agent's configuration."""
        return self.path / ".local/share/hookonce/bin/hookonce-on"

    def is_native(self) -> bool:
        """Whether the client is machine code."""
        return self.client.read_bytes()[: len(_ELF)] == _ELF

    def words(self, client: Path | None = None) -> list[str]:
        """A call as the agent makes it."""
        return [str(client or self.client), AGENT, EVENT, "--via", f"{AGENT}/user"]

    def folder(self) -> Path:
        """Its runtime directory."""
        data = self.path / ".local/share/hookonce"
        found = [place / house(self.path, data) for place in (*places(os.getuid()), resort(data))]
        return next((place for place in found if place.is_dir()), found[-1])

    def status(self) -> Object | None:
        """What the daemon tells about itself; None if there is none."""
        return asking.status(patience=_PATIENCE, at=self.folder() / "socket")

    def wake(self) -> Object | None:
        """Call once, so that a daemon is started, and wait for it."""
        end = time.monotonic() + _PATIENCE
        while (told := self.status()) is None and time.monotonic() < end:
            subprocess.run(  # noqa: S603  our own client
                self.words(), env=self.environment(), input=b"{}", capture_output=True, check=False
            )
            time.sleep(_LOOK)
        return told

    def leave(self) -> None:
        """End the daemon, and take away what it has left outside of the home."""
        if (told := self.status()) is not None:
            _end(told["pid"])
        rmtree(self.folder(), ignore_errors=True)


def _write_manifest(folder: Path, hooks: list[Object]) -> None:
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_bytes(dump({"spec": "hooks/0.1", "hooks": hooks}))


def _end(pid: int) -> None:
    """Ask a daemon of ours to leave, and wait until it is gone; it is nobody's child."""
    end = time.monotonic() + _PATIENCE
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        while time.monotonic() < end:
            os.kill(pid, 0)
            time.sleep(_LOOK)
        os.kill(pid, signal.SIGKILL)
