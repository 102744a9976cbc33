"""A session that is watched: who has called in it, and when it was last heard of."""

from hookonce import times
from hookonce.model import Event
from hookonce.service.lineage import Lineage, Process

_SURE = 2  # calls by which a process is known to be the agent's


class Watched:
    """A session that has not ended; `gone` is since when its process is, `heard` when it has called us, both steady."""

    __slots__ = ("calls", "event", "gone", "heard", "last", "lineage")

    def __init__(self, last: float = 0.0) -> None:
        """Nobody is known yet."""
        self.lineage: Lineage = ()
        self.calls, self.last = 0, last
        self.event: Event | None = None
        self.gone: float | None = None
        self.heard: float | None = None

    def seen(self, event: Event) -> None:
        """Something was heard of it."""
        self.event = event
        self.last = max(self.last, times.seconds(event.received or event.time) or 0.0)

    def called(self, lineage: Lineage, *, anew: bool) -> None:
        """One more call: whoever was above all of them stays. A session that begins may go on elsewhere."""
        known = () if anew else tuple(one for one in self.lineage if one in lineage)
        self.lineage = known or lineage
        self.calls = self.calls + 1 if known else 1
        self.gone = None

    @property
    def process(self) -> Process | None:
        """The agent's own process, if that is known."""
        return self.lineage[0] if self.lineage and self.calls >= _SURE else None
