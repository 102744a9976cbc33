"""Replay of the recorded sessions that are bundled: decoded side by side, or called through the real client."""

from collections.abc import Iterator
from importlib.resources import files

from msgspec.json import decode as parse

from hookonce import agents
from hookonce.agents import decode
from hookonce.ids import StreamIds
from hookonce.model import Record


def list_recordings() -> list[str]:
    """List the agents whose sessions are bundled."""
    names = (file.name for file in (files("hookonce") / "recordings").iterdir())
    return sorted(name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))


def read_session(name: str) -> Iterator[Record]:
    """Read one agent's recorded session as records."""
    ids = StreamIds()
    text = (files("hookonce") / "recordings" / f"{name}.jsonl").read_bytes()
    for line in text.splitlines():
        step = parse(line)
        event = decode(agents.load(name), step["payload"], step["event"], id=ids.next(name, line))
        yield Record(event=event)


def interleave_sessions(names: list[str]) -> Iterator[Record]:
    """Interleave the sessions step by step: first events first, whatever agent they are of."""
    open_sessions = [read_session(name) for name in names]
    while open_sessions:
        for session_records in list(open_sessions):
            step = next(session_records, None)
            if step is None:
                open_sessions.remove(session_records)
            else:
                yield step
