"""Hooks of derived events: selected, run one after the other, and recorded; no agent waits for an answer (ADR 0042).

A derived event has happened already, so a refusal has no effect and is named in a gap. Hooks run in the project of
the session, with the environment of the installation: there is no caller.
"""

import os
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import monotonic

from msgspec.structs import replace

from hookonce.agents import reports_session_start
from hookonce.base import ids, process_info, settings, times
from hookonce.base.paths import nearest_folder
from hookonce.base.process_info import HandlerRegistry
from hookonce.dispatch.prepare import digest_content
from hookonce.dispatch.response import hook_error_records
from hookonce.dispatch.run import CallerContext, HookResult, hooks_task
from hookonce.dispatch.select import CandidateHook, SelectedHook, Selection, find_candidates, select_hooks
from hookonce.handlers.environment import installed_environment
from hookonce.handlers.operation import Task
from hookonce.handlers.supervise.hook_results import UNKNOWN_ENDING
from hookonce.manifest.discover import find_project
from hookonce.model import SCHEMA, Actor, Decision, Event, Gap, HookRun, Origin, Record
from hookonce.secrets import log
from hookonce.sessions.recorder import STORE_ERRORS, Recorder
from hookonce.sessions.stored_records import redact_record
from hookonce.store import hook_queue
from hookonce.store.entry import build_entry
from hookonce.store.hook_queue import QueuedEvent
from hookonce.store.integrity.write_guard import guarded_transaction
from hookonce.store.spool.files import load_records
from hookonce.store.writer import Writer
from hookonce.vocabulary.events import HOOK_DEPTH
from hookonce.vocabulary.names import hook_name

__all__ = ["STORE_ERRORS"]
HOOK_RUNS_EVENT = "vendor.hookonce.hook_runs"
EVENT_BUDGET_S = 54.0  # seconds for all hooks of one event: as much as install gives those of a call
_OWN_ORIGIN = "hookonce"
FinishedRuns = dict[str, tuple[HookRun, list[Gap]]]  # by the digest of the hook


def select_derived_hooks(event: Event) -> Selection:
    """The hooks of all scopes for a derived event, in the project of its session."""
    project, candidates = _find_hooks(event)
    return select_hooks(event, project, candidates)


def has_derived_hooks(event: Event) -> bool:
    """Whether a hook is there for a derived event, or nobody can tell; whether it may run is found when it is asked."""
    try:
        return bool(_find_hooks(event)[1])
    except Exception:  # noqa: BLE001  what is wrong there is told when hooks are selected
        return True


def _find_hooks(event: Event) -> tuple[Path, list[CandidateHook]]:
    cwd = nearest_folder(event.cwd or "")
    project = find_project(cwd)
    return project, find_candidates(project, event.type, None, (cwd,))


def derived_hooks_task(
    item: QueuedEvent,
    selection: Selection,
    caller: CallerContext,
    note_start: Callable[[str], bool],
    finished_runs: FinishedRuns,
    budget_s: float = EVENT_BUDGET_S,
) -> Task[Record | None]:
    """Run the selected hooks that have not begun before; the record of all runs, None if some have to wait.

    The event names those that somebody has begun who died since. `note_start` notes one more before it begins, or says
    that this cannot be noted now. `finished_runs` gets each that has ended, and is passed again later.
    """
    if item.record is None:
        return None
    event = item.record.event
    runs, gaps = list[HookRun](), list(selection.gaps)
    depth = event.data.get(HOOK_DEPTH)
    caller = replace(caller, depth=depth if type(depth) is int else 0, decision=item.record.decision)
    deadline = monotonic() + budget_s
    for digest, hook in _number_hooks(selection.hooks).items():
        name = hook_name(hook.hook)
        if caller.depth >= process_info.MAX_DEPTH:
            gaps.append(_gap("depth", f"{name} did not run: hooks start agents whose hooks start agents"))
        elif digest in finished_runs:
            runs.append(finished_runs[digest][0])
            gaps += finished_runs[digest][1]
        elif digest in item.begun_digests:
            runs.append(HookRun(hook=name, scope=hook.scope, failure=UNKNOWN_ENDING))
        elif not note_start(digest):
            return None
        else:
            (result,) = yield from hooks_task([hook], event, caller, deadline)
            hook_gaps = [*result.gaps, *_answer_gaps(event, name, result)]
            finished_runs[digest] = result.run, hook_gaps
            runs.append(result.run)
            gaps += hook_gaps
    return build_runs_record(event, runs, gaps)


def _number_hooks(hooks: list[SelectedHook]) -> dict[str, SelectedHook]:
    """Hooks by a digest of what they run; equal ones are told apart by their number."""
    hooks_by_digest: dict[str, SelectedHook] = {}
    for hook in hooks:
        content = digest_content(hook) + f"\0{hook.scope}\0{hook.folder}".encode(errors="replace")
        digest, number = sha256(content).hexdigest()[:32], 1
        while f"{digest}.{number}" in hooks_by_digest:
            number += 1
        hooks_by_digest[f"{digest}.{number}"] = hook
    return hooks_by_digest


