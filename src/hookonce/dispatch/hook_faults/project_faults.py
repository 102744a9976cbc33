"""Search for hook faults: every hook of every scope that counts for a project, and what holds up all of them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import config_event_of
from hookonce.base import paths, settings, times
from hookonce.base.event_loop import EventLoop
from hookonce.base.terminal_text import pluralize
from hookonce.dispatch.hook_faults import notice
from hookonce.dispatch.hook_faults.history import describe_hook, find_failing_hooks, load_runs
from hookonce.dispatch.hook_faults.manifest_hooks import HookPlace, hook_faults
from hookonce.dispatch.hook_faults.missed_calls import describe_missed_calls, read_missed_calls
from hookonce.dispatch.hook_faults.table import FAULT_KINDS, HookFault, make_fault
from hookonce.dispatch.pause import pause_end
from hookonce.dispatch.request.call_request import call_budget_s
from hookonce.dispatch.select import find_candidates
from hookonce.errors import HookonceError
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.supervise.forked_child import ForkedChild
from hookonce.manifest import discover
from hookonce.manifest.discover import ManifestSource, find_sources, load_last_good, load_source
from hookonce.manifest.load import PROBLEMS_PREFIX
from hookonce.model import Agent, Hook, HookRun, Manifest
from hookonce.secrets import log
from hookonce.trust.pin_store import find_trusted_hook
from hookonce.vocabulary.events import DERIVED_EVENTS
from hookonce.vocabulary.names import hook_name

_DETACHED_EVENT = "session_end"  # nobody waits for these hooks


def machine_faults() -> Iterator[HookFault]:
    """What holds up all hooks of this machine: a pause, and calls that nobody was there to answer."""
    if (end := pause_end()) is not None:
        yield make_fault("paused", times.format_local(end))
    if (missed_calls := read_missed_calls()) is not None:
        yield make_fault("unanswered", describe_missed_calls(missed_calls), path=str(paths.client_path()))


def find_faults(
    project: Path,
    callers: list[Agent],
    environment: Mapping[str, str] = os.environ,
    newest_runs: list[HookRun] | None = None,
) -> Iterator[HookFault]:
    """Every fault of the hooks that count for a project, called by these agents with this environment.

    `newest_runs` are those of its hooks, for whoever must not read the record now.
    """
    candidates, sources = find_candidates(project), find_sources(project)
    is_guarded = any(item.obstacle == "guard" for item in candidates)
    for reason in dict.fromkeys(item.reason for item in candidates if item.obstacle == "guard"):
        yield make_fault("refused", project, reason, path=str(project))
    yield from _lost_manifest()
    hooks: list[tuple[ManifestSource, Hook]] = []
    for source in sources:
        manifest: Manifest | None
        try:
            manifest = load_source(source)
        except (HookonceError, ValueError) as problem:
            manifest = load_last_good(source)
            yield make_manifest_fault(source, problem, manifest)
        hooks += [(source, hook) for hook in (manifest.hooks if manifest is not None else [])]
    refusals = {
        (item.source.path, hook_name(item.hook)): item.reason.partition(": ")[2] or item.reason
        for item in candidates
        if item.obstacle == "policy" and item.hook is not None
    }
    broken_hooks: list[Hook] = []  # of which one knows why without their runs
    for source, hook in hooks:
        title = {"hook": describe_hook(hook), "path": str(source.path)}
        denial = refusals.get((source.path, hook_name(hook)))
        policy_faults = [make_fault("policy", denial)] if denial is not None else []
        for fault in (*_hook_faults(source, hook, project, callers, environment), *policy_faults):
            broken_hooks += [hook] if FAULT_KINDS[fault.kind].is_broken else []
            yield replace(fault, **title, effect=_describe_effect(hook, fault, is_guarded=is_guarded))
    if newest_runs is None:
        newest_runs = load_runs([hook for _, hook in hooks])
    for hook, fault in find_failing_hooks([(hook, _place_of(source, project)) for source, hook in hooks], newest_runs):
        path = next(source.path for source, item in hooks if item is hook)
        if fault.kind != "let_through" or not any(item is hook for item in broken_hooks):
            yield replace(
                fault,
                hook=describe_hook(hook),
                path=str(path),
                effect=_describe_effect(hook, fault, is_guarded=is_guarded),
            )


def _describe_effect(hook: Hook, fault: HookFault, *, is_guarded: bool) -> str:
    """What becomes of the calls that a hook with this fault would judge; empty if it judges none.

    `is_guarded`: hooks that were trusted once and cannot be asked now refuse in its project.
    """
    if not hook.blocking and fault.kind != "blocking":
        return ""
    is_refused = FAULT_KINDS[fault.kind].is_failure and hook.must_answer
    if fault.kind == "late" and hook.handler.timeout_action is not None:
        is_refused = hook.handler.timeout_action == "block"
    elif fault.kind == "untrusted":
        is_refused = (is_guarded and hook.must_answer) or settings.load().untrusted == "deny"
    return "so what it judges is refused" if is_refused else "so what it judges is let through"


def _place_of(source: ManifestSource, project: Path) -> HookPlace:
    folder, own_folder = source.path.parent, project if source.scope == "project" else source.path.parent
    return HookPlace(folder, own_folder, source.scope, source.is_openhook, source.path)


def make_manifest_fault(source: ManifestSource, problem: Exception, last_good: Manifest | None) -> HookFault:
    """The fault of a manifest that cannot be used: the place and what is wrong there, then what is in force."""
    if source.problem is not None:
        reason = f"{source.path} {source.problem}"
    else:
        words = str(problem).removeprefix(f"{source.path}: ").removeprefix(PROBLEMS_PREFIX).removeprefix("$: ")
        reason = f"{source.path}{', ' if words.startswith('line ') else ': '}{words}"
    force = _describe_force(source, last_good)
    return make_fault("manifest", reason.rstrip("."), force, source.path, path=str(source.path))


def _describe_force(source: ManifestSource, last_good: Manifest | None) -> str:
    """What is in force while a manifest cannot be used."""
    if source.scope == "project":
        return "None of its hooks runs"
    if last_good is None:
        return "None of its hooks runs, because there is no earlier good version"
    is_closed = any(hook.must_answer for hook in last_good.hooks)
    effect = ", and what a closed hook of it judges is refused until the file can be read" if is_closed else ""
    return f"Its last good version is in force, with {pluralize(len(last_good.hooks), 'hook')}{effect}"


def _lost_manifest() -> Iterator[HookFault]:
    source = discover.find_lost_source()
    manifest = None if source is None else load_last_good(source)
    if source is not None and manifest is not None:
        count, copy = pluralize(len(manifest.hooks), "hook"), discover.last_good_path(source)
        yield make_fault("gone", source.path, count, copy, path=str(source.path))


def _hook_faults(
    source: ManifestSource, hook: Hook, project: Path, callers: list[Agent], environment: Mapping[str, str]
) -> Iterator[HookFault]:
    if source.scope == "project" and find_trusted_hook(project, source.data, hook) is None:
        yield make_fault("untrusted", "its present version is not trusted")
    yield from hook_faults(hook, _place_of(source, project), environment)
    if source.is_openhook:
        return  # it sets no times
    if hook.event in DERIVED_EVENTS and not settings.load().record:
        yield make_fault("event", "its event is derived from the record, and the setting record is false")
    for reason in _timeout_problems(hook, callers):
        yield make_fault("timeout", reason)


def _timeout_problems(hook: Hook, callers: list[Agent]) -> Iterator[str]:
    """A hook's own time, where an agent does not wait that long; without any agent, where none does."""
    timeout = hook.handler.timeout
    if not timeout or hook.handler.background or hook.event == _DETACHED_EVENT:
        return
    if callers:
        for limit, titles in sorted(_agent_limits(hook.event, callers).items()):
            if timeout > limit:
                yield f"has a timeout of {timeout:g} s, but gets only {limit:g} s on {', '.join(titles)}"
        return
    max_limit = max(_agent_limits(hook.event, map(agents.load, agents.AGENTS)), default=timeout)
    if timeout > max_limit:
        yield f"has a timeout of {timeout:g} s, but no agent waits longer than {max_limit:g} s at this event"


