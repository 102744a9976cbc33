"""Version probe of an agent's program: its package file, else `PROGRAM --version`.

The program is started in a home where it finds nothing and leaves nothing.
"""

import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory
from time import monotonic

from msgspec import DecodeError
from msgspec.json import decode

_PROBE_TIMEOUT_S = 20.0  # seconds
_MAX_OUTPUT_BYTES = 64 << 10  # bytes
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
    process = subprocess.Popen(  # noqa: S603  the program that the user has put on the path
        [program, "--version"],
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return _read_output(process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever it has started holds the pipe as well
        process.communicate()


def _read_output(process: "subprocess.Popen[bytes]") -> bytes:
    deadline, output = monotonic() + _PROBE_TIMEOUT_S, b""
    assert process.stdout is not None  # noqa: S101  it was asked for
    while len(output) < _MAX_OUTPUT_BYTES and select([process.stdout], [], [], max(0.0, deadline - monotonic()))[0]:
        chunk = os.read(process.stdout.fileno(), _MAX_OUTPUT_BYTES)
        if not chunk:
            break
        output += chunk
    return output


def program_version(program: str) -> str | None:
    """The program's version, None if it is unknown."""
    return _package_version(Path(program).resolve()) or probe_version(program)


def _package_version(program: Path) -> str | None:
    """Reading the package's own file costs nothing; starting the agent costs a second."""
    for folder in program.parents[:4]:
        try:
            package = decode((folder / "package.json").read_bytes())
        except (OSError, DecodeError):
            continue
        if type(package) is dict and type(package.get("version")) is str and package.get("bin"):
            version: str = package["version"]
            return version
    return None
