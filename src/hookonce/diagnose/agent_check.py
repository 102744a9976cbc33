"""Checks of one agent's configuration (`hookonce doctor`): what keeps hooks from running, and the repair."""

from collections.abc import Iterator
from contextlib import suppress
from shutil import which
from typing import Literal

from msgspec import Struct

from hookonce.base.files import FileEditError, read_if_readable
from hookonce.base.invocation import is_own_entry
from hookonce.configure import exec_form, http_policy
from hookonce.configure.agent_trust import distrust_reason
from hookonce.configure.changes import FileChange
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots, config_files, document_of, resolve_path, target_file
from hookonce.configure.merge import editor_of
from hookonce.configure.status import CALLING_STATES, InstallStatus, install_status, read_agent_hooks
from hookonce.configure.version_probe import read_version
from hookonce.configure.wrappers import WrappedHook, describe_wrapped_hooks, read_wrapped_hooks
from hookonce.diagnose.diagnosis import Diagnosis
from hookonce.dispatch.hook_faults.handlers import command_faults
from hookonce.dispatch.hook_faults.table import describe_fault
from hookonce.model import Agent, Hook
from hookonce.trust.consent import find_changes, hook_digest, is_vouched
from hookonce.vocabulary.names import describe_handler

_MIN_TIMEOUT_S = 1  # less than it takes to start an interpreter on a busy machine
_MISSING = object()


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
        yield from _check_form(agent, roots, client)
    wrapped_hooks = read_wrapped_hooks(agent, roots)
    yield from _check_wrapped(agent, wrapped_hooks)
    wrapped_files = {hook.path for hook in wrapped_hooks}
    for scope, path, hook in agent_hooks.hooks:
        is_wrapped = hook.dialect is not None and str(path) in wrapped_files
        for kind, reason in _hook_faults(agent, scope, hook, client, is_wrapped=is_wrapped):
            message = f"{path}: the hook {describe_handler(hook.handler)!r} on {hook.event} {reason}"
            mark = hook_digest(agent, hook) if kind == "unvouched" else None
            yield Diagnosis(agent=agent.name, kind=kind, message=message, path=str(path), mark=mark)


def check_switches(agent: Agent, roots: ConfigRoots) -> Iterator[Diagnosis]:
    """Settings that turn hooks off; a file that cannot be parsed is reported where its hooks are read."""
    config = agent.config
    for name, keys, off_value in config.switches:
        path = resolve_path(roots, name)
        data, editor = read_if_readable(path), editor_of(path)
        with suppress(FileEditError):
            if data is None or editor.value_at(data, keys, _MISSING) != off_value:
                continue
            repair = None
            if config.repairable:
                repair = FileChange(path=path, old=data, new=editor.remove_path(data, keys), agent=agent.name)
            message = f"{agent.title} runs no hooks: {'.'.join(keys)} in {path} turns them off"
            yield Diagnosis(agent=agent.name, kind="disabled", message=message, path=str(path), repair=repair)


