"""The watchdog of our native client: it does what the one in Python does, and starts in a fraction of the time."""

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from hookonce.handlers import limits

_PROGRAMS = (
    b"\x7fELF",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
)  # what the systems that we know can run by themselves


@cache
def program() -> str | None:
    """The client as it was built for this machine, if it was."""
    file = Path(__file__).parents[1] / "client" / "hookonce-on"
    try:
        with file.open("rb") as content:
            is_native = content.read(4) in _PROGRAMS
    except OSError:
        return None
    return str(file) if is_native and os.access(file, os.X_OK) else None


def started(words: list[str], env: Mapping[str, str], pipes: list[int]) -> Callable[[int, int], int]:
    """A watchdog that is started: umask, directory and command of the hook, its environment and its descriptors."""

    def begin(leash: int, news: int) -> int:
        for end in (leash, news):
            os.set_inheritable(end, True)  # noqa: FBT003  the system's own order of words
        places = [(os.POSIX_SPAWN_DUP2, pipe, number) for number, pipe in enumerate(pipes)]
        told = [str(program()), "--watch", str(leash), str(news), *words]
        with limits.narrowed():
            return os.posix_spawn(told[0], told, env, file_actions=places)

    return begin
