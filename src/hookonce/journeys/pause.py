"""The kill switch: for a while nobody is asked, and every agent hears its silence.

It is one small file with a time in it, so that it works whatever else is broken.
"""

import os
import re
from pathlib import Path
from time import time

from hookonce import times
from hookonce.config import paths
from hookonce.edit.file import remove_file, replace_file
from hookonce.errors import UsageError

_UNITS = {"s": 1, "m": 60, "h": 3600}
_LONGEST = 24 * 3600


def _file() -> Path:
    return paths.paused()


def seconds_of(text: str) -> int:
    """A length of time such as 10m."""
    found = re.fullmatch(r"([0-9]{1,6})([smh])", text)
    length = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < length <= _LONGEST:
        raise UsageError(f"{text!r} is no length of time; say something like 30s, 10m or 2h, a day at most")
    return length


def pause(length: int) -> None:
    """Ask nobody for so many seconds."""
    replace_file(_file(), f"{int(time()) + length}\n".encode(), mode=0o600)


def resume() -> None:
    """Ask again."""
    remove_file(_file())


def is_paused() -> bool:
    """Whether a person has paused us, and the time is not over."""
    return _left() > 0


def paused_until() -> str | None:
    """When the pause ends, if there is one."""
    return times.from_seconds(int(time() + _left())) if is_paused() else None


def _left() -> float:
    """Seconds until the pause is over; more than a day is nothing that we wrote."""
    file = _file()
    if not os.path.lexists(file):
        return 0
    try:
        left = float(file.read_bytes()) - time()
    except (OSError, ValueError):
        return 0
    return left if 0 < left <= _LONGEST else 0
