"""Event bus of the kernel, and emission of Amplifier Event v1 on it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from queue import Empty, Full, Queue
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import Any

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.protocol.messages import ErrorInfo, Fault, decode_line, encode_line, error_document
from hookonce.modules.protocol.validation import JSON_ENCODE_ERRORS

Observer = Callable[[Object], object]
EventFilter = Callable[[Object], bool]
MAX_QUEUED_EVENTS = 10_000  # events that an observer may be behind
_CLOSE_TIMEOUT_S = 5.0  # seconds that observers have at the end for what they have not seen yet


class ObserverQueue:
    """Queue and thread of one observer, which delays nobody else, with its failures and what it never got."""

    def __init__(self, name: str, observer: Observer, accepts: EventFilter, priority: int, max_queued: int) -> None:
        """Start its thread; `max_queued` is how far it may fall behind, 0 for any distance."""
        self.name, self.accepts, self.priority, self.is_lossless = name, accepts, priority, not max_queued
        self.failures, self.drop_count, self.sequence = 0, 0, 0
        self.last_error: str | None = None
        self._observer = observer
        # Encoded lines: what somebody does to an event afterwards changes nothing here.
        self._queue: Queue[bytes | None] = Queue(max_queued)
        self._thread = Thread(target=self._run, name=f"observer {name}", daemon=True)
        self._thread.start()

    def enqueue(self, line: bytes) -> None:
        """Enqueue an event; one too many is dropped and counted."""
        try:
            self._queue.put_nowait(line)
        except Full:
            self.drop_count += 1

    def _run(self) -> None:
        while (line := self._queue.get()) is not None:
            try:
                event: Any = decode_line(line)
                self._observer(event)
            except (Exception, SystemExit) as error:  # noqa: BLE001  an observer's failure is its own
                self.failures += 1
                self.last_error = f"{type(error).__name__}: {error}"

    def close(self, deadline: float) -> None:
        """Wait until the queue is empty or the deadline has passed; the rest is dropped."""
        with suppress(Full):
            self._queue.put(None, timeout=max(deadline - monotonic(), 0.0))
        if self._thread is current_thread():  # an observer that unregisters itself
            return
        self._thread.join(max(deadline - monotonic(), 0.0))
        if self._thread.is_alive():
            with suppress(Empty):
                while True:
                    self.drop_count += self._queue.get_nowait() is not None
            self._queue.put(None)


class EventBus:
    """All observers; those of a lower priority get an event first, and each gets events in their order."""

    def __init__(self) -> None:
        self._queues, self._sequence, self._lock = list[ObserverQueue](), count(), Lock()

    def observe(
        self,
        name: str,
        observer: Observer,
        accepts: EventFilter = bool,
        *,
        priority: int = 0,
        max_queued: int = MAX_QUEUED_EVENTS,
    ) -> Callable[[], None]:
        """Register an observer for the events that it accepts; returns what unregisters it."""
        queue = ObserverQueue(name, observer, accepts, priority, max_queued)
        with self._lock:
            queue.sequence = next(self._sequence)
            self._queues = sorted([*self._queues, queue], key=lambda item: item.priority)

        def unregister() -> None:
            self._remove(queue)
            queue.close(monotonic() + _CLOSE_TIMEOUT_S)

        return unregister

    def publish(self, build_event: Callable[[], Object]) -> Object:
        """Build an event under the lock and enqueue it for all observers: one order for everybody."""
        with self._lock:
            event = build_event()
            line = encode_line(event)
            for queue in self._queues:
                if queue.accepts(event):
                    queue.enqueue(line)
        return event

    def list_queues(self) -> list[ObserverQueue]:
        """The queues of all observers."""
        with self._lock:
            return list(self._queues)

    def close(self) -> list[ObserverQueue]:
        """Drain and end all observers; returns their queues."""
        deadline = monotonic() + _CLOSE_TIMEOUT_S
        # The last registered ends first: what it does meanwhile is still seen by those before it, and by the log.
        queues = sorted(self.list_queues(), key=lambda item: -item.sequence)
        for queue in queues:
            self._remove(queue)
            # A lossless observer has a deadline of its own: one that hangs does not use it up.
            queue.close(monotonic() + _CLOSE_TIMEOUT_S if queue.is_lossless else deadline)
        return queues

    def _remove(self, queue: ObserverQueue) -> None:
        with self._lock:
            self._queues = [item for item in self._queues if item is not queue]


COMPONENT = "kernel"


class EventIds(Struct, kw_only=True):
    """Ids of an event: its session, which may be known only at the end of the call, the call, and the invocation."""

    session_id: str | None = None
    request_id: str | None = None
    span_id: str | None = None


class EventEmitter:
    """Emitter of events; `mint` makes ids and `clock` times."""

    def __init__(self, bus: EventBus, mint: Callable[[], str], clock: Callable[[], float]) -> None:
        self.bus, self.mint, self._clock = bus, mint, clock

    @contextmanager
    def emit_after(self, name: str, data: Object | None, *, session_id: str | None = None) -> Iterator[EventIds]:
        """Context of a kernel call: its event is emitted when it ends, with the error if it raised a Fault."""
        ids = EventIds(session_id=session_id, request_id=self.mint())
        try:
            yield ids
        except Fault as fault:
            try:
                self.emit(name, data, ids, status="error", error=fault.error)
            except Fault:  # its data cannot be encoded
                self.emit(name, None, ids, status="error", error=fault.error)
            raise
        self.emit(name, data, ids)

    def emit(self, name: str, data: Object | None, ids: EventIds, **fields: Any) -> Object:
        """Build an event and publish it; bad_request where it cannot be encoded."""
        try:
            return self.bus.publish(lambda: self.build_event(name, data, ids, **fields))
        except JSON_ENCODE_ERRORS as problem:
            raise Fault("bad_request", f"what {name} tells cannot be written as JSON: {problem}") from None

    def build_event(
        self, name: str, data: Object | None, ids: EventIds, *, error: ErrorInfo | None = None, **fields: Any
    ) -> Object:
        """The document of an event of this moment; fields without a value are left out."""
        document: Object = {"id": self.mint(), "ts": round(self._clock(), 6), "event": name, "component": COMPONENT}
        optional: Object = {**fields, "data": data, "error": error and error_document(error)["error"]}
        optional |= {name: value for name in EventIds.__struct_fields__ if type(value := getattr(ids, name)) is str}
        return document | {name: value for name, value in optional.items() if value is not None}
