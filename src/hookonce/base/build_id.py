"""Build id of hookonce: of the files that this process was started from, and of those that are installed now."""

import os
from functools import cache
from hashlib import sha256
from pathlib import Path

from hookonce import __version__

_PACKAGE_DIR = Path(__file__).resolve().parents[1]


@cache
def running_build_id() -> str:
    """A name for the files of this package as they were when this process first asked."""
    return installed_build_id()


def installed_build_id() -> str:
    """A name for the files as they lie there now."""
    hasher = sha256()
    for folder in package_folders():
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                hasher.update(f"{entry.path} {_file_state(entry)}\n".encode(errors="surrogateescape"))
    return f"{__version__}-{hasher.hexdigest()[:16]}"


def _file_state(entry: "os.DirEntry[str]") -> str:
    try:
        status = entry.stat()
    except OSError:  # it is taken away while we look
        return "gone"
    return f"{status.st_size} {status.st_mtime_ns}"


def package_folders() -> list[str]:
    """Every folder of the package."""
    tree = os.walk(_PACKAGE_DIR)
    return sorted(folder for folder, _, _ in tree if not folder.endswith("__pycache__"))


def folder_ctimes(folders: list[str]) -> list[int]:
    """When these folders, or what is in them, were last replaced; cheap enough to be asked again and again."""
    return [_ctime_ns(folder) for folder in folders]


def _ctime_ns(folder: str) -> int:
    try:
        return os.stat(folder).st_ctime_ns  # noqa: PTH116  asked while somebody waits
    except OSError:
        return 0
