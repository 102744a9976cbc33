"""Drivers: how each real agent is set up and run without a person, a network or an account.

One module each; DRIVER_MODULES is the only list of them.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from msgspec import Struct

from hookonce.errors import UnknownName
from hookonce.lab.fakes.conversation import Conversation, ModelToolCall
from hookonce.model import Object
from hookonce.vocabulary.names import AGENT_ALIASES


class RunEnv(Struct, frozen=True, kw_only=True):
    """Environment of one run: folders, program, model URL, prompt, MCP command."""

    home: Path
    project: Path
    program: Path
    url: str  # of the scripted model, without a path
    prompt: str
    mcp: list[str]  # the command of the MCP server
    cache: Path  # a folder that runs of this agent may share
    node: Path | None = None


class ExtraRun(Struct, frozen=True, kw_only=True):
    """Extra run that triggers events which the tour does not: a scenario, called or prepared otherwise."""

    scenario: str
    command: Callable[[RunEnv], list[str]] | None = None
    files: Mapping[str, str] = {}
    rules: tuple[Object, ...] = ()


class Driver(Struct, frozen=True, kw_only=True):
    """Driver of one agent.

    `program` is the path among its npm packages (`pins` names them), {platform} being the machine's
    (`linux-x64`). `min_node_version` is the oldest Node.js that it needs, None for machine code. `prepare` writes
    settings before hookonce is installed; `command` and `environment` are the call. `tool_calls` builds a call where
    the agent's tables do not suffice, `extra_arguments` holds arguments that are demanded besides. `unreachable` says
    of claims why they cannot be tried without a terminal; `missing_steps` of steps why the agent has no such thing.
    `extra_runs` trigger events which the tour does not, `expected_events` have to come in one of all these runs besides
    those that every agent has, `unsteady_events` come in some runs only. With `ends_on_refusal` a refused call ends
    the run.
    """

    agent: str
    version: str
    program: str
    min_node_version: int | None = None
    install: tuple[str, ...] = ()
    prepare: Callable[[RunEnv], None]
    command: Callable[[RunEnv], list[str]]
    environment: Callable[[RunEnv], dict[str, str]]
    tool_calls: Mapping[str, Callable[[Object, Conversation], ModelToolCall]] = {}
    extra_arguments: Mapping[str, Object] = {}
    unreachable: Mapping[str, str] = {}
    missing_steps: Mapping[str, str] = {}
    extra_runs: tuple[ExtraRun, ...] = ()
    expected_events: frozenset[str] = frozenset()
    unsteady_events: frozenset[str] = frozenset()
    ends_on_refusal: bool = False
    timeout_s: float = 90.0


DRIVER_MODULES: dict[str, str] = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "copilot-cli": "copilot_cli",
    "opencode": "opencode",
    "qwen-code": "qwen_code",
    "factory-droid": "factory_droid",
    "cline": "cline",
}


@cache
def load_driver(name: str) -> Driver:
    """Load the driver of an agent; its module is imported on the first call."""
    module = DRIVER_MODULES.get(AGENT_ALIASES.get(name, name))
    if module is None:
        raise UnknownName(f"the lab cannot run {name!r}; it can run {', '.join(DRIVER_MODULES)}")
    driver: Driver = import_module(f"hookonce.lab.drivers.{module}").DRIVER
    return driver
