"""Hooks of derived events: selected, run one after the other, and recorded; no agent waits for an answer (ADR 0042).

A derived event has happened already, so a refusal has no effect and is named in a gap. Hooks run in the project of
the session, with the environment of the installation: there is no caller.
"""

from collections.abc import Callable
from hashlib import sha256
from time import monotonic

from msgspec.structs import replace

from hookonce.base import ids, process_info, times
from hookonce.base.paths import nearest_folder
from hookonce.dispatch.prepare import digest_content
from hookonce.dispatch.run import CallerContext, HookResult, hooks_task
from hookonce.dispatch.select import SelectedHook, Selection, find_candidates, select_hooks
from hookonce.handlers.operation import Task
from hookonce.handlers.supervise.hook_results import UNKNOWN_ENDING
from hookonce.manifest.discover import find_project
from hookonce.model import SCHEMA, Actor, Decision, Event, Gap, HookRun, Origin, Record
from hookonce.secrets import log
from hookonce.vocabulary.events import HOOK_DEPTH

HOOK_RUNS_EVENT = "vendor.hookonce.hook_runs"
EVENT_BUDGET_S = 54.0  # seconds for all hooks of one event: as much as install gives those of a call
_OWN_ORIGIN = "hookonce"
FinishedRuns = dict[str, tuple[HookRun, list[Gap]]]  # by the digest of the hook


def select_derived_hooks(event: Event) -> Selection:
    """The hooks of all scopes for a derived event, in the project of its session."""
    cwd = nearest_folder(event.cwd or "")
    project = find_project(cwd)
    return select_hooks(event, project, find_candidates(project, event.type, None, (cwd,)))


def derived_hooks_task(
    event: Event,
    selection: Selection,
    caller: CallerContext,
    begun_digests: frozenset[str],
    note_start: Callable[[str], bool],
    finished_runs: FinishedRuns,
) -> Task[Record | None]:
    """Run the selected hooks that have not begun before; the record of all runs, None if some have to wait.

    `begun_digests` are those of hooks that somebody has begun who died since. `note_start` notes one more before it
    begins, or says that this cannot be noted now. `finished_runs` gets each that has ended, and is passed again later.
    """
    runs, gaps = list[HookRun](), list(selection.gaps)
    depth = event.data.get(HOOK_DEPTH)
    caller = replace(caller, depth=depth if type(depth) is int else 0)
    deadline = monotonic() + EVENT_BUDGET_S
    for digest, hook in _number_hooks(selection.hooks).items():
        name = hook.hook.name or hook.hook.event
        if caller.depth >= process_info.MAX_DEPTH:
            gaps.append(_gap("depth", f"{name} was not asked: hooks start agents whose hooks start agents"))
        elif digest in finished_runs:
            runs.append(finished_runs[digest][0])
            gaps += finished_runs[digest][1]
        elif digest in begun_digests:
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
    note = f"{name} gave {answer} to {event.type}, which was derived: it has happened, and nobody waits for an answer"
    log.write(f"derived events: {note} (event {event.id})")
    return [_gap("derived", note)]


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)


def runs_record_id(event_id: str) -> str:
    """The id of the record that says how the hooks of a derived event have run."""
    return ids.derive_id(event_id, HOOK_RUNS_EVENT, "0")


def build_runs_record(event: Event, runs: list[HookRun], gaps: list[Gap]) -> Record:
    """The record of hook runs that follows a derived event, whose own row is never changed; no format writes it."""
    runs_event = Event(
        id=runs_record_id(event.id),
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
