"""Client of a worker server: orders prefork workers for one file, gives them calls, and ends them."""

import os
from collections.abc import Callable
from time import monotonic

from msgspec.structs import replace

from hookonce.handlers.errand import OperationResult
from hookonce.handlers.function_wire import SIZE_PREFIX_BYTES, frame_size_of
from hookonce.handlers.process import MAX_OUTPUT_BYTES
from hookonce.runtime.loop import READ, WRITE, EventLoop

_CHUNK_BYTES = 1 << 16


class WorkerCall:
    """One call of a function by a prefork worker: waits for a worker, then for its answer, up to its timeout."""

    def __init__(self, loop: EventLoop, frame: bytes, timeout: float, on_result: Callable[[OperationResult], object]) -> None:
        """It is waiting; `on_cancel` is called when that was in vain."""
        self._loop, self._on_result = loop, on_result
        self._unsent, self._received_bytes = memoryview(frame), bytearray()
        self._started_at, self._fd = monotonic(), -1
        self._timer = loop.call_at(self._started_at + timeout, self.cancel)
        self.on_cancel: Callable[[WorkerCall], object] = lambda _: None
        self.number: int | None = None
        self.is_over = False

    def start(self, fd: int, number: int) -> None:
        """Send the request to a worker."""
        self._fd, self.number = fd, number
        os.set_blocking(fd, False)
        self._loop.watch_fd(fd, WRITE, self._send)
        self._send(0)

    def cancel(self) -> None:
        """Cancel it: time is over, or nobody waits."""
        if not self.is_over:
            self._finish(OperationResult(failure="timeout"))
            self.on_cancel(self)

    def handle_exit(self, code: int, stderr: bytes) -> None:
        """The worker has exited: read what it sent, or fail."""
        while self._receive(0):
            continue
        if code < 0:
            self.fail(OperationResult(failure=f"ended by signal {-code}", stderr=stderr))
        else:
            self.fail(OperationResult(code=code, stderr=stderr))

    def fail(self, result: OperationResult) -> None:
        """Finish without an answer, if it has not finished."""
        if not self.is_over:
            self._finish(result)

    def _send(self, _: int) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._fd, self._unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # it has ended, and whoever has started it will tell how
            self._unsent = memoryview(b"")
        self._loop.remove_fd(self._fd)
        self._loop.watch_fd(self._fd, READ, self._receive)

    def _receive(self, _: int) -> bool:
        """Receive what there is; whether there may be more."""
        if self.is_over:
            return False
        try:
            chunk = os.read(self._fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_fd(self._fd)
            return False
        self._received_bytes += chunk
        if (size := frame_size_of(self._received_bytes)) is not None and len(self._received_bytes) >= SIZE_PREFIX_BYTES + size:
            answer = bytes(self._received_bytes[SIZE_PREFIX_BYTES : SIZE_PREFIX_BYTES + min(size, MAX_OUTPUT_BYTES)])
            self._finish(OperationResult(code=0, stdout=answer, truncated=size > MAX_OUTPUT_BYTES))
        return not self.is_over

    def _finish(self, result: OperationResult) -> None:
        self.is_over = True
        self._timer.cancel()
        if self._fd >= 0:
            self._loop.remove_fd(self._fd)
            os.close(self._fd)
            self._fd = -1
        self._on_result(replace(result, duration=monotonic() - self._started_at))
