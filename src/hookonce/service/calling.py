"""The daemon as others see it: asked how it is, started, and told to leave."""

import os
import signal
import subprocess
from contextlib import suppress
from time import monotonic, sleep

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.model import Object
from hookonce.runtime.asking import status
from hookonce.runtime.folder import NoPlace
from hookonce.service.start import failed_file, socket_file

_PATIENCE = 10.0  # seconds for a daemon that begins, or ends
_POLL = 0.02
__all__ = ["orphaned", "start", "status", "stop"]


def orphaned() -> str | None:
    """What a daemon has left behind that did not leave by itself."""
    with suppress(NoPlace):
        if socket_file().exists() and status() is None:
            told = f"the daemon is gone and has left its socket behind ({socket_file()})"
            return f"{told}; the next call of an agent starts another, and so does hookonce daemon start"
    return None


def start() -> Object:
    """Have a daemon, the one that is there or a new one."""
    known = status()
    if known is not None:
        return known
    folder = paths.client().parent
    try:
        python, _, shelf, *_ = (folder / "interpreter").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise HookonceError("no agent calls hookonce here yet; hookonce install puts everything in place") from None
    failed_file().unlink(missing_ok=True)
    world = {
        "HOME": str(paths.home()),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    nothing = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603  ourselves; it lives on without us
        [python, "-I", "-S", f"{shelf}/hookonce/warm.py", str(folder)],
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        cwd="/",
        env=world,
        start_new_session=True,
    ).returncode = 0  # nobody waits for it
    return _awaited()


def _awaited() -> Object:
    until = monotonic() + _PATIENCE
    while monotonic() < until and not failed_file().exists():
        if (known := status()) is not None:
            return known
        sleep(_POLL)
    raise HookonceError(
        "the daemon does not start; hookonce logs says why. Agents are answered without it, more slowly"
    )


def stop() -> Object | None:
    """Let the daemon finish what is under way and leave; what it was, if there was one."""
    known = status()
    if known is None:
        return None
    with suppress(ProcessLookupError):
        os.kill(known["pid"], signal.SIGTERM)
    until = monotonic() + _PATIENCE
    while monotonic() < until:
        now = status()
        if now is None or now["pid"] != known["pid"]:
            return known
        sleep(_POLL)
    raise HookonceError(f"the daemon (process {known['pid']}) does not leave; hookonce logs may say why")
