"""Job queue of a module: events are acknowledged at once and handled afterwards, in order, by one thread."""

import sys
from queue import Full, Queue
from threading import Lock, Thread
from time import monotonic
from traceback import print_exc

from hookonce.model import Object
from hookonce.modules.protocol.messages import Fault, Request
from hookonce.modules.server.operations import OperationFunction

_MAX_JOBS = 10_000  # requests that wait
_queues: "list[JobQueue]" = []


class JobQueue:
    """Queue before an operation; its thread is started with the first job."""

    def __init__(self, operation: OperationFunction) -> None:
        self._operation, self._lock, self.description = operation, Lock(), operation.description
        self._queue: Queue[Request] = Queue(_MAX_JOBS)
        self._has_thread = False
        _queues.append(self)

    def __call__(self, request: Request) -> Object:
        """Enqueue a request whose arguments fit, and acknowledge it."""
        self._operation.bind_arguments(request)
        try:
            self._queue.put_nowait(request)
        except Full:
            raise Fault("oom", f"{_MAX_JOBS} events are waiting already", {"retryable": True}) from None
        with self._lock:
            if not self._has_thread:
                self._has_thread = True
                Thread(target=self._run, daemon=True).start()
        return {"accepted": True}

    def schemas(self) -> tuple[Object, Object]:
        """The argument schema of the operation, and that of the acknowledgement."""
        properties: Object = {"accepted": {"const": True}}
        return self._operation.schemas()[0], {"type": "object", "required": ["accepted"], "properties": properties}

    def _run(self) -> None:
        while True:
            request = self._queue.get()
            try:
                self._operation(request)
            except (Exception, SystemExit):  # noqa: BLE001  nobody waits for it; the next one is to be done as well
                print_exc(file=sys.stderr)
            finally:
                self._queue.task_done()

    def drain(self, deadline: float) -> None:
        """Wait until every job is done, or the deadline has passed."""
        all_done = self._queue.all_tasks_done
        with all_done:
            while self._queue.unfinished_tasks and (remaining_s := deadline - monotonic()) > 0:
                all_done.wait(remaining_s)


def drain_all(seconds: float) -> None:
    """Give all queues some seconds to finish their jobs, before this process ends."""
    deadline = monotonic() + seconds
    for queue in _queues:
        queue.drain(deadline)
