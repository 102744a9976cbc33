"""A run: one call of a real agent, and everything that can be said about it afterwards."""

from itertools import pairwise
from typing import Any

from msgspec import Struct

from hookonce.lab.evidence import impersonal
from hookonce.lab.model import Request
from hookonce.lab.scenarios import SCENARIOS
from hookonce.lab.script import scene_of
from hookonce.lab.talk import Talk
from hookonce.model import Object

_TOLD, _LOOKED_AT = 160, 1000  # characters of an agent's last words


class Heard(Struct, frozen=True):
    """What the lab's hook was given."""

    hook: str
    event: Object


class Run(Struct, frozen=True, kw_only=True):
    """What became of a call. `code` is None for an agent that had to be ended; `called` is what the MCP server heard,
    `killed` which daemons a hook has ended.
    """

    scenario: str
    code: int | None
    out: str
    err: str
    seconds: float
    files: dict[str, str]
    requests: list[Request]
    heard: list[Heard] = []
    called: list[str] = []
    killed: list[int] = []


def talks(run: Run) -> list[Talk]:
    """The conversations that the model was sent, side questions left out."""
    return [one.talk for one in run.requests if one.talk is not None and one.talk.tools]


def was_told(run: Run, text: str) -> bool:
    """Whether the model was ever sent a text."""
    return any(text in said.text for one in run.requests if one.talk for said in one.talk.said)


def of_kind(run: Run, kind: str, **tool: Any) -> list[Object]:
    """The events of a kind that the lab's hook was given, of a tool if one is named."""
    found = [one.event for one in run.heard if one.event.get("type") == kind]
    return [one for one in found if all(one.get("tool", {}).get(key) == value for key, value in tool.items())]


def has_asked(run: Run, text: str) -> bool:
    """Whether a hook was asked about a tool call with that text in its input."""
    return any(text in str(event.get("tool", {}).get("input")) for event in of_kind(run, "before_tool_execute"))


def is_whole(run: Run, *, fragile: bool = False) -> bool:
    """Whether the agent went on to the end of the scenario, and ended well: what did not happen was not left undone.

    Of an agent whose run is over after a refused call, that it ended well is all that can be said.
    """
    turns = len(SCENARIOS[run.scenario].turns)
    scenes = [scene for talk in talks(run) if (scene := scene_of(talk)) is not None]
    reached = any(scene[0] == run.scenario and scene[3] >= turns for scene in scenes)
    return run.code == 0 and (fragile or reached)


def gaps(run: Run) -> list[float]:
    """The seconds from one question of the agent to the next: what it takes to do what the model said."""
    times = [one.at for one in run.requests if one.talk is not None and one.talk.tools]
    return [after - before for before, after in pairwise(times)]


def ending(run: Run) -> str:
    """How it ended."""
    return "the agent had to be ended" if run.code is None else f"the agent ended with exit code {run.code}"


def summary(run: Run) -> str:
    """How it ended, and its last words."""
    told = impersonal(" ".join((run.err or run.out)[-_LOOKED_AT:].split()))[-_TOLD:]
    return f"{ending(run)}; its last words: {told}" if told else ending(run)
