"""Hooks that nobody waits for: in a process of their own, with an end all the same."""

import os
from contextlib import suppress
from time import monotonic

from hookonce.config import paths
from hookonce.handlers.process import Ran, World, run

LONGEST = 600  # seconds
AT_ONCE = 8
_KEPT = 64 * 1024  # bytes of output that go to the log


def detach(command: str, given: bytes, world: World) -> Ran:
    """Start a hook and go on; a grandchild runs it, so that the caller's end is not its end."""
    begin = monotonic()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return Ran(code=0, duration=monotonic() - begin)
    try:
        os.setsid()
        if os.fork() == 0:
            _run_alone(command, given, world)
    finally:
        os._exit(0)


def _run_alone(command: str, given: bytes, world: World) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        with suppress(OSError):
            os.dup2(nothing, number)
    ran = run(command, given, world, LONGEST)
    said = (ran.stdout + ran.stderr)[:_KEPT]
    with suppress(OSError):
        paths.log().parent.mkdir(parents=True, exist_ok=True)
        with paths.log().open("ab") as log:
            ending = ran.failure or f"exit code {ran.code}"
            log.write(f"async hook ended ({ending}) after {ran.duration:.1f} s\n".encode() + said + b"\n")
