"""status: which agents are on this machine, which of them call us, and what else they would run."""

from collections import Counter
from pathlib import Path
from shutil import which
from typing import Literal

from msgspec import Struct

from hookonce import agents, invocation
from hookonce.agents import config_of
from hookonce.edit.refusal import Refusal
from hookonce.journeys import posting
from hookonce.journeys.doors import called, doors, is_ours, is_stale
from hookonce.journeys.places import Place, document_of, sources, written
from hookonce.model import Agent, Handler, Hook
from hookonce.runtime.address import Address

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
    try:
        return agent.home is not None and (place.home / agent.home).is_dir()
    except OSError:
        return False


def standing(agent: Agent, place: Place, client: str) -> Standing:
    """What is true of one agent, here and now."""
    config = config_of(agent)
    own = {written(agent, scope, place) for scope in config.files}
    return Standing(
        agent=agent.name,
        title=agent.title,
        program=program(agent),
        scopes=[_scope(agent, scope, place, client) for scope in ("user", "project") if scope in config.files],
        foreign=foreign(agent, place, client),
        borrowed=[one for name in config.borrows for one in _borrowed(agents.load(name), place, own)],
        crash=config.crash,
        late=config.late,
        trust=config.trust,
    )


def _scope(agent: Agent, scope: str, place: Place, client: str) -> Scope:
    path = written(agent, scope, place)
    told = str(path)
    read = entries(agent, place)
    broken = next((text for _, file, text in read.problems if file == path), None)
    if broken is not None:
        return Scope(scope=scope, path=told, state="unreadable", problem=broken)
    stale = any(file == path and is_stale(called(hook.handler), client, agent) for _, file, hook in read.hooks)
    found = [hook for _, _, hook in read.hooks if _calls(hook, agent, scope)]
    if not found:
        return Scope(scope=scope, path=told, state="absent")
    address = posting.kept(found, place.project)
    wanted = {called(hook.handler): hook.handler for hook in doors(agent, scope, client, address=address)}
    have = {called(hook.handler): hook.handler for hook in found}
    missing = sorted(_event(command) for command in wanted.keys() - have.keys())
    alien = any(not is_ours(command, client) or _is_elsewhere(command, address) for command in have)
    other = any(_differs(have[command], wanted[command]) for command in wanted.keys() & have.keys())
    state: State = "outdated" if alien or other or stale else "partly" if missing else "installed"
    shut = posting.shut(place.project) if posting.posts(found) else None
    return Scope(scope=scope, path=told, state=state, events=len(have), missing=missing, problem=_unheard(shut))


def _is_elsewhere(command: str | None, address: Address | None) -> bool:
    """Whether events are posted where nobody expects them."""
    call = invocation.read(command or "")
    posts = call is not None and invocation.is_address(call.client)
    return posts and (call is None or address is None or call.client != address.base)


def _differs(have: Handler, wanted: Handler) -> bool:
    return have.timeout not in (None, wanted.timeout) or have.headers != wanted.headers


def _unheard(shut: str | None) -> str | None:
    return None if shut is None else f"no hook is asked about what is posted: {shut}"


def _calls(hook: Hook, agent: Agent, scope: str) -> bool:
    """Whether a hook is a door of this agent and scope, of any hookonce."""
    call = invocation.read(called(hook.handler) or "")
    return call is not None and call.via == f"{agent.name}/{scope}"


def _event(command: str | None) -> str:
    call = invocation.read(command or "")
    return (call and call.event) or ""


class Entries(Struct, frozen=True):
    """The hooks that an agent finds, each with scope and file, and the files that could not be read, and why."""

    hooks: list[tuple[str, Path, Hook]]
    problems: list[tuple[str, Path, str]]


def entries(agent: Agent, place: Place) -> Entries:
    """Every hook that the agent finds; one broken file does not hide the others."""
    found = Entries([], [])
    for scope, path in sources(agent, place):
        try:
            document = document_of(agent, path, path.read_bytes())
        except Refusal as problem:
            found.problems.append((scope, path, f"{path}: {problem}"))
            continue
        except OSError as problem:
            found.problems.append((scope, path, f"{path} cannot be read: {problem.strerror}"))
            continue
        hooks, _ = config_of(agent).parse(agent, document)
        found.hooks.extend((scope, path, hook) for hook in hooks)
    return found


def foreign(agent: Agent, place: Place, client: str) -> list[Foreign]:
    """The hooks that are not ours."""
    return [
        Foreign(event=hook.event, what=what_runs(hook.handler), path=str(path), scope=scope)
        for scope, path, hook in entries(agent, place).hooks
        if not is_ours(called(hook.handler), client) and not is_stale(called(hook.handler), client, agent)
    ]


def what_runs(handler: Handler) -> str:
    """A handler in a few words."""
    text = handler.command or handler.url or handler.prompt or handler.file or next(iter(handler.platform.values()), "")
    return text or f"a handler of type {handler.type}"


def _borrowed(lender: Agent, place: Place, own: set[Path | None]) -> list[Borrowed]:
    """Hooks in a lender's files, but for those that are the borrower's own."""
    counts = Counter(str(path) for _, path, _ in entries(lender, place).hooks if path not in own)
    return [Borrowed(agent=lender.name, path=path, hooks=number) for path, number in counts.items()]
