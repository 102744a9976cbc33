"""status: which agents are on this machine, which of them call us, and what else they would run."""

from pathlib import Path
from shutil import which
from typing import Literal

from msgspec import Struct

from hookonce import agents
from hookonce.agents import config_of
from hookonce.edit.refusal import Refusal
from hookonce.errors import HookonceError
from hookonce.journeys.doors import doors, is_ours
from hookonce.journeys.places import Place, document_of, sources, written
from hookonce.model import Agent, Handler, Hook

State = Literal["installed", "partly", "outdated", "absent", "unreadable"]


class Foreign(Struct, frozen=True, kw_only=True):
    """A hook in an agent's configuration that is not ours."""

    event: str
    what: str
    path: str
    scope: str


class Scope(Struct, frozen=True, kw_only=True):
    """Our state in one scope of an agent: the file, and which events lack their door."""

    scope: str
    path: str
    state: State
    events: int = 0
    missing: list[str] = []
    problem: str | None = None


class Borrowed(Struct, frozen=True, kw_only=True):
    """Hooks of another agent that this one fires as well."""

    agent: str
    path: str
    hooks: int


class Standing(Struct, frozen=True, kw_only=True):
    """One agent on this machine."""

    agent: str
    title: str
    program: str | None
    scopes: list[Scope]
    foreign: list[Foreign]
    borrowed: list[Borrowed]
    crash: str
    late: str
    trust: str | None


def present(place: Place) -> list[Agent]:
    """The agents of this machine: their program is on the path, or their directory in the home."""
    known = [agents.load(name) for name in agents.AGENTS]
    return [agent for agent in known if agent.config and (program(agent) or _has_home(agent, place))]


def program(agent: Agent) -> str | None:
    """The agent's program, if it is on the path."""
    return next((found for name in config_of(agent).programs if (found := which(name))), None)


def _has_home(agent: Agent, place: Place) -> bool:
    return agent.home is not None and (place.home / agent.home).is_dir()


def standing(agent: Agent, place: Place, client: str) -> Standing:
    """What is true of one agent, here and now."""
    config = config_of(agent)
    return Standing(
        agent=agent.name,
        title=agent.title,
        program=program(agent),
        scopes=[_scope(agent, scope, place, client) for scope in ("user", "project") if scope in config.files],
        foreign=foreign(agent, place, client),
        borrowed=[one for name in config.borrows for one in _borrowed(agents.load(name), place)],
        crash=config.crash,
        late=config.late,
        trust=config.trust,
    )


def _scope(agent: Agent, scope: str, place: Place, client: str) -> Scope:
    path = written(agent, scope, place)
    told = str(path)
    try:
        found = [hook for _, _, hook in entries(agent, place) if _calls(hook, agent, scope)]
    except HookonceError as problem:
        return Scope(scope=scope, path=told, state="unreadable", problem=str(problem))
    if not found:
        return Scope(scope=scope, path=told, state="absent")
    wanted = {hook.handler.command: hook.handler.timeout for hook in doors(agent, scope, client)}
    have = {hook.handler.command: hook.handler.timeout for hook in found}
    missing = sorted(_event(command) for command in wanted.keys() - have.keys())
    alien = any(not is_ours(command, client) for command in have)
    late = any(have[command] not in (None, wanted[command]) for command in wanted.keys() & have.keys())
    state: State = "outdated" if alien or late else "partly" if missing else "installed"
    return Scope(scope=scope, path=told, state=state, events=len(have), missing=missing)


def _calls(hook: Hook, agent: Agent, scope: str) -> bool:
    """Whether a hook is a door of this agent and scope, of any hookonce."""
    command = hook.handler.command or ""
    return "/hookonce-on " in command and f" --via {agent.name}/{scope}" in command


def _event(command: str | None) -> str:
    return (command or "").split(" --via")[0].rpartition(" ")[2]


def entries(agent: Agent, place: Place) -> list[tuple[str, Path, Hook]]:
    """Every hook that the agent finds, with scope and file; a file that cannot be read is an error with its name."""
    found = []
    for scope, path in sources(agent, place):
        try:
            document = document_of(agent, path, path.read_bytes())
        except Refusal as problem:
            raise HookonceError(f"{path}: {problem}") from None
        except OSError as problem:
            raise HookonceError(f"{path} cannot be read: {problem.strerror}") from None
        hooks, _ = config_of(agent).parse(agent, document)
        found += [(scope, path, hook) for hook in hooks]
    return found


def foreign(agent: Agent, place: Place, client: str) -> list[Foreign]:
    """The hooks that are not ours; what lies in a file that cannot be read is told elsewhere."""
    try:
        found = entries(agent, place)
    except HookonceError:
        return []
    return [
        Foreign(event=hook.event, what=what_runs(hook.handler), path=str(path), scope=scope)
        for scope, path, hook in found
        if not is_ours(hook.handler.command, client)
    ]


def what_runs(handler: Handler) -> str:
    """A handler in a few words."""
    text = handler.command or handler.url or handler.prompt or next(iter(handler.platform.values()), "")
    return text or f"a handler of type {handler.type}"


def _borrowed(lender: Agent, place: Place) -> list[Borrowed]:
    counts: dict[str, int] = {}
    try:
        for _, path, _ in entries(lender, place):
            counts[str(path)] = counts.get(str(path), 0) + 1
    except HookonceError:
        return []
    return [Borrowed(agent=lender.name, path=path, hooks=number) for path, number in counts.items()]
