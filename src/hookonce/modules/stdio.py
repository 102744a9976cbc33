"""A module on stdio, as its host sees it: started when it is needed, again when it has ended, and ended in the end."""

import atexit
from collections.abc import Mapping, Sequence
from threading import Lock
from time import monotonic
from weakref import WeakSet

from hookonce.model import Object
from hookonce.modules.closing import Closing
from hookonce.modules.life import Life, Watch
from hookonce.modules.log import Log
from hookonce.modules.process import GRACE, Process
from hookonce.modules.protocol import LIMIT, LONGEST, Fault, Request, failed, failure

_FIRST, _LONGEST = 0.1, 10.0  # seconds until it is started again, once it has failed twice in a row
_open: "WeakSet[Stdio]" = WeakSet()


class Stdio(Closing):
    """A link to a module that is a process of ours; any number of threads may ask at the same time."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        limit: int = LIMIT,
    ) -> None:
        """Remember how it is started; the first call does so. `watch` hears every message and what stderr says."""
        self._command, self._cwd, self._env = list(command), cwd, env
        self._watch, self._limit, self._log = watch, limit, Log()
        self._life: Life | None = None
        self._starting, self._alone = Lock(), Lock()
        self._closed, self._failures, self._not_before = False, 0, 0.0
        self.starts = 0
        _open.add(self)

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        life = self._life
        return life.process.pid if life is not None and not life.over else None

    @property
    def log(self) -> str:
        """The end of what it wrote to stderr, and of what it wrote to stdout that was no answer."""
        return self._log.text()

    def ask(self, request: Request, timeout: float) -> Object:
        """What the module answers; whatever goes wrong is an answer too."""
        deadline = monotonic() + min(timeout, LONGEST)
        try:
            answer = self._asked(request, timeout, deadline)
            if answer is None:  # it had ended before it got any of this: that costs nobody an answer
                answer = self._asked(request, timeout, deadline)
        except Fault as fault:
            return failure(fault.error)
        if answer is None:
            return failed("unreachable", "the module ends before it reads a request", retryable=True)
        return answer

    def _asked(self, request: Request, timeout: float, deadline: float) -> Object | None:
        life = self._alive()
        if life.waiting.echoes:
            return life.exchange(request, timeout, deadline)
        # Its answers bear no ids, or nobody knows yet: one at a time.
        if not self._alone.acquire(timeout=max(0.0, deadline - monotonic())):
            return failed("timeout", f"other calls took all of {timeout:g} seconds", seconds=timeout)
        held = True
        try:
            life = self._alive()
            if life.waiting.echoes:
                self._alone.release()
                held = False
            else:
                life.settle()
            return life.exchange(request, timeout, deadline)
        finally:
            if held:
                self._alone.release()

    def _alive(self) -> Life:
        """The life that goes on, or a new one."""
        life = self._life
        if life is not None and not life.over and not life.process.is_gone():
            return life
        with self._starting:
            if self._closed:
                raise Fault("unreachable", "the link to the module is closed")
            if self._life is life:
                self._life = self._begun(life)
            assert self._life is not None  # noqa: S101  for type checkers
            return self._life

    def _begun(self, before: Life | None) -> Life:
        if before is not None:
            before.end("it had ended")
            before.close(0.0)
            self._failed(worked=before.waiting.answered)
        wait = self._not_before - monotonic()
        if wait > 0:
            self._life = None
            why = f"the module failed {self._failures} times in a row and rests for {wait:.1f} seconds"
            raise Fault("unreachable", why, {"retryable": True, "retry_after": round(wait, 3)})
        try:
            process = Process(self._command, self._cwd, self._env, self._said)
        except OSError as problem:
            self._life = None
            self._failed(worked=False)
            why = f"{self._command[0]} cannot be started: {problem.strerror or problem}"
            raise Fault("unreachable", why, {"command": self._command}) from None
        self.starts += 1
        self._log.begin(process.pid)
        return Life(process, self._log, self._limit, self._watch)

    def _failed(self, *, worked: bool) -> None:
        """The first failure after something worked costs no time, each further one twice as much."""
        self._failures = 1 if worked else self._failures + 1
        wait = 0.0 if self._failures == 1 else min(_FIRST * 2 ** (self._failures - 2), _LONGEST)
        self._not_before = monotonic() + wait

    def _said(self, chunk: bytes) -> None:
        self._log.add(chunk)
        if self._watch is not None:
            self._watch("said", chunk)

    def close(self, grace: float = GRACE) -> None:
        """End the module: its stdin is closed, then it is asked to end, then its group is killed."""
        with self._starting:
            self._closed, life = True, self._life
        if life is not None:
            life.close(grace)
        _open.discard(self)


@atexit.register
def _close_all() -> None:
    """No module outlives us because somebody forgot it."""
    for one in list(_open):
        one.close()
