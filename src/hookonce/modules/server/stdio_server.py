"""Stdio server of a module: a thread pool in which the thread that reads a request also handles it.

That costs small requests no hand-over between threads. A watcher lets another thread read on when a request
takes longer than a poll interval, and answers with timeout when it takes too long. Requests without an id, whose
answers only their order can tell apart, are handled one after the other.
"""

import os
import sys
from collections import deque
from math import inf
from threading import Condition, Event, Lock, Semaphore, Thread
from time import monotonic, sleep

from msgspec import UNSET, Struct

from hookonce.model import Json, Object
from hookonce.modules.protocol import messages
from hookonce.modules.server.operations import DocumentHandler, drain_all, timeout_response

MAX_THREADS = 64
_CHUNK_BYTES = 1 << 16
_POLL_INTERVAL_S = 0.002  # seconds between two looks while there is work
_MAX_IDLE_POLLS = 25  # polls without work, after which the watcher sleeps
_DRAIN_INTERVAL_S = 0.02  # seconds between two looks when we are about to leave
_DRAIN_TIMEOUT_S = 10.0  # seconds for what is under way when nothing more comes


class _StdioCall(Struct, eq=False):
    """A request under way; `is_reader` while the thread that handles it is the one that reads.

    `previous` is the request without an id that one without an id has to wait for.
    """

    document: Json
    deadline: float
    previous: "_StdioCall | None" = None
    is_reader: bool = True
    has_response: bool = False


