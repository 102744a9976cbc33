"""Replay of the recorded sessions that are bundled: decoded side by side, or called through the real client."""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import zip_longest
from threading import Event
from time import monotonic
from typing import TypeVar

from msgspec import Struct
from msgspec.json import decode as parse

from hookonce import agents
from hookonce.agents import decode
from hookonce.base.ids import StreamIds
from hookonce.base.jsontext import dump
from hookonce.base.spawn import run
from hookonce.client.sandbox_home import SandboxHome
from hookonce.model import Object, Record

Step = TypeVar("Step")


def list_recordings() -> list[str]:
    """List the agents whose sessions are bundled."""
    names = (file.name for file in (files("hookonce") / "demo" / "recordings").iterdir())
    return sorted(name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))


def read_session(name: str) -> Iterator[Record]:
    """Read one agent's recorded session as records."""
    ids = StreamIds()
    for line in _read_lines(f"recordings/{name}.jsonl"):
        step = parse(line)
        yield Record(event=decode(agents.load(name), step["payload"], step["event"], id=ids.next(name, line)))


def _read_lines(name: str) -> list[bytes]:
    return (files("hookonce") / "demo" / name).read_bytes().splitlines()


def interleave_sessions(sessions: Iterable[Iterable[Step]]) -> list[Step]:
    """Interleave sessions step by step: first steps first, whatever agent they are of."""
    return [step for steps in zip_longest(*sessions) for step in steps if step is not None]


STORY = "story"  # what the recorded sessions lack: something refused, a loop, a sub-agent
_CALL_TIMEOUT_S = 30  # seconds for one call


class ReplayStep(Struct, frozen=True):
    """One recorded call of a hook."""

    agent: str
    event: str
    payload: Object


def load_steps() -> list[ReplayStep]:
    """Load the bundled sessions step by step, whatever agent they are of, and then the story."""
    sessions = [
        [ReplayStep(agent=name, **parse(line)) for line in _read_lines(f"recordings/{name}.jsonl")]
        for name in list_recordings()
    ]
    return interleave_sessions(sessions) + [ReplayStep(**parse(line)) for line in _read_lines(f"stories/{STORY}.jsonl")]


def replay_steps(
    home: SandboxHome, queue: list[ReplayStep], pause: float, deadline: float, stop: Event
) -> Iterator[float]:
    """Call the client for each step, with a pause after it, until time is over or `stop` is set; how long each took."""
    for step in queue:
        if monotonic() > deadline or stop.is_set():
            return
        command, start = [str(home.client), step.agent, step.event, "--via", f"{step.agent}/user"], monotonic()
        run(command, dump(step.payload), timeout_s=_CALL_TIMEOUT_S, env=home.environment())
        yield monotonic() - start
        stop.wait(max(0.0, min(pause, deadline - monotonic())))
