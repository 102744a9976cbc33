"""Replay of the recorded sessions that are bundled: decoded side by side, or called through the real client."""

from collections.abc import Iterator
from importlib.resources import files
from time import monotonic, sleep

from msgspec import Struct
from msgspec.json import decode as parse

from hookonce import agents
from hookonce.agents import decode
from hookonce.base.ids import StreamIds
from hookonce.base.jsontext import dump
from hookonce.base.spawn import run
from hookonce.client.sandbox_home import SandboxHome
from hookonce.model import Object, Record


def list_recordings() -> list[str]:
    """List the agents whose sessions are bundled."""
    names = (file.name for file in (files("hookonce") / "demo" / "recordings").iterdir())
    return sorted(name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))


def read_session(name: str) -> Iterator[Record]:
    """Read one agent's recorded session as records."""
    ids = StreamIds()
    text = (files("hookonce") / "demo" / "recordings" / f"{name}.jsonl").read_bytes()
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


STORY = "story"  # what the recorded sessions lack: something refused, a loop, a sub-agent
_CALL_TIMEOUT_S = 30  # seconds for one call


class ReplayStep(Struct, frozen=True):
    """One recorded call of a hook."""

    agent: str
    event: str
    payload: Object


class ReplayAnswer(Struct, frozen=True):
    """What the agent would have been answered, and after how many seconds."""

    step: ReplayStep
    out: str
    err: str
    code: int
    seconds: float


def load_steps() -> list[ReplayStep]:
    """Load the bundled sessions step by step, whatever agent they are of, and then the story."""
    sessions = [_load_recording(name) for name in list_recordings()]
    sequence: list[ReplayStep] = []
    while sessions:
        sessions = [session_steps for session_steps in sessions if session_steps]
        sequence += [session_steps.pop(0) for session_steps in sessions]
    return sequence + _load_story()


def _load_recording(name: str) -> list[ReplayStep]:
    return [ReplayStep(name, line["event"], line["payload"]) for line in _read_lines(f"recordings/{name}.jsonl")]


def _load_story() -> list[ReplayStep]:
    return [ReplayStep(line["agent"], line["event"], line["payload"]) for line in _read_lines(f"stories/{STORY}.jsonl")]


def _read_lines(name: str) -> list[Object]:
    return [parse(line) for line in (files("hookonce") / "demo" / name).read_bytes().splitlines()]


def replay_steps(home: SandboxHome, queue: list[ReplayStep], pause: float, deadline: float) -> Iterator[ReplayAnswer]:
    """Call the client for each step, with a pause after it, as long as there is time."""
    for step in queue:
        if monotonic() > deadline:
            return
        yield _call_client(home, step)
        sleep(max(0.0, min(pause, deadline - monotonic())))


def _call_client(home: SandboxHome, step: ReplayStep) -> ReplayAnswer:
    command = [str(home.client), step.agent, step.event, "--via", f"{step.agent}/user"]
    start = monotonic()
    process = run(command, dump(step.payload), timeout_s=_CALL_TIMEOUT_S, env=home.environment())
    out, err = (text.decode(errors="replace") for text in (process.stdout, process.stderr))
    return ReplayAnswer(step, out, err, process.returncode, monotonic() - start)
