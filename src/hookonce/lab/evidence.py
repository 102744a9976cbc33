"""Evidence, without the machine that it was found on: folders of a run, of the user and of the package are not told."""

import re
from pathlib import Path

_STAGE = re.compile(r"[^\s'\"`()=:,]*hookonce-lab-[\w-]+")  # the folder of a run, however much of its path is there
# Folders at the beginning of a path, but for those that every machine has; an address is none.
_FOLDERS = re.compile(r"(https?://\S+)|(?<![\w~.…-])(?!/(?:bin|dev|etc|usr)/)(?:/[\w.@+~-]+)+/(?=[\w.@+~-])")


def impersonal(text: str) -> str:
    """The same text; of paths it names no more than what lies in the run's folder, in the home, or at their end."""
    text = _STAGE.sub("LAB", text)
    home = str(Path.home())
    if len(home) > 1:
        text = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", text)
    return _FOLDERS.sub(lambda found: found[1] or "…/", text)