def _agent_limits(event: str, callers: Iterable[Agent]) -> dict[float, list[str]]:
    titles_by_limit: dict[float, list[str]] = {}
    for agent in callers:
        if (native := config_event_of(agent, event)) is not None:
            titles_by_limit.setdefault(call_budget_s(agent, native, None), []).append(agent.title)
    return titles_by_limit


_RECORD_TIMEOUT_S = 0.02  # seconds of work in which the record is read: others wait for it


class FaultSearch(Struct, frozen=True, kw_only=True):
    """Operation that searches for faults in a forked child: files and the record may be slow, and others wait."""

    project: Path
    agent: Agent
    environment: Mapping[str, str]
    find_entry_faults: Callable[[Agent, Path], Sequence[HookFault]] = lambda _agent, _project: ()
    timeout: float

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Search; the result has the notice as its stdout.

        The record is read here: SQLite must not be used on both sides of a fork.
        """
        hooks = [candidate.hook for candidate in find_candidates(self.project) if candidate.hook is not None]
        newest_runs = load_runs(hooks, _RECORD_TIMEOUT_S)

        def search() -> bytes:
            try:
                faults = find_faults(self.project, [self.agent], self.environment, newest_runs)
                entry_faults = self.find_entry_faults(self.agent, self.project)
                text = notice.describe_faults([*machine_faults(), *entry_faults, *faults])
            except Exception as problem:  # noqa: BLE001  whatever somebody has written must not hide that
                log.write(f"broken hooks could not be looked for: {log.format_trace(problem)}")
                text = None
            return (text or "").encode(errors="replace")

        def finish(output: bytes | None) -> None:
            failure = "timeout" if output is None else None
            on_result(OperationResult(code=0, stdout=output or b"", failure=failure))

        return ForkedChild(loop, search, timeout, finish)
