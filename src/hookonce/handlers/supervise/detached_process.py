"""Detached hooks: run asynchronously in a process of their own, with limits on time and number."""

import os
from collections.abc import Callable
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from hookonce.base import process_info
from hookonce.base.runtime_dir import runtime_file
from hookonce.base.spawn import fork_child
from hookonce.errors import HookonceError
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import OperationResult, run_to_completion
from hookonce.manifest.discover import find_project
from hookonce.secrets import log

if TYPE_CHECKING:
    from hookonce.handlers.http import HttpOperation
    from hookonce.handlers.module import ModuleOperation

    DetachableOperation: TypeAlias = CommandOperation | HttpOperation | ModuleOperation
OutputSanitizer: TypeAlias = Callable[[bytes, bytes], bytes]

MAX_DETACHED_S = 600  # seconds, the wait for its turn included
MAX_PROCESSES_PER_PROJECT = 8  # of one project
_MAX_SLOTS = 64  # for those that run and those that wait; more would fill the machine
_MAX_LOG_BYTES = 64 * 1024  # bytes of output that go to the log
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_SLOT_POLL_S = 0.1  # seconds between two looks for a free place


def run_detached(
    operation: "DetachableOperation", command: str, process_context: ProcessContext, sanitize_output: OutputSanitizer
) -> OperationResult:
    """Start a hook in a grandchild and return; `sanitize_output` gets what goes to the log, and the payload."""
    started_at = monotonic()
    try:
        project_digest = sha256(bytes(find_project(Path(process_context.cwd or "/")))).hexdigest()[:16]
        slot_fd, queue = _acquire_slot(project_digest, range(MAX_PROCESSES_PER_PROJECT)), None
        if slot_fd is None:
            slot_fd = _acquire_slot(project_digest, range(MAX_PROCESSES_PER_PROJECT, _MAX_SLOTS))
            if slot_fd is None:
                raise BlockingIOError(f"{_MAX_SLOTS} hooks of this project run or wait already")
            queue = project_digest, slot_fd

        run_child = partial(_run_child, operation, command, process_context, queue, sanitize_output)
        try:  # twice: the grandchild is an orphan, and our end is not its end
            os.waitpid(fork_child(lambda: fork_child(run_child, {slot_fd}), {slot_fd}), 0)
        finally:
            os.close(slot_fd)
    except (OSError, HookonceError) as problem:
        log.write(f"async hook not started ({problem}): {command}")
        return OperationResult(failure=f"not started: {problem}", duration=monotonic() - started_at)
    return OperationResult(code=0, duration=monotonic() - started_at)


def _acquire_slot(project_digest: str, slots: range) -> int | None:
    """Acquire a free slot: a file lock that is held until every copy of its descriptor is closed."""
    for number in slots:
        slot_fd = os.open(runtime_file("async", f"{project_digest}.{number}"), _LOCK_FLAGS, 0o600)
        try:
            flock(slot_fd, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(slot_fd)
        else:
            return slot_fd
    return None


def _run_child(
    operation: "DetachableOperation",
    command: str,
    process_context: ProcessContext,
    queue: tuple[str, int] | None,
    sanitize_output: OutputSanitizer,
) -> None:
    """Wait for a running slot, run the hook, and log how it ended."""
    deadline = monotonic() + MAX_DETACHED_S
    if queue is not None and not _wait_for_slot(*queue, deadline):
        log.write(f"async hook not started ({MAX_PROCESSES_PER_PROJECT} others ran all the time): {command}")
        return
    depth = int(process_context.env.get(process_info.DEPTH_VARIABLE, 1))
    mark = process_info.register_handlers(depth)  # that of the call goes away with the call
    log_start(command)
    if isinstance(operation, CommandOperation):
        env = {**process_context.env, process_info.PARENT_VARIABLE: mark}
        operation = replace(operation, process_context=replace(process_context, env=env))
    result = run_to_completion(replace(operation, timeout=deadline - monotonic()))
    process_info.unregister_handlers(mark)
    log_end(command, result, operation.payload, sanitize_output)


def log_start(command: str) -> None:
    """Tell the log that a hook has begun for which nobody waits."""
    log.write(f"async hook started by process {os.getpid()}: {command}")


def log_end(command: str, result: OperationResult, payload: bytes, sanitize_output: OutputSanitizer) -> None:
    """Tell the log how it ended, and what it said."""
    ending = result.failure or f"exit code {result.code}"
    line = f"async hook ended ({ending}) after {result.duration:.1f} s: {command}"
    output = log.truncate_output(result.stdout + result.stderr, _MAX_LOG_BYTES)
    log.write(line, sanitize_output(output, payload))


def _wait_for_slot(project_digest: str, queue_fd: int, deadline: float) -> bool:
    """Move from the queue to a running slot; whether there was one in time."""
    while _acquire_slot(project_digest, range(MAX_PROCESSES_PER_PROJECT)) is None:
        if monotonic() > deadline:
            return False
        sleep(_SLOT_POLL_S)
    os.close(queue_fd)
    return True
