"""The version of an agent's program: from the package that it lies in, else in its own words."""

from pathlib import Path

from msgspec import DecodeError
from msgspec.json import decode

from hookonce.journeys import spoken


def version_of(program: str) -> str | None:
    """The program's version, None if it does not tell."""
    return _packaged(Path(program).resolve()) or spoken.version_of(program)


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