def _answer_gaps(event: Event, name: str, result: HookResult) -> list[Gap]:
    """A gap, and a line of the log, for an answer that would have had an effect on a call."""
    decision = replace(result.decision, reason=None, by=None, system_message=None, suppress_output=None)
    if decision in (Decision(), Decision(outcome="allow")):
        return []
    answer = decision.outcome or "an answer"
    note = (
        f"{name} gave {answer} to {event.type}, a derived event: it has happened already, so a decision has no effect"
    )
    log.write(f"derived events: {note} (event {event.id})")
    return [_gap("derived", note)]


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)


def runs_record_id(event_id: str, index: int = 0) -> str:
    """The id of the record that says how hooks have run after the record of their event: one of several, by index."""
    return ids.derive_id(event_id, HOOK_RUNS_EVENT, str(index))


def build_runs_record(event: Event, runs: list[HookRun], gaps: list[Gap], index: int = 0) -> Record:
    """The record of hook runs that follows an event, whose own row is never changed; no format writes it."""
    runs_event = Event(
        id=runs_record_id(event.id, index),
        schema=SCHEMA,
        type=HOOK_RUNS_EVENT,
        agent=event.agent,
        agent_version=event.agent_version,
        session=event.session,
        time=event.time,  # a session does not last longer because of its hooks
        time_source=event.time_source,
        received=times.now(),
        cwd=event.cwd,
        actor=Actor(type="system"),
        data={"origin_event": event.type, "derived": True, "repeat": True},
        origin=Origin(via=[_OWN_ORIGIN]),
        derived_from=event.id,
    )
    return Record(event=runs_event, runs=runs, gaps=gaps)


_OWN_VARIABLES = ("LANG",)  # what hooks get of our own environment beside that of the installation
_LOCK_TIMEOUT_S = 0.5  # seconds for somebody else's transaction
_START = "session_start"
MAX_START_WAIT_S = 2.0  # seconds for which an agent that ends waits for hooks of a start that it did not tell
START_POLL_S = 0.02  # seconds between two looks at those


def derived_caller(event: Event, registry: HandlerRegistry) -> CallerContext:
    """Where the hooks of a derived event run, and their environment."""
    own_variables = {name: os.environ[name] for name in _OWN_VARIABLES if name in os.environ}
    environment = own_variables | installed_environment()
    return CallerContext(environment=environment, cwd=nearest_folder(event.cwd or ""), handler_registry=registry)


def owner_name(pid: int) -> str:
    """Name of a process that no later one of the same number has: with its start time, where the system tells that."""
    fields = process_info.read_proc_stat(pid)
    return f"{pid}:{fields[19] if fields else ''}"


def has_other_owner(item: QueuedEvent) -> bool:
    """Whether somebody else has begun a hook of an event, and still lives."""
    pids = {owner: owner.partition(":")[0] for owner in item.owners}
    return any(
        pid.isdecimal()
        and int(pid) != os.getpid()
        and process_info.is_process_alive(int(pid))
        and owner_name(int(pid)) == owner
        for owner, pid in pids.items()
    )


def store_runs(recorder: Recorder, event: Event, record: Record) -> None:
    """Store how the hooks of an event have run, and take it out of the queue, both or neither."""
    records = [record, *hook_error_records(replace(record, event=event))] if settings.load().record else []
    entries = [build_entry(redact_record(record)) for record in records]
    recorder.append(entries, lambda connection: hook_queue.remove_events(connection, [event.id]))


def find_untold_start(recorder: Recorder, event: Event) -> QueuedEvent | None:
    """The start of an event's session about which hooks have still to be asked."""
    connection, session = recorder.writer.connection, event.session
    items = [] if session is None else hook_queue.load_session_events(connection, event.agent, session, _START)
    return next((item for item in items if item.record is not None), None)


def complete_end(event: Event, budget_s: float) -> Task[Event]:
    """A session's end completed by store and spool, in a process that answers one call.

    Hooks hear of a derived start before it, in so many seconds; for another process that asks them there is less time.
    """
    if event.session is None or not settings.load().record:
        return event
    started_at = monotonic()
    with Writer(durability=settings.load().durability, lock_timeout_s=_LOCK_TIMEOUT_S) as writer:
        recorder = Recorder(writer, reports_session_start)
        complete_event = recorder.complete_live_end(event, load_records())
        while (item := find_untold_start(recorder, event)) is not None and item.record is not None:
            has_other = has_other_owner(item)
            remaining_s = started_at + (min(budget_s, MAX_START_WAIT_S) if has_other else budget_s) - monotonic()
            if remaining_s <= 0:
                break
            is_asked = not has_other and (yield from _ask_hooks(item, item.record.event, recorder, remaining_s))
            if not is_asked:
                yield START_POLL_S
    return complete_event


def _ask_hooks(item: QueuedEvent, event: Event, recorder: Recorder, budget_s: float) -> Task[bool]:
    """Ask the hooks about a queued event, and take it out of the queue; False if somebody else has begun them."""
    selection, owner = select_derived_hooks(event), owner_name(os.getpid())
    note_start = partial(hook_queue.note_start, recorder.writer.connection, item.id, owner=owner)
    caller = derived_caller(event, process_info)
    record = yield from derived_hooks_task(item, selection, caller, note_start, {}, budget_s)
    if record is None:
        return False
    if selection.hooks or selection.gaps:
        store_runs(recorder, event, record)
    else:
        with guarded_transaction(recorder.writer.connection):
            hook_queue.remove_events(recorder.writer.connection, [event.id])
    return True