def check_review(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    """Entries of ours that the agent will not run before its user has reviewed them."""
    review = agent.config.review
    if review is None:
        return
    state_file, keys, marks_of = resolve_path(roots, review[0]), review[1], review[2]
    stored_marks = editor_of(state_file).value_at(read_if_readable(state_file) or b"", keys, {}) or {}
    for _, path in config_files(agent, roots):
        document = document_of(agent, path, read_if_readable(path) or b"")
        marks = marks_of(str(path), document, lambda command: is_own_entry(command, client, agent.name))
        if count := sum(stored_marks.get(key) != mark for key, mark in marks.items()):
            message = f"{agent.title} does not run {count} hookonce entries in {path} until you have reviewed them"
            message = f"{message}, in the agent or with hookonce install --trust"
            yield Diagnosis(agent=agent.name, kind="untrusted", message=message, path=str(path))


def _check_http(agent: Agent, roots: ConfigRoots) -> Iterator[Diagnosis]:
    path = target_file(agent, http_policy.SCOPE, roots)
    hooks = [hook for _, file, hook in read_agent_hooks(agent, roots).hooks if file == path]
    if path is not None and http_policy.has_http_entry(hooks):
        for problem in http_policy.http_problems(agent, path, roots):
            yield Diagnosis(agent=agent.name, kind="http", message=problem, path=str(path))


def _check_form(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    """Whether the agent's version knows the form of our entries."""
    path = target_file(agent, exec_form.SCOPE, roots)
    hooks = [hook for _, file, hook in read_agent_hooks(agent, roots).hooks if file == path]
    own_hooks = [hook for hook in hooks if is_own_entry(hook.handler.command, client, agent.name)]
    if (fault := exec_form.find_form_fault(agent, own_hooks, str(path), roots)) is not None:
        is_broken = fault.kind == "exec_form" and agent.config.repairable
        changes = plan_install(agent, exec_form.SCOPE, roots, client, has_args=False) if is_broken else []
        repair = changes[0] if changes else None
        message = describe_fault(fault)
        yield Diagnosis(agent=agent.name, kind=fault.kind, message=message, path=fault.path, repair=repair)


def _check_drift(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    for scope in install_status(agent, roots, client).scopes:
        if scope.state in {"partly", "outdated"}:
            missing_text = f"; no entry for {', '.join(scope.missing)}" if scope.missing else ""
            message = f"{agent.title}, {scope.scope} scope: hookonce is {_DRIFT_TEXTS[scope.state]}{missing_text}"
            has_args = exec_form.has_exec_form(agent, scope.scope, roots, read_version)
            is_able = agent.config.repairable
            changes = plan_install(agent, scope.scope, roots, client, has_args=has_args) if is_able else []
            repair = changes[0] if changes else None
            yield Diagnosis(agent=agent.name, kind="drift", message=message, path=scope.path, repair=repair)


def _check_wrapped(agent: Agent, hooks: list[WrappedHook]) -> Iterator[Diagnosis]:
    """How many hooks run through our wrapper, and what keeps some of them from running."""
    for sentence in describe_wrapped_hooks(hooks):
        yield Diagnosis(agent=agent.name, kind="wrapped", message=f"{agent.title}: {sentence}")
    for hook in hooks:
        for fault in hook.faults:
            message = f"{hook.path}: the hook {hook.label} {describe_fault(fault)}"
            yield Diagnosis(agent=agent.name, kind=fault.kind, message=message, path=hook.path)


def _hook_faults(agent: Agent, scope: str, hook: Hook, client: str, *, is_wrapped: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with one entry, as a kind and the end of a sentence; our own client is checked once, elsewhere."""
    command, timeout = hook.handler.command, hook.handler.timeout
    if command is not None and not is_own_entry(command, client) and not is_wrapped:
        for fault in command_faults(command, scope, which):  # it runs as the agent was started
            yield fault.kind, describe_fault(fault)
    if timeout is not None and timeout < _MIN_TIMEOUT_S:
        yield "timeout", f"has a timeout of {timeout} s, too short to start a program"
    if not is_vouched(agent, hook, client):
        changes = find_changes(agent, hook)
        since = f" since {' and '.join(changes)} changed" if changes else ""
        yield "unvouched", f"is not from hookonce, and you have not marked it as known{since}"


_STATE_TEXTS = {"absent": "not installed", "partly": "partly installed"}
_DRIFT_TEXTS = {"partly": "partly installed", "outdated": "installed with entries of an older version"}


class BlockedScope(Struct, frozen=True, kw_only=True):
    """One scope of an agent whose entries do not run: switched off, or not trusted."""

    scope: str
    state: Literal["off", "untrusted"]
    why: list[str]


def find_blocked_scopes(agent: Agent, status: InstallStatus, roots: ConfigRoots, client: str) -> list[BlockedScope]:
    """The scopes in which the agent has entries of ours and runs none of them."""
    scopes = [scope for scope in status.scopes if scope.state in CALLING_STATES]
    if not scopes or any(scope.state == "unreadable" for scope in status.scopes):
        return []
    off = [diagnosis.message for diagnosis in check_switches(agent, roots)]
    distrust = [] if (reason := distrust_reason(agent, roots)) is None else [reason]
    reviews = list(check_review(agent, roots, client))
    reasons = {scope.scope: [one.message for one in reviews if one.path == scope.path] + distrust for scope in scopes}
    state: Literal["off", "untrusted"] = "off" if off else "untrusted"
    return [BlockedScope(scope=name, state=state, why=off + why) for name, why in reasons.items() if off or why]


def scope_states(status: InstallStatus, blocked_scopes: list[BlockedScope]) -> dict[str, str]:
    """The state of each scope of an agent, as a person reads it."""
    states: dict[str, str] = {scope.scope: _STATE_TEXTS.get(scope.state, scope.state) for scope in status.scopes}
    return states | {scope.scope: scope.state for scope in blocked_scopes}
