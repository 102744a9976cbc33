"""Drivers, one module each (DRIVER_MODULES): how a real agent is set up and run without a person or a network."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from msgspec import Struct

from hookonce.base.jsontext import dump
from hookonce.errors import UnknownName
from hookonce.lab.fakes.conversation import Conversation, ModelToolCall
from hookonce.model import Json, Object
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

    @property
    def program_words(self) -> list[str]:
        """The words of a command line that start the agent."""
        return [str(path) for path in (self.node, self.program) if path]

    @property
    def mcp_entry(self) -> Object:
        """The MCP server as most agents have it in their settings."""
        return {"command": self.mcp[0], "args": self.mcp[1:]}


class ExtraRun(Struct, frozen=True, kw_only=True):
    """Extra run that triggers events which the tour does not: a scenario, called or prepared otherwise."""

    scenario: str
    command: Callable[[RunEnv], list[str]] | None = None
    files: Mapping[str, str] = {}
    rules: tuple[Object, ...] = ()


class Driver(Struct, frozen=True, kw_only=True):
    """Driver of one agent: how the lab sets it up and runs it without a person."""

    agent: str  # its name in `agents.AGENTS`
    version: str  # the pinned version, which `lab fetch` fetches
    program: str  # path among its npm packages; {platform} is the machine's, as in linux-x64
    min_node_version: int | None = None  # the oldest Node.js that runs it; None: machine code
    install: tuple[str, ...] = ()  # packages that are installed besides
    # what is in the home before hookonce is installed, by its path there: a document, a text, or None for a folder
    home_files: Callable[[RunEnv], Mapping[str, Json]]
    command: Callable[[RunEnv], list[str]]  # the command line of a run
    environment: Callable[[RunEnv], dict[str, str]]  # the environment of a run
    # builds calls where the agent's tables do not suffice
    tool_calls: Mapping[str, Callable[[Object, Conversation], ModelToolCall]] = {}
    extra_arguments: Mapping[str, Object] = {}  # arguments that a tool demands besides
    unreachable: Mapping[str, str] = {}  # claims that cannot be tried without a terminal, and why
    missing_steps: Mapping[str, str] = {}  # steps that the agent has no such thing for, and why
    extra_runs: tuple[ExtraRun, ...] = ()  # runs for events that the tour does not trigger
    # events that have to come in one of these runs besides those of every agent
    expected_events: frozenset[str] = frozenset()
    unsteady_events: frozenset[str] = frozenset()  # events that come in some runs only
    ends_on_refusal: bool = False  # whether a refused call ends the run
    timeout_s: float = 90.0  # for one run


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


def write_home(driver: Driver, env: RunEnv) -> None:
    """Write the files that the driver's agent finds in its home."""
    for name, content in driver.home_files(env).items():
        path = env.home / name
        (path if content is None else path.parent).mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if type(content) is str else dump(content))
