"""The version that a program tells, asked in a home where it finds nothing and leaves nothing."""

import os
import re
import signal
import subprocess
from tempfile import TemporaryDirectory

_PATIENCE = 20.0  # seconds
_VERSION = re.compile(rb"\d+\.\d+\.\d+")


def version_of(program: str) -> str | None:
    """The first number of three parts that `PROGRAM --version` prints, None if there is none in time."""
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
        return process.communicate(timeout=_PATIENCE)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # whatever it has started holds the pipe as well
        process.communicate()
        return b""
