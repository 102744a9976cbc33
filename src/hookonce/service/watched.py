"""A session that is watched: who has called in it, and when it was last heard of."""

from hookonce import times
from hookonce.model import Event
from hookonce.service.lineage import ProcessAncestry, ProcessIdentity

_MIN_AGENT_CALLS = 2  # calls by which a process is known to be the agent's


class MonitoredSession:
    """An open session; `gone_at` is since when its process is gone, `last_call_at` its last call, both monotonic."""

    __slots__ = ("call_count", "event", "gone", "heard", "last_event_s", "lineage")

    def __init__(self, last_event_s: float = 0.0) -> None:
        """Its process is not known yet."""
        self.ancestry: ProcessAncestry = ()
        self.call_count, self.last_event_s = 0, last_event_s
        self.event: Event | None = None
        self.gone_at: float | None = None
        self.last_call_at: float | None = None

    def add_event(self, event: Event) -> None:
        """Take an event of the session."""
        self.event = event
        self.last_event_s = max(self.last_event_s, times.to_seconds(event.received or event.time) or 0.0)

    def add_call(self, ancestry: ProcessAncestry, *, is_restart: bool) -> None:
        """Take a call: processes above all calls stay. A session that starts again may have moved to another process."""
        shared = () if is_restart else tuple(process for process in self.ancestry if process in ancestry)
        self.ancestry = shared or ancestry
        self.call_count = self.call_count + 1 if shared else 1
        self.gone_at = None

    @property
    def process(self) -> ProcessIdentity | None:
        """The agent's own process, if that is known."""
        return self.ancestry[0] if self.ancestry and self.call_count >= _MIN_AGENT_CALLS else None
