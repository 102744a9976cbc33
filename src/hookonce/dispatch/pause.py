"""Pause (kill switch): for a while no hook runs, and every agent gets its silence; what they do is recorded.

It is one small file with a time in it, so that it works whatever else is broken.
"""

import os
from time import time

from hookonce.base import paths, times
from hookonce.base.files import remove_file, replace_file
from hookonce.errors import UsageError
from hookonce.model import Gap

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600}
_MAX_PAUSE_S = 24 * 3600
# Of a call that was recorded during a pause; an event of a tool that comes again later is asked then.
PAUSE_GAP = Gap(where="$", capability="respond", strategy="fail mode", effect="observes", note="hooks were paused")


def parse_duration_s(text: str) -> int:
    """Parse a duration such as 10m into seconds."""
    from re import fullmatch  # few calls are about a pause

    match = fullmatch(r"([0-9]{1,6})([smh])", text)
    duration_s = int(match[1]) * _UNIT_SECONDS[match[2]] if match else 0
    if not 0 < duration_s <= _MAX_PAUSE_S:
        raise UsageError(f"{text!r} is not a length of time; use 30s, 10m or 2h, at most a day")
    return duration_s


def pause(duration_s: int) -> None:
    """Pause for so many seconds."""
    replace_file(paths.pause_path(), f"{int(time()) + duration_s}\n".encode(), mode=0o600)


def resume() -> None:
    """End the pause."""
    remove_file(paths.pause_path())


def is_paused() -> bool:
    """Whether a pause is on."""
    return _read_end() > 0


def pause_end() -> str | None:
    """When the pause ends, if there is one."""
    return times.from_seconds(end) if (end := _read_end()) else None


def _read_end() -> float:
    """When the pause is over, in seconds, 0 if there is none; more than a day from now is nothing that we wrote."""
    file = paths.pause_path()
    if not os.access(file, os.F_OK):
        return 0
    try:
        end = float(file.read_bytes())
    except (OSError, ValueError):
        return 0
    return end if 0 < end - time() <= _MAX_PAUSE_S else 0
