"""The version that a program tells, asked in a home where it finds nothing and leaves nothing."""

import os
import re
import signal
import subprocess
from contextlib import suppress
from select import select
from tempfile import TemporaryDirectory
from time import monotonic

_PATIENCE = 20.0  # seconds
_ENOUGH = 64 << 10  # bytes
_VERSION = re.compile(rb"\d+\.\d+\.\d+(?:[-+]\w+(?:[.-]\w+)*)?")


def version_of(program: str) -> str | None:
    """The first version that `PROGRAM --version` prints, None if there is none in time."""
    with TemporaryDirectory(prefix="hookonce-version-", ignore_cleanup_errors=True) as home:
        try:
            told = _VERSION.search(_said(program, home))
        except OSError:
            return None
    return told[0].decode() if told else None


def _said(program: str, home: str) -> bytes:
    clean = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TERM": "dumb"}
    process = subprocess.Popen(  # noqa: S603  the program that the user has put on the path
        [program, "--version"],
        cwd=home,
        env=clean,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return _beginning(process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever it has started holds the pipe as well
        process.communicate()


def _beginning(process: "subprocess.Popen[bytes]") -> bytes:
    """The first of what a program says, until it has said enough or the time is over."""
    until, said = monotonic() + _PATIENCE, b""
    assert process.stdout is not None  # noqa: S101  it was asked for
    while len(said) < _ENOUGH and select([process.stdout], [], [], max(0.0, until - monotonic()))[0]:
        chunk = os.read(process.stdout.fileno(), _ENOUGH)
        if not chunk:
            break
        said += chunk
    return said
