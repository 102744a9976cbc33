"""Evidence, without the machine that it was found on: folders of a run, of the user and of the package are not told."""

import re
from pathlib import Path

_RUN_FOLDER = re.compile(r"[^\s'\"`()=:,]*hookonce-lab-[\w-]+")  # the folder of a run, however much of its path is there
# Folders at the beginning of a path, but for those that every machine has; an address is none.
_FOLDERS = re.compile(r"(https?://\S+)|(?<![\w~.…-])(?!/(?:bin|dev|etc|usr)/)(?:/[\w.@+~-]+)+/(?=[\w.@+~-])")


def remove_paths(text: str) -> str:
    """Remove folders of the run, the user and the package from a text."""
    text = _RUN_FOLDER.sub("LAB", text)
    home = str(Path.home())
    if len(home) > 1:
        text = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", text)
    return _FOLDERS.sub(lambda match: match[1] or "…/", text)
