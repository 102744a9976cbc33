"""Counter of missed calls: our client marks each call that nothing else of ours was there to answer."""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hookonce.base import paths, times
from hookonce.secrets import log

MAX_MISSED_CALLS = 9999  # the client marks no more


class MissedCalls(Struct, frozen=True, kw_only=True):
    """How many calls were missed since the client was put in place, and when the last one was."""

    calls: int
    last: str


def read_missed_calls() -> MissedCalls | None:
    """Read the counter; None where every call was answered."""
    with suppress(OSError):
        status = _counter_file().lstat()
        if status.st_size:
            return MissedCalls(calls=status.st_size, last=times.from_seconds(status.st_mtime) or times.EPOCH_TEXT)
    return None


def describe_missed_calls(missed_calls: MissedCalls) -> str:
    """Describe missed calls in a sentence."""
    count = f"{missed_calls.calls} or more" if missed_calls.calls >= MAX_MISSED_CALLS else str(missed_calls.calls)
    noun = "call of an agent was" if missed_calls.calls == 1 else "calls of agents were"
    last = times.format_local(missed_calls.last)
    return f"{count} {noun} not answered, the last at {last}: neither the daemon nor Python could be started"


def reset_missed_calls() -> None:
    """Reset the counter; our log keeps what was counted."""
    if (missed_calls := read_missed_calls()) is not None:
        log.write(f"client: {describe_missed_calls(missed_calls)}")
    with suppress(OSError):
        _counter_file().unlink()


def _counter_file() -> Path:
    return paths.client_path().with_name("unanswered")
