"""Installation status: which agents are on this machine, which of them call us, and what else they would run."""

from collections import Counter
from os.path import isdir
from pathlib import Path
from shutil import which
from typing import Literal

from msgspec import Struct

from hookonce import agents
from hookonce.base import invocation
from hookonce.base.files import FileEditError, read_regular_file
from hookonce.base.invocation import is_own_entry
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.configure import http_policy
from hookonce.configure.entries import build_entries, entry_event, is_stale_entry
from hookonce.configure.locations import ConfigRoots, config_files, hooks_in, target_file
from hookonce.configure.wrappers import WrappedHook, read_wrapped_hooks
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.model import Agent, Handler, Hook
from hookonce.vocabulary.names import describe_handler

InstallState = Literal["installed", "partly", "outdated", "absent", "unreadable"]
CALLING_STATES: frozenset[InstallState] = frozenset({"installed", "partly", "outdated"})


class ForeignHook(Struct, frozen=True, kw_only=True):
    """A hook in an agent's configuration that is not ours."""

    event: str
    what: str
    path: str
    scope: str
    has_wrapper: bool = False  # whether it runs through us, because `convert` has wrapped it


class ScopeStatus(Struct, frozen=True):
    """Our state in one scope of an agent: the file, and which events lack their entry."""

    scope: str
    path: str
    state: InstallState
    events: int = 0
    missing: list[str] = []
    problem: str | None = None


class BorrowedHooks(Struct, frozen=True, kw_only=True):
    """Hooks of another agent that this one fires as well."""

    agent: str
    path: str
    hooks: int


class InstallStatus(Struct, frozen=True, kw_only=True):
    """The installation status of one agent on this machine."""

    agent: str
    title: str
    program: str | None
    scopes: list[ScopeStatus]
    foreign: list[ForeignHook]
    wrappers: list[WrappedHook]
    borrowed: list[BorrowedHooks]
    crash: str
    late: str
    trust: str | None


def find_agents(roots: ConfigRoots) -> list[Agent]:
    """The agents of this machine: their program is on the path, or their directory in the home."""
    return [
        agent
        for agent in agents.load_all()
        if find_program(agent) or (agent.home is not None and isdir(roots.home / agent.home))  # noqa: PTH112  never raises
    ]


def find_program(agent: Agent) -> str | None:
    """The agent's program, if it is on the path."""
    return next((path for name in agent.config.programs if (path := which(name))), None)


def install_status(agent: Agent, roots: ConfigRoots, client: str) -> InstallStatus:
    """The installation status of one agent."""
    config = agent.config
    own_files = {target_file(agent, scope, roots) for scope in config.files}
    return InstallStatus(
        agent=agent.name,
        title=agent.title,
        program=find_program(agent),
        scopes=[_scope_status(agent, scope, roots, client) for scope in ("user", "project") if scope in config.files],
        foreign=foreign_hooks(agent, roots, client),
        wrappers=read_wrapped_hooks(agent, roots),
        borrowed=[loan for name in config.borrows for loan in _borrowed_hooks(agents.load(name), roots, own_files)],
        crash=config.crash,
        late=config.on_timeout,
        trust=config.trust,
    )


def find_entry_faults(agent: Agent, roots: ConfigRoots, client: str) -> list[HookFault]:
    """Events at which an agent that calls us has lost our entries, in each scope that has some."""
    scopes = [scope for scope in install_status(agent, roots, client).scopes if scope.state in CALLING_STATES]
    events = [event for event in (scopes[0].missing if scopes else []) if all(event in one.missing for one in scopes)]
    if not events:
        return []
    return [make_fault("drift", agent.title, ", ".join(events), scopes[0].path, agent.name, path=scopes[0].path)]


