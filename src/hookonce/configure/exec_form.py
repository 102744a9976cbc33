"""Exec form of an entry: a program and its arguments, which the agent starts itself; a shell costs a millisecond.

A version without it ignores `args` and calls our client without arguments; then only the payload says who calls.
"""

import re
from collections.abc import Callable

from hookonce.configure.locations import ConfigRoots
from hookonce.configure.merge import ARGUMENTS_KEY
from hookonce.configure.status import find_agents, find_program
from hookonce.configure.version_probe import program_version, read_version
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.model import Agent, Hook

SCOPE = "user"  # a project's entries find the client of whoever works there, which needs a shell


def has_exec_form(
    agent: Agent, scope: str, roots: ConfigRoots, look_up: Callable[[str], str | None] = program_version
) -> bool:
    """Whether entries are written in the exec form: the agent is here, and every reader of its file knows `args`."""
    if scope != SCOPE or agent.config.exec_since is None or (program := find_program(agent)) is None:
        return False
    return exec_form_obstacle(agent, look_up(program), roots) is None


def exec_form_obstacle(agent: Agent, version: str | None, roots: ConfigRoots) -> str | None:
    """Why a version of an agent needs entries for a shell, None if it needs none."""
    since = agent.config.exec_since
    if since is None or version is None:
        return f"no version of {agent.title} is known that starts a program with args" if since is None else "unknown"
    if _parse_version(version) < _parse_version(since):
        return f"version {version} ignores args, which {agent.title} has since {since}"
    readers = [one.title for one in find_agents(roots) if agent.name in one.config.borrows]
    return f"{' and '.join(readers)} may read the same file, and ignore args" if readers else None


def find_form_fault(agent: Agent, hooks: list[Hook], path: str, roots: ConfigRoots) -> HookFault | None:
    """What the form of our entries in an agent's file has against the version that is here; nothing is started."""
    program, forms = find_program(agent), {is_exec_entry(agent, hook) for hook in hooks}
    version = None if program is None else read_version(program)
    if not forms or version is None or agent.config.exec_since is None:
        return None
    obstacle = exec_form_obstacle(agent, version, roots)
    if obstacle is not None:
        return make_fault("exec_form", agent.title, obstacle, agent.name, path=path) if True in forms else None
    return make_fault("shell_form", agent.title, version, agent.name, path=path) if False in forms else None


def is_exec_entry(agent: Agent, hook: Hook) -> bool:
    """Whether a hook of an agent's file is in the exec form."""
    return ARGUMENTS_KEY in hook.provider_data.get(agent.name, {})


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:3]))
