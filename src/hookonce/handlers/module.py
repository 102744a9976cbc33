"""Modules as handlers: an event is given to `on_event`, and what the module answers counts as a hook's answer.

Whoever lives on keeps a module running for the next event; alone, one is started for each.
"""

from collections.abc import Callable
from time import monotonic

from msgspec import Struct
from msgspec.json import encode

from hookonce.handlers.errand import Nothing, Ongoing, Ran
from hookonce.handlers.module_talk import ModuleTalk
from hookonce.model import Object
from hookonce.modules.descriptor import Descriptor, document_of
from hookonce.runtime.loop import Loop
from hookonce.texts import dump

ON_EVENT = "on_event"
_IDLE = 600.0  # seconds without an event
_FAREWELL = 1.0  # seconds for what a module has acknowledged and not yet done
_ACK = b'"accepted":true'
_all: dict[Loop, "Modules"] = {}


class Modules:
    """The modules that run for a loop."""

    def __init__(self, loop: Loop) -> None:
        """None yet."""
        self._loop, self._kept = loop, dict[bytes, ModuleTalk]()
        _all[loop] = self

    def talk(self, descriptor: Descriptor) -> ModuleTalk:
        """The one that a descriptor means; started if it does not run."""
        key = encode([document_of(descriptor), descriptor.folder])
        known = self._kept.get(key)
        if known is None or known.is_over:
            known = self._kept[key] = ModuleTalk(self._loop, descriptor)
        return known

    def tend(self) -> None:
        """End those that nobody has asked for a while."""
        before = monotonic() - _IDLE
        for key, one in list(self._kept.items()):
            if one.is_over or (one.is_idle and one.last < before):
                one.retire(_FAREWELL)
                del self._kept[key]

    def close(self) -> None:
        """End all of them."""
        for one in self._kept.values():
            one.end()
        self._kept.clear()
        _all.pop(self._loop, None)


class Invocation(Struct, frozen=True, kw_only=True):
    """A module to be asked, and for how many seconds its answer is waited for."""

    descriptor: Descriptor
    request: Object
    timeout: float = 0.0

    @property
    def given(self) -> bytes:
        """What is told."""
        return dump(self.request)

    def begin(self, loop: Loop, timeout: float, done: Callable[[Ran], object]) -> Ongoing:
        """Ask it; one that was started for this alone is ended afterwards."""
        kept, began = _all.get(loop), monotonic()
        try:
            talk = kept.talk(self.descriptor) if kept is not None else ModuleTalk(loop, self.descriptor)
        except (OSError, ValueError) as problem:
            failed = Ran(failure=f"not started: {problem}", duration=monotonic() - began)
            loop.at(0, lambda: done(failed))
            return Nothing()

        def told(ran: Ran) -> None:
            if kept is not None:
                done(ran)
            elif _ACK in ran.stdout:  # what it does afterwards would end with it
                talk.retire(min(_FAREWELL, max(0.0, timeout - ran.duration)), lambda: done(ran))
            else:
                talk.end()
                done(ran)

        return talk.ask(self.request, timeout, told)