def _scope_status(agent: Agent, scope: str, roots: ConfigRoots, client: str) -> ScopeStatus:
    path = target_file(agent, scope, roots)
    agent_hooks = read_agent_hooks(agent, roots)
    parse_problem = next((text for _, file, text in agent_hooks.problems if file == path), None)
    if parse_problem is not None:
        return ScopeStatus(scope, str(path), "unreadable", problem=parse_problem)
    targets = [hook.handler.target for _, file, hook in agent_hooks.hooks if file == path]
    own_hooks = [hook for _, _, hook in agent_hooks.hooks if _is_entry_of(hook, agent, scope)]
    if not own_hooks:
        return ScopeStatus(scope, str(path), "absent")
    address = http_policy.current_address(own_hooks, roots.project)
    new_handlers = [hook.handler for hook in build_entries(agent, scope, client, address=address)]
    expected = {entry_event(handler.target): handler for handler in new_handlers}
    current = {hook.handler.target: hook.handler for hook in own_hooks}
    missing = sorted(expected.keys() - {entry_event(command) for command in current})
    pairs = [(handler, expected.get(entry_event(command), handler)) for command, handler in current.items()]
    state: InstallState = "partly" if missing else "installed"
    if (
        any(not is_own_entry(command, client) or _posts_elsewhere(command, address) for command in current)
        or any(_differs(handler, new) for handler, new in pairs)
        or any(is_stale_entry(target, client, agent) for target in targets)
    ):
        state = "outdated"
    obstacle = http_policy.listener_obstacle(roots.project) if http_policy.has_http_entry(own_hooks) else None
    problem = None if obstacle is None else f"no hook runs for events over HTTP: {obstacle}"
    return ScopeStatus(scope, str(path), state, events=len(current), missing=missing, problem=problem)


def _differs(handler: Handler, new: Handler) -> bool:
    """Whether an entry is not as it would be written now; an agent need not tell the timeout of one."""
    is_same = (handler.target, handler.headers) == (new.target, new.headers)
    return not is_same or handler.timeout not in (None, new.timeout)


def _posts_elsewhere(command: str | None, address: HttpAddress | None) -> bool:
    call = invocation.parse_command(command or "")
    is_http = call is not None and invocation.is_address(call.client)
    return is_http and (call is None or address is None or call.client != address.base)


def _is_entry_of(hook: Hook, agent: Agent, scope: str) -> bool:
    call = invocation.parse_command(hook.handler.target or "")
    return call is not None and call.via == f"{agent.name}/{scope}"


class AgentHooks(Struct, frozen=True):
    """The hooks that an agent finds, each with scope and file, and the files that could not be read, and why."""

    hooks: list[tuple[str, Path, Hook]]
    problems: list[tuple[str, Path, str]]


def read_agent_hooks(agent: Agent, roots: ConfigRoots) -> AgentHooks:
    """Read every hook that the agent finds; one broken file does not hide the others."""
    agent_hooks = AgentHooks([], [])
    for scope, path in config_files(agent, roots):
        try:
            hooks, _ = hooks_in(agent, path, read_regular_file(path))
        except FileEditError as problem:
            agent_hooks.problems.append((scope, path, f"{path}: {problem}"))
        except OSError as problem:
            agent_hooks.problems.append((scope, path, f"{path} cannot be read: {problem.strerror}"))
        else:
            agent_hooks.hooks.extend((scope, path, hook) for hook in hooks)
    return agent_hooks


def foreign_hooks(agent: Agent, roots: ConfigRoots, client: str) -> list[ForeignHook]:
    """The hooks that are not ours."""
    return [
        ForeignHook(
            event=hook.event,
            what=describe_handler(hook.handler),
            path=str(path),
            scope=scope,
            has_wrapper=hook.dialect is not None,
        )
        for scope, path, hook in read_agent_hooks(agent, roots).hooks
        if not is_own_entry(hook.handler.target, client) and not is_stale_entry(hook.handler.target, client, agent)
    ]


def _borrowed_hooks(lender: Agent, roots: ConfigRoots, own_files: set[Path | None]) -> list[BorrowedHooks]:
    """Hooks in a lender's files, but for those that are the borrower's own."""
    counts = Counter(str(path) for _, path, _ in read_agent_hooks(lender, roots).hooks if path not in own_files)
    return [BorrowedHooks(agent=lender.name, path=path, hooks=number) for path, number in counts.items()]
