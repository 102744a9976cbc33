"""Connection to a worker process, which answers one call at a time."""

import os
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from msgspec import msgpack
from msgspec.structs import replace

from hookonce.base.event_loop import READ, WRITE, EventLoop
from hookonce.handlers.operation import OperationResult, ResultCallback
from hookonce.handlers.supervise.claim_slots import slot_path
from hookonce.handlers.supervise.hook_results import HookClaim
from hookonce.handlers.workers import protocol

_CHUNK_BYTES = 1 << 16


class WorkerCall:
    """One call of a function: waits for a worker, then for its answer, up to its timeout."""

    def __init__(
        self,
        loop: EventLoop,
        request: protocol.WorkerRequest,
        timeout: float,
        callbacks: "tuple[ResultCallback, Callable[[WorkerCall], object]]",
        claim: HookClaim | None = None,
        *,
        is_isolated: bool = False,
    ) -> None:
        """Wait; the callbacks get the result, and this call if it was cancelled."""
        self._on_result, self._on_cancel = callbacks
        self.name, self.claim, self.is_isolated, self.is_over = request.name, claim, is_isolated, False
        self.request = msgpack.encode(request)
        self._started_at = monotonic()
        self._timer = loop.call_at(self._started_at + timeout, self.cancel)

    def cancel(self) -> None:
        """Cancel it: time is over, or nobody waits."""
        if not self.is_over:
            self.finish(OperationResult(failure="timeout"))
            self._on_cancel(self)

    def finish(self, result: OperationResult, release_worker: Callable[[], object] | None = None) -> None:
        """Finish once; a worker that has answered keeps the result until the whole call of the agent was answered."""
        if self.is_over:
            return
        self.is_over = True
        self._timer.cancel()
        if self.claim is None:
            if release_worker is not None:
                release_worker()
        elif release_worker is not None:
            self.claim.on_release.append(release_worker)
        else:  # nobody else keeps what was not told
            self.claim.save(result.failure or str(result.code))
            self.claim.on_release.append(self.claim.remove)
        self._on_result(replace(result, duration=monotonic() - self._started_at))


class WorkerConnection:
    """Connection to one worker, known by its pid."""

    def __init__(self, loop: EventLoop, pid: int, fd: int, on_release: "Callable[[WorkerConnection], object]") -> None:
        """Watch the descriptor; `on_release` is called whenever nobody needs the answer of a call any more."""
        self._loop, self.pid, self._fd, self._on_release = loop, pid, fd, on_release
        self.call: WorkerCall | None = None  # until its answer is needed no more
        self.is_used, self.is_leaving, self.idle_since = False, False, monotonic()
        self._unsent, self._is_blocked, self._number = memoryview(b""), False, 0
        self._received_bytes, self._slot_path = bytearray(), ""
        os.set_blocking(fd, False)
        loop.watch_fd(fd, READ, self._handle_ready)

    def begin(self, call: WorkerCall, *, is_last: bool) -> None:
        """Send a call."""
        self.call, self.is_used = call, True
        if call.claim is not None and not self._slot_path:
            self._slot_path = slot_path(call.claim.path, self.pid)
        self._number += 1
        self._unsent = memoryview(protocol.encode_request(self._number, call.request, is_last=is_last))
        self._send()

    def handle_exit(self, code: int, stderr: bytes) -> None:
        """The worker has exited: read what it sent, or fail."""
        while self._receive():
            continue
        result = OperationResult(code=code) if code >= 0 else OperationResult(failure=f"ended by signal {-code}")
        self.abort(replace(result, stderr=stderr))

    def abort(self, result: OperationResult) -> None:
        """Dismiss the worker, and fail the call that it has not answered."""
        self.dismiss()
        if self.call is not None and not self.call.is_over:
            call, self.call = self.call, None
            call.finish(result)
        if self.call is None:  # else the slot names a result that is still needed
            self.remove_slot()

    def dismiss(self) -> None:
        """Tell the worker that nobody needs it any more."""
        self.is_leaving = True
        if self._fd >= 0:
            self._loop.remove_fd(self._fd)
            with suppress(OSError):
                os.write(self._fd, protocol.DISMISSAL)
            os.close(self._fd)
            self._fd = -1

    def remove_slot(self) -> None:
        """Remove the claim slot of a worker that has ended."""
        if self._slot_path:
            with suppress(OSError):
                os.unlink(self._slot_path)  # noqa: PTH108  as text; somebody waits

    def _handle_ready(self, mask: int) -> None:
        if mask & WRITE:
            self._send()
        if mask & ~WRITE:
            self._receive()

    def _send(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._fd, self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:  # it has ended; the server will tell how
            self._unsent = memoryview(b"")
        if self._is_blocked != bool(self._unsent):
            self._is_blocked = not self._is_blocked
            self._loop.modify_fd(self._fd, READ | WRITE if self._is_blocked else READ)

    def _receive(self) -> bool:
        """Receive what there is; whether there may be more."""
        if self._fd < 0:
            return False
        try:
            chunk = os.read(self._fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:  # the server will tell how it has ended
            self._loop.remove_fd(self._fd)
            return False
        self._received_bytes += chunk
        response = protocol.parse_response(self._received_bytes)
        if self.call is None or self.call.is_over or (response is not None and response[0] != self._number):
            self.is_leaving = True  # a function has written to our socket
            self._received_bytes.clear()
        elif response is not None:
            _, result, is_last = response
            self.is_leaving |= is_last
            self._received_bytes.clear()
            self.call.finish(result, lambda: self._on_release(self))
        return True
