"""Process spawning: pipes, forked children, and programs that run in a session of their own.

Only the clients start processes in another way, because they do without everything that they can do without.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

if TYPE_CHECKING:
    from subprocess import CompletedProcess, Popen

_MAX_FD = 1 << 16  # descriptors beyond this are nobody's


def open_pipes() -> tuple[list[int], list[int]]:
    """Pipes for stdin, stdout and stderr, or none of them: the child's ends, and ours."""
    pairs: list[tuple[int, int]] = []
    try:
        while len(pairs) < 3:  # noqa: PLR2004  stdin, stdout, stderr
            pairs.append(os.pipe())
    except OSError:
        close_fds(*(end for ends in pairs for end in ends))
        raise
    into, out, err = pairs
    return [into[0], out[1], err[1]], [into[1], out[0], err[0]]


def close_fds(*fds: int) -> None:
    """Close descriptors; a negative one is none."""
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def spawn(
    command: str | Sequence[str],
    fds: Sequence[int],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    umask: int = -1,
) -> "Popen[bytes]":
    """Start a program or a shell line in a session of its own, with these descriptors as stdin, stdout and stderr.

    They are the child's: ours are closed, whether it was started or not. DEVNULL may stand for any of them.
    """
    from subprocess import Popen  # a native watchdog starts most hooks

    stdin, stdout, stderr = fds
    try:
        return Popen(  # noqa: S603  each caller says what is run, and why
            command,
            shell=isinstance(command, str),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
            umask=umask,
        )
    finally:
        close_fds(*{*fds})


def run(
    command: Sequence[str],
    payload: bytes = b"",
    *,
    timeout_s: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> "CompletedProcess[bytes]":
    """Run a program to its end; a TimeoutExpired, and the end of its whole group, where that takes too long."""
    from subprocess import PIPE, CompletedProcess, Popen  # as above

    process = Popen(  # noqa: S603  as above
        command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=cwd, env=env, start_new_session=True
    )
    with process:
        try:
            stdout, stderr = process.communicate(payload, timeout_s)
        except BaseException:
            kill_group(process)
            raise
    return CompletedProcess(command, process.returncode, stdout, stderr)


def kill_group(process: "Popen[bytes]") -> None:
    """Kill a program that `spawn` has started, and everything in its process group; then reap it."""
    from signal import SIGKILL  # whose names of all signals cost more than most hooks are worth

    with suppress(OSError):
        os.killpg(process.pid, SIGKILL)
    process.wait()


def fork() -> int:
    """Fork this process; newer Pythons warn if it has threads, but the children here need none of their locks."""
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)
        return os.fork()


def fork_child(work: Callable[[], object], keep_fds: Collection[int]) -> int:
    """Fork a child with a session of its own and these descriptors only; it ends after `work`, with code 0 or 1."""
    pid = fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        close_inherited_fds(keep_fds)
        work()
        code = 0
    finally:
        os._exit(code)


def close_inherited_fds(keep_fds: Collection[int] = ()) -> None:
    """Close every inherited descriptor that is not needed: an agent waits until its pipes are closed."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for fd in {0, 1, 2} - {*keep_fds}:
        os.dup2(devnull, fd)
    open_fds = sorted({0, 1, 2, *keep_fds})
    for fd_before, fd_after in zip(open_fds, [*open_fds[1:], _MAX_FD], strict=True):
        os.closerange(fd_before + 1, fd_after)


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes to a blocking descriptor, or raise OSError; `wire.write_best_effort` raises nothing."""
    unsent = memoryview(data)
    while unsent:
        unsent = unsent[os.write(fd, unsent) :]
