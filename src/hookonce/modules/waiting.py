"""Those who wait for answers of a module, and to whom of them an answer belongs."""

from threading import Lock
from typing import Generic, Literal, Protocol, TypeVar

from hookonce.model import Json, Object
from hookonce.modules.protocol import failed

_DIGITS = 18  # of a number that we may have given
_SHOWN = 60  # characters of an id that is nobody's
Fate = Literal["given", "late", "stray", "ambiguous"]


class Waits(Protocol):
    """Somebody who waits for an answer."""

    def give(self, document: Object) -> object:
        """What they have waited for."""


Somebody = TypeVar("Somebody", bound=Waits)


class Waiter:
    """Somebody who waits for an answer; the bell rings when it is there, or when it is their turn to read."""

    __slots__ = ("bell", "document")

    def __init__(self) -> None:
        self.bell = Lock()
        self.bell.acquire()
        self.document: Object | None = None

    def ring(self) -> None:
        """Wake them up; once is enough."""
        if self.bell.locked():
            try:
                self.bell.release()
            except RuntimeError:  # somebody else rang at the same moment
                return

    def give(self, document: Object) -> None:
        """What they have waited for."""
        self.document = document
        self.ring()


class Waiting(Generic[Somebody]):
    """The waiters by the numbers of their requests; one thread at a time gives out answers."""

    def __init__(self) -> None:
        self.echoes: bool | None = None  # whether answers bear the ids of their requests: not known yet
        self.answered = False
        self.last = 0  # the highest number that was sent
        self._owed = 0  # answers that may still come though nobody waits for them
        self._waiters: dict[int, Somebody] = {}

    def __len__(self) -> int:
        return len(self._waiters)

    def add(self, number: int, waiter: Somebody) -> Somebody:
        """Somebody who waits for the answer to a request."""
        self._waiters[number] = waiter
        return waiter

    def leave(self, number: int) -> bool:
        """They do not wait any more; whether they have until now."""
        return self._waiters.pop(number, None) is not None

    def all(self) -> list[Somebody]:
        """Everybody who waits, those first who have waited longest."""
        return list(self._waiters.values())

    def missed(self) -> bool:
        """An answer did not come in time; whether it is one that could be taken for the answer to the next."""
        self._owed += 1
        return self.echoes is False

    def give(self, document: Object) -> Fate:
        """Give an answer to whom it belongs; if that is nobody, say what is to be thought of it."""
        told = document.pop("id", None)
        if told is None:
            return self._numberless(document)
        number = _number(told)
        waiter = self._waiters.pop(number, None)
        if waiter is not None:
            self.echoes = self.answered = True
            waiter.give(document)
            return "given"
        if 0 < number <= self.last:
            return "late"
        if len(self._waiters) == 1:  # it can only have been meant for this one
            named = str(told)[:_SHOWN]
            self.deny(failed("internal", f"the module answered with the id {named}, which no request has"))
        return "stray"

    def _numberless(self, document: Object) -> Fate:
        """Without an id it is the answer to the only request there is, if no other can be meant."""
        if self.echoes:
            # What could not be read is refused without an id, even by those who know ids.
            meant = len(self._waiters) == 1 and document.get("ok") is False and not self._owed
            return self._only(document) if meant else "stray"
        if self._waiters and not self._owed:
            self.echoes = False
            return self._only(document)
        if self._owed and not self._waiters:
            self._owed -= 1
            return "late"
        return "ambiguous"

    def _only(self, document: Object) -> Fate:
        self.answered = True
        self._waiters.popitem()[1].give(document)
        return "given"

    def deny(self, document: Object) -> None:
        """The same answer for all."""
        while self._waiters:
            try:
                self._waiters.popitem()[1].give(dict(document))
            except KeyError:  # somebody left at this moment
                return


def _number(told: Json) -> int:
    """The id of an answer; some languages make a text of it. One that we have never given is below all of ours."""
    if type(told) is int:
        return told
    return int(told) if type(told) is str and told.isdecimal() and len(told) <= _DIGITS else -1
