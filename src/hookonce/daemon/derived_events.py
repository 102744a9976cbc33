"""Hooks of derived events in the daemon: takes events from the store's queue while idle, and asks hooks about them.

Events of one session come one after the other, in their order; sessions do not wait for each other.
"""

import os
from functools import partial
from sqlite3 import Connection
from time import monotonic, time

from hookonce.base import times
from hookonce.base.event_loop import EventLoop
from hookonce.base.process_info import LongLivedRegistry
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.dispatch import pause
from hookonce.dispatch.derived_hooks import (
    MAX_START_WAIT_S,
    START_POLL_S,
    FinishedRuns,
    derived_caller,
    derived_hooks_task,
    find_untold_start,
    has_other_owner,
    owner_name,
    select_derived_hooks,
    store_runs,
)
from hookonce.dispatch.select import Selection
from hookonce.handlers.loop_task import LoopTask
from hookonce.handlers.operation import Task
from hookonce.model import Event, Object, Record
from hookonce.secrets import log
from hookonce.sessions.recorder import Recorder, SessionKey
from hookonce.store import database, hook_queue
from hookonce.store.hook_queue import QueuedEvent
from hookonce.store.integrity.write_guard import guarded_transaction

_BATCH_ROWS = 64  # events that are looked at together
_MAX_TASKS = 8  # sessions whose hooks run at a time
_MAX_AGE_S = 24 * 3600  # seconds after which nobody wants to hear of an event any more


