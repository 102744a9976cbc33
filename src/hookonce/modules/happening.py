"""What happens in a kernel, told as Amplifier Event v1 to everybody who observes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.bus import EventBus
from hookonce.modules.protocol import ErrorInfo, Fault
from hookonce.modules.sense import JSON_ENCODE_ERRORS

COMPONENT = "kernel"


class EventIds(Struct, frozen=True, kw_only=True):
    """Ids of an event: its session, the kernel call, and the invocation."""

    session_id: str | None = None
    request_id: str | None = None
    span_id: str | None = None


class KernelCall(Struct):
    """A kernel call that is under way; its session may be known only at its end."""

    ids: EventIds


class EventEmitter:
    """Emitter of events; `mint` makes ids and `clock` times."""

    def __init__(self, bus: EventBus, mint: Callable[[], str], clock: Callable[[], float]) -> None:
        """Emit on a bus."""
        self.bus, self.mint, self._clock = bus, mint, clock

    @contextmanager
    def emit_after(self, name: str, data: Object | None, *, session_id: str | None = None) -> Iterator[KernelCall]:
        """Context of a kernel call: its event is emitted when it ends, with the error if it raised a Fault."""
        call = KernelCall(EventIds(session_id=session_id, request_id=self.mint()))
        try:
            yield call
        except Fault as fault:
            try:
                self.emit(name, data, call.ids, status="error", error=fault.error)
            except Fault:  # what was asked for cannot even be told
                self.emit(name, None, call.ids, status="error", error=fault.error)
            raise
        self.emit(name, data, call.ids)

    def emit(self, name: str, data: Object | None, ids: EventIds, **fields: Any) -> Object:
        """Build an event and publish it; bad_request where it cannot be encoded."""
        try:
            return self.bus.publish(lambda: self.build_event(name, data, ids, **fields))
        except JSON_ENCODE_ERRORS as problem:
            raise Fault("bad_request", f"what {name} tells cannot be written as JSON: {problem}") from None

    def build_event(self, name: str, data: Object | None, ids: EventIds, *, error: ErrorInfo | None = None, **fields: Any) -> Object:
        """The document of an event of this moment; fields without a value are left out."""
        document: Object = {"id": self.mint(), "ts": round(self._clock(), 6), "event": name, "component": COMPONENT}
        optional_fields: Object = {**fields, "data": data, "error": _error_document(error)}
        optional_fields |= {field: value for field in EventIds.__struct_fields__ if type(value := getattr(ids, field)) is str}
        return document | {field: value for field, value in optional_fields.items() if value is not None}


def _error_document(error: ErrorInfo | None) -> Object | None:
    if error is None:
        return None
    return {"code": error.code, "message": error.message} | ({"details": error.details} if error.details else {})