class StdioServer:
    """Threads that handle requests from one descriptor and write responses to another, and their watcher."""

    def __init__(self, answer: DocumentHandler, in_fd: int, out_fd: int, deadline: float) -> None:
        self._answer, self._in_fd, self._out_fd, self._timeout_s = answer, in_fd, out_fd, deadline
        self._lines, self._pending_lines = messages.LineBuffer(), deque[bytes | None]()
        self._state_lock, self._write_lock = Lock(), Lock()
        self._calls: dict[int, _StdioCall] = {}  # in the order in which they came, so the first is the oldest
        self._open_calls: dict[int, _StdioCall] = {}  # those without a response yet
        self._reader_call: _StdioCall | None = None
        self._last_ordered: _StdioCall | None = None
        self._order = Condition()
        self._call_count, self._thread_count, self._idle_threads = 0, 0, 0
        self._read_turns, self._needs_reader = Semaphore(0), False
        self._is_eager = False  # while there is slow work, what else has come is not kept waiting for the next look
        self._wake, self._is_asleep, self.stop_event, self._has_host = Event(), False, Event(), True

    def start(self) -> None:
        """Start the first reader and the watcher."""
        self._start_thread()
        Thread(target=self._watch_calls, daemon=True).start()

    def _start_thread(self) -> None:
        self._thread_count += 1
        Thread(target=self._run_worker, daemon=True).start()

    def _run_worker(self) -> None:
        """Read a request and handle it; read on if no other thread does by now, else wait for the turn."""
        while (request := self._next_request()) is not None:
            document, refusal = request
            call = self._begin_call(document)
            if call.previous is not None:
                self._await_turn(call, call.previous)
            if not self._end_call(call, refusal or self._answer(document)):
                self._read_turns.acquire()
        self.stop_event.set()

    def _next_request(self) -> tuple[Json, Object | None] | None:
        while True:
            while not self._pending_lines:
                chunk = os.read(self._in_fd, _CHUNK_BYTES)
                if not chunk:
                    return None
                self._pending_lines.extend(self._lines.feed(chunk))
            line = self._pending_lines.popleft()
            if line is None:
                message = f"a request has at most {messages.MAX_MESSAGE_BYTES} bytes"
                return None, messages.build_error("bad_request", message, limit=messages.MAX_MESSAGE_BYTES)
            try:
                return messages.decode_line(line), None
            except ValueError:
                if line.strip():  # an empty line asks nothing
                    return None, messages.build_error("bad_request", "a request line is not JSON")

    def _begin_call(self, document: Json) -> _StdioCall:
        request_id = messages.request_id_of(document)
        call = _StdioCall(document, monotonic() + self._timeout_s)
        if request_id is UNSET or request_id is None:
            previous, self._last_ordered = self._last_ordered, call
            if previous is not None and not previous.has_response:
                call.previous, call.deadline = previous, inf
        self._call_count += 1
        self._calls[id(call)] = self._open_calls[id(call)] = self._reader_call = call
        if self._pending_lines and self._is_eager:
            with self._state_lock:
                self._pass_reader(call)
        if self._is_asleep:
            self._wake.set()
        return call

    def _await_turn(self, call: _StdioCall, previous: _StdioCall) -> None:
        """Wait for the response to the request without an id that came before; the time of a call begins then."""
        with self._order:
            while not previous.has_response:
                self._order.wait()
        call.previous, call.deadline = None, monotonic() + self._timeout_s
        if self._is_asleep:
            self._wake.set()

    def _end_call(self, call: _StdioCall, response: Object) -> bool:
        """Write the response, unless that was done; whether this thread reads on."""
        if self._open_calls.pop(id(call), None) is not None:  # the watcher has not answered it with timeout
            self._respond(call, response)
        self._calls.pop(id(call), None)  # after the response: `drain` waits for calls in this table
        with self._state_lock:
            if call.is_reader:
                self._reader_call = None
            elif self._needs_reader:
                self._needs_reader = False
            else:
                self._idle_threads += 1
                return False
        return True

    def _respond(self, call: _StdioCall, response: Object) -> None:
        self._write_response(response)
        with self._order:
            call.has_response = True
            self._order.notify_all()

    def _write_response(self, document: Object) -> None:
        try:
            line = messages.encode_line(document)
        except (TypeError, ValueError, RecursionError) as problem:
            message = f"the result cannot be written as JSON: {problem}"
            line = messages.encode_line(messages.build_error("internal", message))
        with self._write_lock:
            try:
                sent_bytes = os.write(self._out_fd, line)
                while sent_bytes < len(line):
                    sent_bytes += os.write(self._out_fd, memoryview(line)[sent_bytes:])
            except OSError:
                self._has_host = False
                self.stop_event.set()

    def _pass_reader(self, call: _StdioCall) -> None:
        """Let another thread read; if all are busy, the first that is done."""
        call.is_reader, self._reader_call = False, None
        if self._idle_threads:
            self._idle_threads -= 1
            self._read_turns.release()
        elif self._thread_count < MAX_THREADS:
            self._start_thread()
        else:
            self._needs_reader = True

    def _watch_calls(self) -> None:
        previous_call, previous_count, idle_polls = None, 0, 0
        while not self.stop_event.is_set():
            if idle_polls < _MAX_IDLE_POLLS:
                sleep(_POLL_INTERVAL_S)
            else:
                self._wait_for_work()
            with self._state_lock:
                reader_call = self._reader_call
                if reader_call is not None and reader_call is previous_call:
                    self._pass_reader(reader_call)
                idle_polls = 0 if reader_call is not None or previous_count != self._call_count else idle_polls + 1
                previous_call, previous_count = reader_call, self._call_count
                self._is_eager = self._has_slow_call()
            self._expire_calls()

    def _has_slow_call(self) -> bool:
        oldest = next(iter(list(self._calls.values())), None)
        return oldest is not None and oldest.deadline - self._timeout_s + _POLL_INTERVAL_S < monotonic()

    def _wait_for_work(self) -> None:
        self._is_asleep = True
        deadline = min((call.deadline for call in list(self._calls.values())), default=inf)
        if self._reader_call is None:
            self._wake.wait(None if deadline == inf else max(0.0, deadline - monotonic()))
        self._is_asleep = False
        self._wake.clear()

    def _expire_calls(self) -> None:
        now = monotonic()
        for key, call in list(self._calls.items()):
            if call.deadline > now:
                continue
            if self._open_calls.pop(key, None) is not None:
                self._respond(call, timeout_response(call.document, self._timeout_s))
            self._calls.pop(key, None)

    def drain(self, seconds: float) -> None:
        """Wait for the requests under way, as long as one of them ends every so many seconds and a host hears of it."""
        open_count, until = len(self._calls), monotonic() + seconds
        while open_count and self._has_host and monotonic() < until:
            sleep(_DRAIN_INTERVAL_S)
            if len(self._calls) < open_count:
                open_count, until = len(self._calls), monotonic() + seconds


def serve_stdio(answer: DocumentHandler, deadline: float = messages.DEFAULT_TIMEOUT_S) -> None:
    """Serve a module on stdin and stdout until stdin ends; what operations print goes to stderr."""
    sys.stdout.flush()
    in_fd, out_fd = os.dup(0), os.dup(1)
    null_fd = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_fd, 0)  # what an operation starts must not read our requests,
    os.dup2(2, 1)  # nor write between our answers
    os.close(null_fd)
    server = StdioServer(answer, in_fd, out_fd, deadline)
    server.start()
    server.stop_event.wait()
    server.drain(_DRAIN_TIMEOUT_S)
    drain_all(_DRAIN_TIMEOUT_S)
