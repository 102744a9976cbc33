"""Which build of hookonce this is: what a process that lives on has been started from, and what lies there now."""

import os
from functools import cache
from hashlib import sha256
from pathlib import Path

from hookonce import __version__

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def build() -> str:
    """A name for the files of this package as they were when this process first asked."""
    return current()


def current() -> str:
    """A name for the files as they lie there now."""
    found = sha256()
    for folder in folders():
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                found.update(f"{entry.path} {_known(entry)}\n".encode(errors="surrogateescape"))
    return f"{__version__}-{found.hexdigest()[:16]}"


def _known(entry: "os.DirEntry[str]") -> str:
    try:
        found = entry.stat()
    except OSError:  # it is taken away while we look
        return "gone"
    return f"{found.st_size} {found.st_mtime_ns}"


def folders() -> list[str]:
    """Every folder of the package."""
    found = os.walk(_PACKAGE)
    return sorted(folder for folder, _, _ in found if not folder.endswith("__pycache__"))


def touched(places: list[str]) -> list[int]:
    """When something was last put into these folders, or taken away; cheap enough to be asked again and again."""
    return [_changed(place) for place in places]


def _changed(place: str) -> int:
    try:
        return os.stat(place).st_mtime_ns  # noqa: PTH116  asked while somebody waits
    except OSError:
        return 0
