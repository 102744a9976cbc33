"""Work that is acknowledged at once and done afterwards, in the order in which it came."""

import sys
from queue import Full, Queue
from threading import Lock, Thread
from time import monotonic
from traceback import print_exc

from hookonce.model import Object
from hookonce.modules.operation import Operation
from hookonce.modules.protocol import Fault, Request

_MOST = 10_000  # requests that wait
_open: "list[Later]" = []


class Later:
    """A queue before an operation; one thread, which is there once something has come."""

    def __init__(self, operation: Operation) -> None:
        self._operation, self._lock = operation, Lock()
        self._queue: Queue[Request] = Queue(_MOST)
        self._started = False
        _open.append(self)

    def __call__(self, request: Request) -> Object:
        """Take a request that fits, and say so."""
        self._operation.taken(request)
        try:
            self._queue.put_nowait(request)
        except Full:
            raise Fault("oom", f"{_MOST} events are waiting already", {"retryable": True}) from None
        with self._lock:
            if not self._started:
                self._started = True
                Thread(target=self._work, daemon=True).start()
        return {"accepted": True}

    def schemas(self) -> tuple[Object, Object]:
        """As the operation takes it; what it gives is that it was taken."""
        given: Object = {"type": "object", "required": ["accepted"], "properties": {"accepted": {"const": True}}}
        return self._operation.schemas()[0], given

    def _work(self) -> None:
        while True:
            request = self._queue.get()
            try:
                self._operation(request)
            except (Exception, SystemExit):  # noqa: BLE001  nobody waits for it; the next one is to be done as well
                print_exc(file=sys.stderr)
            finally:
                self._queue.task_done()

    def finish(self, deadline: float) -> None:
        """Wait until everything is done, or the deadline has passed."""
        done = self._queue.all_tasks_done
        with done:
            while self._queue.unfinished_tasks and (left := deadline - monotonic()) > 0:
                done.wait(left)


def finish_all(seconds: float) -> None:
    """Give what was acknowledged some time to be done, before this process ends."""
    deadline = monotonic() + seconds
    for one in _open:
        one.finish(deadline)
