"""Stamps of files that a worker server has imported, to notice that one of them has changed."""

import os
from collections.abc import Iterable, Mapping
from time import time_ns

MAX_FILES = 256  # files; who imports more is told of changes of the first ones
_SETTLE_NS = 100_000_000  # nanoseconds within which a file may change once more without its times telling
_UNKNOWN: list[int] = []  # the stamp of a file that may have changed since it was imported; no file has it


def stamp_imports(paths: Iterable[str]) -> dict[str, list[int]]:
    """Stamps of files that were imported just now."""
    stamps = {path: stamp_file(path) for path in [*paths][:MAX_FILES]}
    return {path: stamp if time_ns() - max(stamp[:2]) > _SETTLE_NS else _UNKNOWN for path, stamp in stamps.items()}


def stamp_file(path: str) -> list[int]:
    """Stamp of a file: times, size, inode; zeros if it is missing."""
    try:
        status = os.stat(path)  # noqa: PTH116  as text; somebody waits
    except OSError:
        return [0, 0]
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]


def are_current(stamps: Mapping[str, list[int]]) -> bool:
    """Whether none of the files has changed."""
    return all(stamp_file(path) == stamp for path, stamp in stamps.items())
