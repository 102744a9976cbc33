"""Checks of one agent's configuration (`hookonce doctor`): what keeps hooks from running, and the repair."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from hookonce.agents import config_of
from hookonce.base.files import FileEditError
from hookonce.base.invocation import is_own_entry
from hookonce.configure import http_policy
from hookonce.configure.agent_trust import distrust_reason
from hookonce.configure.changes import FileChange
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots, document_of, resolve_path, target_file
from hookonce.configure.locations import config_files as files_of
from hookonce.configure.merge import editor_of
from hookonce.configure.status import InstallStatus, install_status, read_agent_hooks
from hookonce.diagnose.checks.handlers import command_faults
from hookonce.manifest.load import describe_handler
from hookonce.model import Agent, Hook
from hookonce.trust.consent import hook_digest, is_vouched

_MIN_TIMEOUT_S = 1  # second: less than it takes to start an interpreter on a busy machine
_MISSING = object()


class Diagnosis(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, or that somebody should look at."""

    agent: str | None
    kind: str
    message: str
    path: str | None = None
    mark: str | None = None
    repair: FileChange | None = None


def check_agent(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    """All diagnoses of one agent."""
    agent_hooks = read_agent_hooks(agent, roots)
    for _, path, text in agent_hooks.problems:
        yield Diagnosis(agent=agent.name, kind="unreadable", message=text, path=str(path))
    yield from check_switches(agent, roots)
    if agent_hooks.hooks and (reason := distrust_reason(agent, roots)) is not None:
        yield Diagnosis(agent=agent.name, kind="untrusted", message=reason)
    if not agent_hooks.problems:
        yield from _check_drift(agent, roots, client)
        yield from check_review(agent, roots, client)
        yield from _check_http(agent, roots)
    for scope, path, hook in agent_hooks.hooks:
        yield from _check_hook(agent, scope, path, hook, client)


def check_switches(agent: Agent, roots: ConfigRoots) -> Iterator[Diagnosis]:
    """Settings that turn hooks off."""
    for name, keys, off_value in config_of(agent).switches:
        path = resolve_path(roots, name)
        data = _read_bytes(path)
        try:
            if data is None or editor_of(path).value_at(data, keys, _MISSING) != off_value:
                continue
        except FileEditError:
            continue  # told where its hooks are read
        repair = None
        if config_of(agent).repairable:
            repair = FileChange(path=path, old=data, new=editor_of(path).remove_key(data, keys), agent=agent.name)
        message = f"{agent.title} runs no hooks: {'.'.join(keys)} in {path} turns them off"
        yield Diagnosis(agent=agent.name, kind="disabled", message=message, path=str(path), repair=repair)


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def check_review(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    """Entries of ours that the agent will not run before its user has reviewed them."""
    review = config_of(agent).review
    if review is None:
        return
    data = _read_bytes(resolve_path(roots, review[0])) or b""
    stored_marks = editor_of(resolve_path(roots, review[0])).value_at(data, review[1], {}) or {}
    for _, path in files_of(agent, roots):
        marks = review[2](
            str(path),
            document_of(agent, path, _read_bytes(path) or b""),
            lambda command: is_own_entry(command, client, agent.name),
        )
        missing = [key for key, mark in marks.items() if stored_marks.get(key) != mark]
        if missing:
            message = (
                f"{agent.title} runs none of {len(missing)} entries of ours in {path} before you have reviewed them"
            )
            ending = "there, or with hookonce install --trust"
            yield Diagnosis(agent=agent.name, kind="untrusted", message=f"{message}, {ending}", path=str(path))


def _check_http(agent: Agent, roots: ConfigRoots) -> Iterator[Diagnosis]:
    path = target_file(agent, http_policy.SCOPE, roots)
    if path is None or not http_policy.has_http_entry(
        [hook for _, file, hook in read_agent_hooks(agent, roots).hooks if file == path]
    ):
        return
    for problem in http_policy.http_problems(agent, path, roots):
        yield Diagnosis(agent=agent.name, kind="http", message=problem, path=str(path))


def _check_drift(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    """Entries that are missing or differ from what we would write today."""
    for scope in install_status(agent, roots, client).scopes:
        if scope.state not in {"partly", "outdated"}:
            continue
        missing_text = f"; no door for {', '.join(scope.missing)}" if scope.missing else ""
        message = f"{agent.title}, {scope.scope} scope: our entries are {scope.state}{missing_text}"
        changes = plan_install(agent, scope.scope, roots, client) if config_of(agent).repairable else []
        repair = changes[0] if changes else None
        yield Diagnosis(agent=agent.name, kind="drift", message=message, path=scope.path, repair=repair)


def _check_hook(agent: Agent, scope: str, path: Path, hook: Hook, client: str) -> Iterator[Diagnosis]:
    handler, text = hook.handler, describe_handler(hook.handler)
    where = f"{path}: the hook {text!r} on {hook.event}"
    if handler.command is not None and not is_own_entry(handler.command, client):  # of our own client is told once
        for kind, reason in command_faults(handler.command, scope):
            yield Diagnosis(agent=agent.name, kind=kind, message=f"{where} {reason}", path=str(path))
    if handler.timeout is not None and handler.timeout < _MIN_TIMEOUT_S:
        message = f"{where} has {handler.timeout} s, too short to start a program"
        yield Diagnosis(agent=agent.name, kind="timeout", message=message, path=str(path))
    if not is_vouched(agent, hook, client):
        message = f"{where} is vouched for by nobody"
        yield Diagnosis(
            agent=agent.name, kind="unvouched", message=message, path=str(path), mark=hook_digest(agent, hook)
        )


_CALLING_STATES = frozenset({"installed", "partly", "outdated"})


class BlockedScope(Struct, frozen=True, kw_only=True):
    """One scope of an agent whose entries do not run: switched off, or not trusted."""

    scope: str
    state: Literal["off", "untrusted"]
    why: list[str]


def find_blocked_scopes(agent: Agent, status: InstallStatus, roots: ConfigRoots, client: str) -> list[BlockedScope]:
    """The scopes in which the agent has entries of ours and runs none of them."""
    scopes = [scope for scope in status.scopes if scope.state in _CALLING_STATES]
    if not scopes or any(scope.state == "unreadable" for scope in status.scopes):
        return []
    switch_messages = [diagnosis.message for diagnosis in check_switches(agent, roots)]
    folder_distrust = distrust_reason(agent, roots)
    review_messages = [(diagnosis.path, diagnosis.message) for diagnosis in check_review(agent, roots, client)]
    blocked_scopes = []
    for scope in scopes:
        messages = [message for path, message in review_messages if path == scope.path] + (
            [] if folder_distrust is None else [folder_distrust]
        )
        if switch_messages or messages:
            blocked_scopes.append(
                BlockedScope(
                    scope=scope.scope, state="off" if switch_messages else "untrusted", why=switch_messages + messages
                )
            )
    return blocked_scopes


def scope_states(status: InstallStatus, blocked_scopes: list[BlockedScope]) -> dict[str, str]:
    """The state of each scope of an agent, in a word."""
    return {scope.scope: scope.state for scope in status.scopes} | {
        blocked_scope.scope: blocked_scope.state for blocked_scope in blocked_scopes
    }
