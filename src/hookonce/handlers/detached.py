"""Hooks that nobody waits for: in a process of their own, with an end all the same."""

import os
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.handlers.errand import Ran, waited
from hookonce.handlers.process import Job, World
from hookonce.handlers.watchdog import fork, leave_alone
from hookonce.manifest.discover import project_of
from hookonce.runtime import depth
from hookonce.runtime.folder import at
from hookonce.store import log

if TYPE_CHECKING:
    from hookonce.handlers.http import Post
    from hookonce.handlers.module import Invocation
from hookonce.store.unquoted import unquoted

LONGEST = 600  # seconds, the wait for its turn included
AT_ONCE = 8  # of one project
_PLACES = 64  # for those that run and those that wait; more would fill the machine
_KEPT = 64 * 1024  # bytes of output that go to the log
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_POLL = 0.1  # seconds between two looks for a free place


def detach(errand: "Job | Post | Invocation", command: str, world: World) -> Ran:
    """Start a hook and go on; a grandchild of ours runs it, so that our end is not its end."""
    begin = monotonic()
    try:
        project = _project(world)
        place = _place(project, range(AT_ONCE))
        queue = None if place is not None else _place(project, range(AT_ONCE, _PLACES))
        held = place if queue is None else queue
        if held is None:
            raise BlockingIOError(f"{_PLACES} hooks of this project run or wait already")
        try:
            _aside(lambda: _run(errand, command, world, None if queue is None else (project, queue)), held)
        finally:
            os.close(held)
    except (OSError, HookonceError) as problem:
        log.write(f"async hook not started ({problem}): {command}")
        return Ran(failure=f"not started: {problem}", duration=monotonic() - begin)
    return Ran(code=0, duration=monotonic() - begin)


def _project(world: World) -> str:
    return sha256(bytes(project_of(Path(world.cwd or "/")))).hexdigest()[:16]


def _place(project: str, places: range) -> int | None:
    """A free place among these: a lock that is held until every copy of its descriptor is closed."""
    for number in places:
        handle = os.open(at("async", f"{project}.{number}"), _FLAGS, 0o600)
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(handle)
        else:
            return handle
    return None


def _aside(work: Callable[[], None], held: int) -> None:
    """Do something in a process that belongs to nobody, and that holds nothing of ours but its place."""
    child = fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if fork() == 0:
            leave_alone({held})
            work()
    finally:
        os._exit(0)


def _run(errand: "Job | Post | Invocation", command: str, world: World, queue: tuple[str, int] | None) -> None:
    """Wait for its turn if others were first, run the hook, and keep what it says in the log."""
    until = monotonic() + LONGEST
    if queue is not None and not _turn(*queue, until):
        log.write(f"async hook not started ({AT_ONCE} others ran all the time): {command}")
        return
    mark = depth.begin(int(world.env.get(depth.DEPTH, 1)))  # that of the call goes away with the call
    log.write(f"async hook started by process {os.getpid()}: {command}")
    if isinstance(errand, Job):
        errand = replace(errand, world=replace(world, env={**world.env, depth.PARENT: mark}))
    ran = waited(replace(errand, timeout=until - monotonic()))
    depth.end(mark)
    said = log.beginning(ran.stdout + ran.stderr, _KEPT)
    ending = ran.failure or f"exit code {ran.code}"
    log.write(f"async hook ended ({ending}) after {ran.duration:.1f} s: {command}", unquoted(said, errand.given))


def _turn(project: str, queued: int, until: float) -> bool:
    """Leave the queue for a place among those that run; whether there was one in time."""
    while _place(project, range(AT_ONCE)) is None:
        if monotonic() > until:
            return False
        sleep(_POLL)
    os.close(queued)
    return True
