"""play: recorded steps of several agents, called through the real client as those agents would call it."""

import subprocess
from collections.abc import Iterator
from importlib.resources import files
from time import monotonic, sleep

from msgspec import Struct
from msgspec.json import decode as parse

from hookonce.journeys.demo import recorded
from hookonce.journeys.made_home import Home
from hookonce.model import Object
from hookonce.texts import dump

STORY = "story"  # what the recorded sessions lack: something refused, a loop, a sub-agent
_PATIENCE = 30  # seconds for one call


class Step(Struct, frozen=True):
    """One call of a hook."""

    agent: str
    event: str
    payload: Object


class Answer(Struct, frozen=True):
    """What the agent would have been told, and after how many seconds."""

    step: Step
    out: str
    err: str
    code: int
    seconds: float


def steps() -> list[Step]:
    """The bundled sessions step by step, whatever agent they are of, and then the story."""
    sessions = [_session(name) for name in recorded()]
    found: list[Step] = []
    while sessions:
        sessions = [one for one in sessions if one]
        found += [one.pop(0) for one in sessions]
    return found + _story()


def _session(name: str) -> list[Step]:
    return [Step(name, line["event"], line["payload"]) for line in _lines(f"recordings/{name}.jsonl")]


def _story() -> list[Step]:
    return [Step(line["agent"], line["event"], line["payload"]) for line in _lines(f"stories/{STORY}.jsonl")]


def _lines(name: str) -> list[Object]:
    return [parse(line) for line in (files("hookonce") / name).read_bytes().splitlines()]


def play(home: Home, todo: list[Step], pause: float, until: float) -> Iterator[Answer]:
    """Call the client for each step, with a pause after it, as long as there is time."""
    for step in todo:
        if monotonic() > until:
            return
        yield _call(home, step)
        sleep(max(0.0, min(pause, until - monotonic())))


def _call(home: Home, step: Step) -> Answer:
    words = [str(home.client), step.agent, step.event, "--via", f"{step.agent}/user"]
    began = monotonic()
    done = subprocess.run(  # noqa: S603  our own client
        words,
        env=home.environment(),
        input=dump(step.payload),
        capture_output=True,
        check=False,
        timeout=_PATIENCE,
    )
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return Answer(step, out, err, done.returncode, monotonic() - began)
