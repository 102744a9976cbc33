"""Pending requests: correlation of a module's responses with the requests that wait for them.

Modules that do not echo ids are asked one thing at a time: a response without an id belongs to the only
request there is, and is ambiguous as soon as an earlier one may still be answered.
"""

from contextlib import suppress
from threading import Lock
from typing import Generic, Literal, Protocol, TypeVar

from hookonce.model import Json, Object
from hookonce.modules.protocol.messages import build_error, is_plain_answer

_MAX_ID_DIGITS = 18  # of a number that we may have given
_MAX_ID_CHARS = 60  # shown of an id that no request has
AMBIGUOUS_REASON = "it gave too many answers, and without ids they cannot be assigned"
DeliveryOutcome = Literal["delivered", "late", "stray", "ambiguous"]


class ResponseReceiver(Protocol):
    """Receiver of one response."""

    def set_response(self, document: Object) -> object:
        """Take the response."""


ReceiverT = TypeVar("ReceiverT", bound=ResponseReceiver)


class ResponseWaiter:
    """Thread that waits for a response; `wake_lock` is released then, or when it is its turn to read."""

    __slots__ = ("document", "wake_lock")

    def __init__(self) -> None:
        self.wake_lock = Lock()
        self.wake_lock.acquire()
        self.document: Object | None = None

    def wake(self) -> None:
        """Wake the thread; once is enough."""
        with suppress(RuntimeError):  # it was released before
            self.wake_lock.release()

    def set_response(self, document: Object) -> None:
        """Take the response and wake the thread."""
        self.document = document
        self.wake()


class PendingRequests(Generic[ReceiverT]):
    """Pending requests by id; one thread at a time delivers responses."""

    def __init__(self) -> None:
        self.echoes_ids: bool | None = None  # whether answers bear the ids of their requests: not known yet
        self.has_response = False
        self.last_id = 0  # the highest number that was sent
        self._late_count = 0  # responses to requests that have timed out, and may still come
        self._waiters: dict[int, ReceiverT] = {}

    def __len__(self) -> int:
        return len(self._waiters)

    def add(self, request_id: int, waiter: ReceiverT) -> ReceiverT:
        """Add the receiver of the response to a request."""
        self._waiters[request_id] = waiter
        return waiter

    def remove(self, request_id: int) -> bool:
        """Remove a request; whether it was still pending."""
        return self._waiters.pop(request_id, None) is not None

    def list_waiters(self) -> list[ReceiverT]:
        """All receivers, those first that have waited longest."""
        return list(self._waiters.values())

    def record_timeout(self) -> bool:
        """Count a response that did not come in time; whether it could be taken for that of the next request."""
        self._late_count += 1
        return self.echoes_ids is False

    def deliver(self, document: Object) -> DeliveryOutcome:
        """Deliver a response to its receiver; where there is none, say what the response is."""
        raw_id = document.pop("id", None)
        if raw_id is None:
            return self._deliver_without_id(document)
        request_id = parse_id(raw_id)
        waiter = self._waiters.pop(request_id, None)
        if waiter is not None:
            self.echoes_ids = self.has_response = True
            waiter.set_response(document)
            return "delivered"
        if 0 < request_id <= self.last_id:
            return "late"
        if len(self._waiters) == 1:  # it can only have been meant for this one
            shown_id = str(raw_id)[:_MAX_ID_CHARS]
            self.fail_all(build_error("internal", f"the module answered with the id {shown_id}, which no request has"))
        return "stray"

    def _deliver_without_id(self, document: Object) -> DeliveryOutcome:
        """Without an id it is the answer to the only request there is, if no other can be meant."""
        if self.echoes_ids:
            # What could not be read is refused without an id, even by those who know ids; some answer health and
            # describe to the letter of the specification, which has none.
            is_expected = document.get("ok") is False or is_plain_answer(document)
            is_only = len(self._waiters) == 1 and not self._late_count
            return self._deliver_to_only(document) if is_only and is_expected else "stray"
        if self._waiters and not self._late_count:
            self.echoes_ids = False
            return self._deliver_to_only(document)
        if self._late_count and not self._waiters:
            self._late_count -= 1
            return "late"
        return "ambiguous"

    def _deliver_to_only(self, document: Object) -> DeliveryOutcome:
        self.has_response = True
        self._waiters.popitem()[1].set_response(document)
        return "delivered"

    def fail_all(self, document: Object) -> None:
        """Give the same response to all receivers."""
        with suppress(KeyError):  # the thread of the last one may have timed out at this moment
            while self._waiters:
                self._waiters.popitem()[1].set_response(dict(document))


def parse_id(raw_id: Json) -> int:
    """The id of an answer; some languages make a text of it. One that we have never given is below all of ours."""
    if type(raw_id) is int:
        return raw_id
    return int(raw_id) if type(raw_id) is str and raw_id.isdecimal() and len(raw_id) <= _MAX_ID_DIGITS else -1