class DerivedEventHooks:
    """Asks hooks about the derived events in the queue, each once."""

    def __init__(self, loop: EventLoop, store_writer: BackgroundStoreWriter, registry: LongLivedRegistry) -> None:
        """Nothing is asked before `schedule` is called."""
        self._loop, self._store_writer, self._registry = loop, store_writer, registry
        self._tasks: dict[SessionKey, LoopTask[Record | None]] = {}
        self._pending_runs: dict[str, tuple[Event, Record]] = {}  # how hooks have run, by the id of their event
        self._finished_runs: dict[str, FinishedRuns] = {}  # of events some of whose hooks have still to begin
        self._is_scheduled, self._is_stopping, self._asked_count = False, False, 0

    @property
    def is_busy(self) -> bool:
        """Whether hooks run."""
        return bool(self._tasks)

    def status(self) -> Object:
        """The part of the status report: events that hooks were asked about, and those about which they are now."""
        return {"asked": self._asked_count, "under_way": len(self._tasks)}

    def schedule(self, other_keys: frozenset[SessionKey] = frozenset()) -> None:
        """Look at the queue when idle; `other_keys` are sessions whose hooks run in a daemon that leaves."""
        if not (self._is_scheduled or self._is_stopping):
            self._is_scheduled = True
            self._loop.call_idle(partial(self._check_queue, other_keys))

    def stop(self) -> None:
        """Begin nothing more; what is in the queue waits for the next daemon."""
        self._is_stopping = True

    def await_start(self, event: Event, wait_s: float) -> Task[None]:
        """Wait until hooks were told the start of an event's session, if it is in the queue; not for long."""
        deadline = monotonic() + min(wait_s, MAX_START_WAIT_S)
        while not self._is_stopping and self._has_untold_start(event) and monotonic() < deadline:
            self.schedule()
            yield START_POLL_S

    def _has_untold_start(self, event: Event) -> bool:
        items: list[QueuedEvent | None] = []
        if database.database_file().exists():
            self._store_writer.run_with_recorder(lambda recorder: items.append(find_untold_start(recorder, event)))
        return any(items)

    def _check_queue(self, other_keys: frozenset[SessionKey]) -> None:
        self._is_scheduled = False
        if not self._is_stopping and database.database_file().exists():  # who wants no record has none made
            self._store_writer.run_with_recorder(partial(self._take_events, set(other_keys)))

    def _take_events(self, other_keys: set[SessionKey], recorder: Recorder) -> None:
        connection, busy_keys = recorder.writer.connection, other_keys | self._tasks.keys()
        items = hook_queue.load_queue(connection, _BATCH_ROWS, busy_keys)
        if not items:
            return
        is_paused, unasked_ids = pause.is_paused(), list[str]()
        for item in items:
            if item.id in self._pending_runs:
                self._store_runs(item.id, recorder)
            elif item.record is None or is_paused or time() - (times.to_seconds(item.queued_at) or 0.0) > _MAX_AGE_S:
                unasked_ids.append(item.id)
                _log_unasked(item, is_paused=is_paused)
            elif has_other_owner(item):  # a daemon that leaves, and stores how its hooks have run
                other_keys.add(_session_key(item.record.event))
            elif self._is_waiting(item.record.event) or _session_key(item.record.event) in other_keys:
                continue
            elif not self._begin(item, item.record.event):
                unasked_ids.append(item.id)
        if unasked_ids:
            self._remove_unasked(connection, unasked_ids)
        has_progress = unasked_ids or other_keys | self._tasks.keys() != busy_keys
        if len(items) == _BATCH_ROWS and has_progress:  # those of other sessions may be behind these
            self.schedule(frozenset(other_keys))

    def _remove_unasked(self, connection: Connection, event_ids: list[str]) -> None:
        for event_id in event_ids:
            self._finished_runs.pop(event_id, None)
        with guarded_transaction(connection):
            hook_queue.remove_events(connection, event_ids)

    def _is_waiting(self, event: Event) -> bool:
        """Whether an event has to wait: for one before it in its session, or because so many are under way."""
        return _session_key(event) in self._tasks or len(self._tasks) >= _MAX_TASKS

    def _begin(self, item: QueuedEvent, event: Event) -> bool:
        """Begin to ask the hooks for an event; whether there is any."""
        try:
            selection = select_derived_hooks(event)
        except Exception as problem:  # noqa: BLE001  whatever is wrong there is no reason to ask for ever
            log.write(f"derived events: {event.type} {event.id}: {log.format_trace(problem)}")
            return False
        if not selection.hooks and not selection.gaps:
            return False
        key = _session_key(event)
        task = derived_hooks_task(
            item,
            selection,
            derived_caller(event, self._registry),
            partial(self._note_start, item.id),
            self._finished_runs.setdefault(item.id, {}),
        )
        self._tasks[key] = call_task = LoopTask(self._loop, task, partial(self._finish, key, event, selection))
        self._loop.call_soon(call_task.resume)
        return True

    def _note_start(self, event_id: str, digest: str) -> bool:
        """Note in the store that a hook begins; whether it may: once that is written it is never begun again."""
        notes: list[bool] = []
        owner = owner_name(os.getpid())
        self._store_writer.run_with_recorder(
            lambda recorder: notes.append(hook_queue.note_start(recorder.writer.connection, event_id, digest, owner))
        )
        return notes == [True]

    def _finish(self, key: SessionKey, event: Event, selection: Selection, record: Record | None) -> None:
        del self._tasks[key]
        if record is not None:
            self._finished_runs.pop(event.id, None)
            self._asked_count += bool(selection.hooks)
            self._pending_runs[event.id] = event, record
            self._store_writer.run_with_recorder(partial(self._store_runs, event.id))
            self.schedule()

    def _store_runs(self, event_id: str, recorder: Recorder) -> None:
        """Store how the hooks of an event have run, and take it out of the queue, both or neither."""
        store_runs(recorder, *self._pending_runs[event_id])
        del self._pending_runs[event_id]


def _session_key(event: Event) -> SessionKey:
    return event.agent, event.session


def _log_unasked(item: QueuedEvent, *, is_paused: bool) -> None:
    if item.record is not None:
        reason = "hooks are paused" if is_paused else "it has waited for a day"
        log.write(f"derived events: no hook is asked about {item.record.event.type} {item.id}: {reason}")
