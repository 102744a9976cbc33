"""A thread: one session as its files tell it, its sub-agents' files among them."""

from collections import deque
from pathlib import Path
from time import monotonic

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode

from hookonce import transcripts
from hookonce.derive.calls import OVER
from hookonce.journeys.transcribe import Whose
from hookonce.model import Event, Json
from hookonce.transcripts.reader import Reader
from hookonce.transcripts.reading import Spawn

_NAMED = ("transcript_path", "agent_transcript_path")
_FILES = 512  # of one session
_CALLS, _LONGEST = 64, 1 << 16  # whose own words are remembered, and bytes of them


class Thread:
    """What is known of a session, when its files are looked at next, and how often they will be after its end."""

    def __init__(self, agent: str, session: str, reader: Reader) -> None:
        """No file is known yet."""
        self.agent, self.session, self.reader = agent, session, reader
        self.version: str | None = None
        self.cwd: str | None = None
        self.due: float | None = None
        self.heard = monotonic()
        self.looks: list[float] | None = None  # seconds until each of the last looks, once the session is over
        self._names: dict[str, bool] = {}  # as they were told, and whether they are read
        self._spawns: dict[str, Spawn] = {}

    @property
    def whose(self) -> Whose:
        """Whose files they are."""
        return Whose(agent=self.agent, session=self.session, version=self.version, cwd=self.cwd, spawns=self._spawns)

    @property
    def files(self) -> list[str]:
        """Those that are read."""
        return [name for name, is_read in self._names.items() if is_read]

    @property
    def is_over(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.looks is not None

    def tell(self, event: Event, looks: list[float]) -> None:
        """One more event of it; after an end it is looked at so many times."""
        self.heard = monotonic()
        self.know(event)
        self.looks = list(looks) if event.type in OVER else None

    def know(self, event: Event) -> None:
        """What an event says of where it happens."""
        self.version, self.cwd = event.agent_version or self.version, self.cwd or event.cwd

    def add(self, name: str) -> bool:
        """One more file; whether it is new."""
        new = name not in self._names and len(self._names) < _FILES
        if new:
            self._names[name] = True
        return new

    def drop(self, name: str) -> None:
        """One that cannot be read is not tried again."""
        self._names[name] = False

    def found(self, path: Path, spawned: list[Spawn]) -> list[str]:
        """The files of sub-agents that were started there and are new to us."""
        self._spawns |= {one.id: one for one in spawned}
        return [str(one) for one in self.reader.nested(path, spawned) if self.add(str(one))]


class _Words(Struct):
    transcript_path: Json = None
    agent_transcript_path: Json = None


class Names:
    """Where session files are. What is kept of a call may hide a part of a path, so its own words are remembered."""

    def __init__(self) -> None:
        """Nobody has called yet."""
        self._calls: deque[tuple[bytes, bytes]] = deque(maxlen=_CALLS)

    def note(self, call: bytes, payload: bytes) -> None:
        """A call in its own words."""
        if len(payload) <= _LONGEST:
            self._calls.append((call, payload))

    def of(self, event: Event) -> list[str]:
        """The files that an event names; one that is not there may have lost a part of its name."""
        found = [name for key in _NAMED if type(name := event.data.get(key)) is str and name]
        if all(map(_is_there, found)):
            return found
        said = next((payload for call, payload in self._calls if call == event.id.encode()), b"{}")
        try:
            words = decode(said, type=_Words)
        except (DecodeError, ValidationError, UnicodeDecodeError):
            return found
        return [name for key in _NAMED if type(name := getattr(words, key)) is str and name] or found


def reader_of(event: Event) -> Reader | None:
    """Who can read the files of an event's agent; what was imported from elsewhere has none here."""
    if event.session is None or (event.origin is not None and event.origin.format is not None):
        return None
    return transcripts.load(event.agent) if event.agent in transcripts.TRANSCRIPTS else None


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False
