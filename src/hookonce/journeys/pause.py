"""The kill switch: for a while nobody is asked, and every agent hears its silence."""

import re
from pathlib import Path
from time import time

from hookonce.config import paths
from hookonce.edit.file import remove_file, replace_file
from hookonce.errors import UsageError

_UNITS = {"s": 1, "m": 60, "h": 3600}
_LONGEST = 24 * 3600


def _file() -> Path:
    return paths.data() / "paused-until"


def seconds_of(text: str) -> int:
    """A length of time such as 10m."""
    found = re.fullmatch(r"(\d{1,6})([smh])", text)
    length = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < length <= _LONGEST:
        raise UsageError(f"{text!r} is no length of time; say something like 30s, 10m or 2h, a day at most")
    return length


def pause(length: int) -> None:
    """Ask nobody for so many seconds."""
    replace_file(_file(), str(time() + length).encode(), mode=0o600)


def resume() -> None:
    """Ask again."""
    remove_file(_file())


def is_paused() -> bool:
    """Whether a person has paused us, and the time is not over."""
    try:
        return time() < float(_file().read_bytes())
    except (OSError, ValueError):
        return False
