"""Version probe of an agent's program: its package file, else `PROGRAM --version` in a home where it finds nothing."""

import os
import re
from pathlib import Path
from select import select
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from time import monotonic

from msgspec import DecodeError
from msgspec.json import decode

from hookonce.base.files import read_regular_file
from hookonce.base.spawn import kill_group, spawn

_PROBE_TIMEOUT_S = 20.0  # seconds
_MAX_OUTPUT_BYTES = 64 << 10  # bytes
_VERSION_NAME = re.compile(r"\d+\.\d+\.\d+")  # of a program's folder, or of itself where a link leads to it
_VERSION = re.compile(rb"\d+\.\d+\.\d+(?:[-+]\w+(?:[.-]\w+)*)?")


def probe_version(program: str) -> str | None:
    """The first version that `PROGRAM --version` prints, None if there is none in time."""
    with TemporaryDirectory(prefix="hookonce-version-", ignore_cleanup_errors=True) as home:
        try:
            match = _VERSION.search(_run_version(program, home))
        except OSError:
            return None
    return match[0].decode() if match else None


def _run_version(program: str, home: str) -> bytes:
    environment = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TERM": "dumb"}
    read_fd, write_fd = os.pipe()
    try:
        process = spawn([program, "--version"], (DEVNULL, write_fd, DEVNULL), cwd=home, env=environment)
        deadline, output = monotonic() + _PROBE_TIMEOUT_S, b""
        try:
            while len(output) < _MAX_OUTPUT_BYTES and select([read_fd], [], [], max(0.0, deadline - monotonic()))[0]:
                if not (chunk := os.read(read_fd, _MAX_OUTPUT_BYTES)):
                    break
                output += chunk
        finally:
            kill_group(process)
            while os.read(read_fd, _MAX_OUTPUT_BYTES):  # until whatever it has started is gone as well
                pass
    finally:
        os.close(read_fd)
    return output


def program_version(program: str) -> str | None:
    """The program's version, None if it is unknown."""
    return read_version(program) or probe_version(program)


def read_version(program: str) -> str | None:
    """The version that the program's package or its path tells, without starting it, which would cost a second."""
    path = Path(program).resolve()
    return _package_version(path) or next((part for part in path.parts[:0:-1] if _VERSION_NAME.fullmatch(part)), None)


def _package_version(program: Path) -> str | None:
    for folder in program.parents[:4]:
        try:
            package = decode(read_regular_file(folder / "package.json"))
        except (OSError, DecodeError):
            continue
        if type(package) is dict and type(package.get("version")) is str and package.get("bin"):
            return str(package["version"])
    return None
