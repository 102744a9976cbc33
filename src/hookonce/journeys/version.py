"""The version of an agent's program: from the package that it lies in, else in its own words."""

from pathlib import Path

from msgspec import DecodeError
from msgspec.json import decode

from hookonce.journeys import spoken


def program_version(program: str) -> str | None:
    """The program's version, None if it is unknown."""
    return _package_version(Path(program).resolve()) or spoken.probe_version(program)


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
