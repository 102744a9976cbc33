"""The version of an agent's program: from the package that it lies in, else in its own words."""

import re
import subprocess
from pathlib import Path

from msgspec import DecodeError
from msgspec.json import decode

_PATIENCE = 10  # seconds
_NUMBER = re.compile(r"\d+\.\d+(?:\.\d+)?[\w.+-]*")


def version_of(program: str) -> str | None:
    """The program's version, None if it does not tell."""
    return _packaged(Path(program).resolve()) or _spoken(program)


def _packaged(program: Path) -> str | None:
    """Asking the package's own file costs nothing; starting the agent costs a second."""
    for folder in program.parents[:4]:
        try:
            found = decode((folder / "package.json").read_bytes())
        except (OSError, DecodeError):
            continue
        if type(found) is dict and type(found.get("version")) is str and found.get("bin"):
            version: str = found["version"]
            return version
    return None


def _spoken(program: str) -> str | None:
    try:
        ran = subprocess.run(  # noqa: S603  the agent that the user has put on the path
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _NUMBER.search(ran.stdout.decode(errors="replace"))
    return found[0] if found else None
