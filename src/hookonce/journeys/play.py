"""play: recorded steps of several agents, called through the real client as those agents would call it."""

import subprocess
from collections.abc import Iterator
from importlib.resources import files
from time import monotonic, sleep

from msgspec import Struct
from msgspec.json import decode as parse

from hookonce.journeys.demo import list_recordings
from hookonce.journeys.made_home import SandboxHome
from hookonce.model import Object
from hookonce.texts import dump

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
    return [parse(line) for line in (files("hookonce") / name).read_bytes().splitlines()]


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
    process = subprocess.run(  # noqa: S603  our own client
        command,
        env=home.environment(),
        input=dump(step.payload),
        capture_output=True,
        check=False,
        timeout=_CALL_TIMEOUT_S,
    )
    out, err = (text.decode(errors="replace") for text in (process.stdout, process.stderr))
    return ReplayAnswer(step, out, err, process.returncode, monotonic() - start)
