"""Report of the peers: what one call of each costs beside ours; benchmarks/peers.json is one of these."""

from pathlib import Path

from msgspec import Struct
from msgspec.json import decode

OURS_FUNCTION, OURS_COMMAND, OURS_NO_HOOKS = "hookonce, function hook", "hookonce, command hook", "hookonce, no hooks"
RESULTS = Path(__file__).resolve().parent / "results.json"
PAYLOADS = ("ls -la", "rm -rf /", "git push --force")
PAUSES_MS = (0, 50)  # none, and as long as an agent takes at least between two calls


class PeerProgram(Struct, frozen=True, kw_only=True):
    """A program that was called, and what it said to each payload: passes, denies or asks."""

    name: str
    words: str
    version: str = ""
    licence: str = ""
    is_peer: bool = False  # another's package, and no program of ours
    verdicts: dict[str, str] = {}


class PeerRow(Struct, frozen=True, kw_only=True):
    """Milliseconds of one program, asked one thing, with or without a pause between calls."""

    name: str
    payload: str
    pause_ms: int
    calls: int
    p50_ms: float
    p99_ms: float
    errors: int
    cold: int | None = None  # of ours: calls that the daemon should have answered and did not


class PeerReport(Struct, frozen=True, kw_only=True):
    """One run, in which all of them took turns."""

    hookonce: str
    date: str
    machine: str
    load: float
    rounds: int
    programs: list[PeerProgram]
    rows: list[PeerRow]
    missing: dict[str, str]  # name and reason

    def p50_ms(self, name: str, payload: str, pause_ms: int) -> float:
        """The median of one program."""
        return next(
            row.p50_ms for row in self.rows if (row.name, row.payload, row.pause_ms) == (name, payload, pause_ms)
        )

    def least_ratio(self, name: str) -> float:
        """How many times as long as our function hook it takes, where it comes closest to it."""
        return min(
            row.p50_ms / self.p50_ms(OURS_FUNCTION, row.payload, row.pause_ms) for row in self.rows if row.name == name
        )


def load_report() -> PeerReport | None:
    """The report that was kept last."""
    return decode(RESULTS.read_bytes(), type=PeerReport) if RESULTS.exists() else None
