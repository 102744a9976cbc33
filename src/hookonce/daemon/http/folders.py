"""Working directory and environment of hooks for callers that post: only what they say names them."""

import os
from os.path import isdir
from pathlib import Path

ENV_ALLOWLIST = ("HOME", "PATH", "LANG")  # what a hook gets of our environment; the caller does not tell its own
_MAX_PATH_CHARS = 4096  # no path is longer


def nearest_folder(cwd: str) -> str:
    """The folder that a caller names, or the first above it that can be entered."""
    name = cwd[:_MAX_PATH_CHARS].partition("\0")[0].encode(errors="replace").decode()
    folders = (Path(name), *Path(name).parents) if name.startswith(os.sep) else ()
    return next((str(folder) for folder in folders if isdir(folder) and os.access(folder, os.X_OK)), os.sep)  # noqa: PTH112
