"""Settings of the system and of the user. A project sets none, and consent is the system's alone to give away."""

import tomllib
from pathlib import Path
from typing import Any

from hookonce.config.paths import configuration
from hookonce.errors import HookonceError

SYSTEM = Path("/etc/hookonce")
_NAME = "config.toml"
_OTHERS_WRITE = 0o022


def consent(folder: Path = SYSTEM) -> str | None:
    """Who may say yes: `unattended` where the machine's owner has said so, in a file that nobody else can write."""
    file = folder / _NAME
    try:
        state, above = file.stat(), folder.stat()
    except OSError:
        return None
    if any(one.st_uid != 0 or one.st_mode & _OTHERS_WRITE for one in (state, above)):
        return None
    found = _read(file).get("consent")
    return found if type(found) is str else None


def setting(name: str, default: Any = None) -> Any:
    """A setting of the user, else of the system."""
    for file in (configuration() / _NAME, SYSTEM / _NAME):
        found = _read(file)
        if name in found:
            return found[name]
    return default


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise HookonceError(f"{file} cannot be read: {problem}") from None
