"""Worker process: answers call after call of one file, until its client needs it no more or a call has damaged it."""

import os
import signal
from contextlib import suppress
from select import POLLIN, poll
from time import monotonic, sleep
from types import ModuleType
from typing import NoReturn

from hookonce.base.spawn import close_inherited_fds, write_all
from hookonce.handlers.supervise.claim_slots import ClaimSlot, slot_path
from hookonce.handlers.supervise.hook_results import HookClaim, encode_result
from hookonce.handlers.supervise.watchdog import MAX_OUTPUT_BYTES, adopt_orphans
from hookonce.handlers.workers.protocol import WorkerRequest, encode_response, receive_request
from hookonce.sdk.function_runner import answer_event, limit_memory, run_to_exit_code
from hookonce.sdk.worker_state import ProcessState

_CLIENT_POLL_S = 0.05  # seconds between two looks at a caller that has not read a result yet
_MAX_RESULT_AGE_S = 600.0  # seconds for which a result waits for its reader


class WorkerProcess:
    """This process as a worker: the loaded file, its client's socket, and the claim of the latest call."""

    def __init__(self, module: ModuleType, fd: int, stderr_fd: int) -> None:
        """Leave the server that has forked us."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(stderr_fd, 1)
        os.dup2(stderr_fd, 2)
        close_inherited_fds({1, 2, fd, stderr_fd})
        adopt_orphans()
        limit_memory()
        self._module, self._fd, self._pid, self._state = module, fd, os.getpid(), ProcessState(stderr_fd)
        self._slot: ClaimSlot | None = None
        self._claim: HookClaim | None = None
        self._result = b""
        self._hangup_poller = poll()
        self._hangup_poller.register(fd, POLLIN)

    def serve(self) -> NoReturn:
        """Answer calls, and exit."""
        code = 1
        try:
            while self._serve_call():
                continue
            code = 0
        except ConnectionError:  # the client was killed
            self._keep_result()
            code = 0
        finally:
            if self._slot is not None:
                self._slot.remove()
            os._exit(code)

    def _serve_call(self) -> bool:
        """Answer one call; whether we stay for another."""
        received = receive_request(self._fd)
        if received is None:
            return False
        number, request, is_last = received
        self._result = b""
        if not self._begin(request):
            return False
        answers: list[bytes] = []
        code = run_to_exit_code(lambda: answers.append(self._answer(request)))
        if os.getpid() != self._pid:  # a copy that the function has made of us
            os._exit(code)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._result = encode_result(str(code), b"".join(answers)[:MAX_OUTPUT_BYTES], self._state.take_stderr())
        is_last |= self._state.is_lost()
        write_all(self._fd, encode_response(number, self._result, is_last=is_last))
        if is_last:
            receive_request(self._fd)  # nobody needs the result any more, or ConnectionError
            return False
        self._state.restore()
        return True

    def _begin(self, request: WorkerRequest) -> bool:
        """Claim the hook of a call; whether it may begin, because our client is still there."""
        self._claim = None if request.claim is None else HookClaim(*request.claim)
        if self._claim is None:
            return True
        signal.setitimer(signal.ITIMER_REAL, 2 * request.timeout_s + 1)  # later than anybody waits
        with suppress(OSError):  # a full disk keeps no hook from being asked, nor does one without locks
            self._slot = self._slot or ClaimSlot(slot_path(self._claim.path, self._pid))
            self._slot.fill(self._claim.path)
        return not self._hangup_poller.poll(0)

    def _answer(self, request: WorkerRequest) -> bytes:
        self._state.apply(request)
        return answer_event(self._module, request.name, request.payload)

    def _keep_result(self) -> None:
        """Keep the latest result as long as its caller is there, for whoever answers in our client's place."""
        if self._slot is None or self._claim is None or not self._result:
            return
        with suppress(OSError):
            self._slot.save(self._result)
        deadline = monotonic() + _MAX_RESULT_AGE_S
        while not self._claim.is_client_gone and monotonic() < deadline:
            sleep(_CLIENT_POLL_S)
