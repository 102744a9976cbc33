"""A driver: how one real agent is had, set up and run without a person, a network or an account."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from hookonce.lab.talk import Call, Talk
from hookonce.model import Object


class Stand(Struct, frozen=True, kw_only=True):
    """Where a run takes place: everything that a driver may need to know of it."""

    home: Path
    project: Path
    program: Path
    url: str  # of the scripted model, without a path
    prompt: str
    mcp: list[str]  # the command of the MCP server
    cache: Path  # a folder that runs of this agent may share
    node: Path | None = None


class Trip(Struct, frozen=True, kw_only=True):
    """A run that brings about events which the tour does not: a scenario, called or prepared otherwise."""

    scenario: str
    words: Callable[[Stand], list[str]] | None = None
    files: Mapping[str, str] = {}
    rules: tuple[Object, ...] = ()


class Driver(Struct, frozen=True, kw_only=True):
    """One agent in the lab.

    `program` is where the program lies among its npm packages (`pins` names them), {platform} being the machine's
    (`linux-x64`). `node` is the least version of Node.js that it needs, None for machine code. `prepare` writes
    settings before hookonce is installed; `words` and `environment` are the call. `calls` words a step where the
    agent's tables do not suffice, `more` holds arguments that are demanded besides. `unreachable` says of claims (or
    events) why they cannot be tried without a terminal; `lacks` of steps why the agent has no such thing.
    `trips` are runs that bring about events which the tour does not, `expects` the events that have to come in one of
    all these runs besides those that every agent has, `comes_and_goes` events that come in some runs
    only. After a refused call the run of a `fragile` agent is over.
    """

    agent: str
    version: str
    program: str
    node: int | None = None
    install: tuple[str, ...] = ()
    prepare: Callable[[Stand], None]
    words: Callable[[Stand], list[str]]
    environment: Callable[[Stand], dict[str, str]]
    calls: Mapping[str, Callable[[Object, Talk], Call]] = {}
    more: Mapping[str, Object] = {}
    unreachable: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {}
    trips: tuple[Trip, ...] = ()
    expects: frozenset[str] = frozenset()
    comes_and_goes: frozenset[str] = frozenset()
    fragile: bool = False
    patience: float = 90.0
