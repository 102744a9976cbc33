"""What happens in a kernel, told as Amplifier Event v1 to everybody who observes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.bus import Bus
from hookonce.modules.protocol import Error, Fault
from hookonce.modules.sense import UNWRITABLE

COMPONENT = "kernel"


class Ids(Struct, frozen=True, kw_only=True):
    """Whose an event is: its session, the call of the kernel, and the invocation."""

    session_id: str | None = None
    request_id: str | None = None
    span_id: str | None = None


class Call(Struct):
    """A call of the kernel that is under way; its session may be known only at its end."""

    ids: Ids


class Teller:
    """One who tells what happens; `mint` makes ids and `clock` times."""

    def __init__(self, bus: Bus, mint: Callable[[], str], clock: Callable[[], float]) -> None:
        """Tell it on a bus."""
        self.bus, self.mint, self._clock = bus, mint, clock

    @contextmanager
    def told(self, name: str, data: Object | None, *, session_id: str | None = None) -> Iterator[Call]:
        """A call of the kernel, and then the event of it: as it went."""
        call = Call(Ids(session_id=session_id, request_id=self.mint()))
        try:
            yield call
        except Fault as fault:
            try:
                self.tell(name, data, call.ids, status="error", error=fault.error)
            except Fault:  # what was asked for cannot even be told
                self.tell(name, None, call.ids, status="error", error=fault.error)
            raise
        self.tell(name, data, call.ids)

    def tell(self, name: str, data: Object | None, ids: Ids, **more: Any) -> Object:
        """Let everybody know; what is told first is heard first."""
        try:
            return self.bus.tell(lambda: self.made(name, data, ids, **more))
        except UNWRITABLE as problem:
            raise Fault("bad_request", f"what {name} tells cannot be written as JSON: {problem}") from None

    def made(self, name: str, data: Object | None, ids: Ids, *, error: Error | None = None, **more: Any) -> Object:
        """The document of something that happens now; what is not known is left out."""
        told: Object = {"id": self.mint(), "ts": round(self._clock(), 6), "event": name, "component": COMPONENT}
        rest: Object = {**more, "data": data, "error": _problem(error)}
        rest |= {field: value for field in Ids.__struct_fields__ if type(value := getattr(ids, field)) is str}
        return told | {field: value for field, value in rest.items() if value is not None}


def _problem(error: Error | None) -> Object | None:
    if error is None:
        return None
    return {"code": error.code, "message": error.message} | ({"details": error.details} if error.details else {})
