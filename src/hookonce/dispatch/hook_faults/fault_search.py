"""Fault search: an operation that finds what is wrong with hooks in a forked child, while others are answered."""

from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from msgspec import Struct

from hookonce.base.event_loop import EventLoop
from hookonce.dispatch.hook_faults import notice, project_faults
from hookonce.dispatch.hook_faults.history import load_runs
from hookonce.dispatch.select import find_candidates
from hookonce.handlers.operation import FailedStart, OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.supervise.forked_child import ForkedChild
from hookonce.model import Agent
from hookonce.secrets import log

_RECORD_TIMEOUT_S = 0.01  # seconds in which the record is read: others wait for it


class FaultSearch(Struct, frozen=True, kw_only=True):
    """Operation that searches for faults in a forked child: files and the record may be slow, and others wait."""

    project: Path
    agent: Agent
    environment: Mapping[str, str]
    timeout: float

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Search; the result has the notice as its stdout.

        The record is read here: SQLite must not be used on both sides of a fork.
        """
        hooks = [candidate.hook for candidate in find_candidates(self.project) if candidate.hook is not None]
        newest_runs = load_runs(hooks, _RECORD_TIMEOUT_S)

        def search() -> bytes:
            try:
                faults = project_faults.find_faults(self.project, [self.agent], self.environment, newest_runs)
                text = notice.describe_faults([*project_faults.machine_faults(), *faults])
            except Exception as problem:  # noqa: BLE001  whatever somebody has written must not hide that
                log.write(f"nobody was told of broken hooks: {log.format_trace(problem)}")
                text = None
            return (text or "").encode(errors="replace")

        def finish(output: bytes | None) -> None:
            failure = "timeout" if output is None else None
            on_result(OperationResult(code=0, stdout=output or b"", failure=failure))

        try:
            return ForkedChild(loop, search, timeout, finish)
        except OSError as problem:
            return FailedStart(loop, problem, monotonic(), on_result)
