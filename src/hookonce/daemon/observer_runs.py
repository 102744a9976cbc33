"""Observer runs: hooks that nobody waits for, run after the answer of their call, with limits on time and number.

How each of them went is a record that follows that of its call, whose gap of the strategy `later` names it. If the
daemon is killed in between, that gap is all that is ever told: no hook runs again.
"""

from collections import Counter, deque
from functools import partial
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base import times
from hookonce.base.event_loop import EventLoop
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.derived_hooks import build_runs_record
from hookonce.dispatch.request.call_record import append_record
from hookonce.dispatch.response import hook_error_records
from hookonce.dispatch.run import HookResult, ObserverJob, observer_task
from hookonce.handlers.loop_task import LoopTask
from hookonce.handlers.supervise.detached_process import MAX_DETACHED_S, MAX_PROCESSES_PER_PROJECT
from hookonce.manifest.discover import find_project
from hookonce.model import Decision, HookRun, Object, Record
from hookonce.secrets import log
from hookonce.vocabulary.names import hook_name

_MAX_WAITING_RUNS = 56  # of one project, beside those that run; more would fill the machine


class ObserverRun(Struct, frozen=True):
    """One hook of a call, by its place among those that nobody waits for; of a call without an answer no record."""

    job: ObserverJob
    index: int
    record: Record | None
    call_context: CallContext
    deadline: float
    next_run: "ObserverRun | None" = None  # of the same hook, which is told one event after the other


class ObserverRuns:
    """The hooks that run, and those that wait for their turn, by project."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._running = Counter[str]()
        self._waiting: dict[str, deque[ObserverRun]] = {}
        self._asked_count = 0

    @property
    def is_busy(self) -> bool:
        """Whether hooks run."""
        return self._running.total() > 0

    def status(self) -> Object:
        """The part of the status report: hooks that have run after an answer, and those that run now."""
        return {"asked": self._asked_count, "under_way": self._running.total()}

    def start(self, jobs: list[ObserverJob], record: Record | None, call_context: CallContext) -> None:
        """Run the hooks of a call once its answer has left; its record is None if nobody was answered."""
        deadline = monotonic() + MAX_DETACHED_S
        runs: dict[int, ObserverRun] = {}  # by hook, the first of each
        for index, job in reversed(list(enumerate(jobs))):
            key = id(job.selection.hook)
            runs[key] = ObserverRun(job, index, record, call_context, deadline, runs.get(key))
        for run in sorted(runs.values(), key=lambda run: run.index):
            self._loop.call_soon(partial(self._add, run))

    def _add(self, run: ObserverRun) -> None:
        project = str(find_project(run.job.caller.cwd))
        waiting = self._waiting.setdefault(project, deque())
        if self._running[project] < MAX_PROCESSES_PER_PROJECT:
            self._begin(project, run)
        elif len(waiting) < _MAX_WAITING_RUNS:
            waiting.append(run)
        else:
            problem = f"{MAX_PROCESSES_PER_PROJECT + _MAX_WAITING_RUNS} hooks of this project run or wait already"
            next_run: ObserverRun | None = run
            while next_run is not None:
                self._record_result(next_run, _build_start_failure(next_run, problem))
                next_run = next_run.next_run

    def _begin(self, project: str, run: ObserverRun) -> None:
        self._running[project] += 1
        LoopTask(self._loop, observer_task(run.job, run.deadline), partial(self._finish, project, run)).resume()

    def _finish(self, project: str, run: ObserverRun, result: HookResult | None) -> None:
        self._asked_count += 1
        self._running[project] -= 1
        if run.next_run is not None:
            self._begin(project, run.next_run)
        elif self._waiting[project]:
            self._loop.call_soon(partial(self._begin, project, self._waiting[project].popleft()))
        elif not self._running[project]:
            del self._running[project], self._waiting[project]
        self._record_result(run, result or _build_start_failure(run, "an error of hookonce, which its log tells"))

    def _record_result(self, run: ObserverRun, result: HookResult) -> None:
        """Record how a hook went, behind the record of its call."""
        call_record, call_context = run.record, run.call_context
        if call_record is None:
            return
        runs_record = build_runs_record(call_record.event, [result.run], result.gaps, run.index)
        first_index = len(call_record.runs) + run.index  # those before it have failed under other numbers
        failures = hook_error_records(replace(call_record, runs=[result.run]), first_index)

        def write() -> None:
            for record in (runs_record, *failures):
                append_record(record, call_context)

        if not call_context.defer_record(None, 0, write):
            write()


def _build_start_failure(run: ObserverRun, problem: str) -> HookResult:
    selection, name = run.job.selection, hook_name(run.job.selection.hook)
    log.write(f"async hook not started ({problem}): {name}")
    hook_run = HookRun(hook=name, scope=selection.scope, started=times.now(), failure=f"not started: {problem}")
    return HookResult(decision=Decision(), run=hook_run, gaps=[])
