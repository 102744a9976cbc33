"""Faults of hooks by their newest runs in the record: those that keep failing, and those that are too slow."""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from math import inf, isfinite
from shlex import quote
from sqlite3 import Connection
from time import thread_time, time

from msgspec import Struct
from msgspec.json import decode

from hookonce.base import times
from hookonce.base.terminal_text import pluralize
from hookonce.dispatch.hook_faults.handlers import resolve_command
from hookonce.dispatch.hook_faults.manifest_hooks import HookPlace
from hookonce.dispatch.hook_faults.scripts import find_script
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.errors import HookonceError
from hookonce.model import Hook, HookRun
from hookonce.secrets import log
from hookonce.store import database
from hookonce.store.query import newest_bodies
from hookonce.store.rollup import RollupFilter, load_hook_costs
from hookonce.store.spool import files
from hookonce.vocabulary.events import BROADER_EVENTS
from hookonce.vocabulary.names import describe_handler, hook_name

_WINDOW_S = 7 * 24 * 3600
_PROGRESS_STEPS = 10_000  # of SQLite between two looks at the clock
_MAX_SPOOL_BYTES = 1 << 20  # that are read where somebody waits
_MAX_RECORDS = 200  # of one event type that are looked through
_MAX_RUNS = 10  # of one hook that count
_MIN_FAILURES = 3  # in a row, or at least half of those that count
_TIMEOUT = "timeout"


class _EventKey(Struct, frozen=True):
    id: str
    time: str


class _RunRecord(Struct, frozen=True):
    """A record as far as its runs are concerned: nothing else of it is decoded."""

    event: _EventKey
    runs: list[HookRun] = []


def load_runs(hooks: list[Hook], max_s: float = inf) -> list[HookRun]:
    """The newest runs of hooks for these events, the newest first, if one has failed often; none if nobody can tell.

    `max_s` is for whoever keeps others waiting: only what is read in about so many seconds of work counts.
    """
    since, deadline = times.from_seconds(time() - _WINDOW_S) or times.EPOCH_TEXT, thread_time() + max_s
    try:
        spool_records = _load_spooled(max_bytes=_MAX_SPOOL_BYTES if isfinite(max_s) else inf)
        with closing(database.open_reader()) as connection:
            costs = load_hook_costs(connection, RollupFilter(since=since))
            failures = Counter({cost.hook: cost.failures for cost in costs})
            failures.update(run.hook for record in spool_records for run in record.runs if run.failure is not None)
            suspects = [hook for hook in hooks if failures[hook_name(hook)] >= _MIN_FAILURES]
            stored_records = _load_stored(connection, suspects, since, deadline)
    except (sqlite3.Error, OSError, HookonceError):
        return []
    records_by_id = {record.event.id: record for record in [*stored_records, *spool_records]}
    records = sorted(records_by_id.values(), key=lambda record: record.event.time, reverse=True)
    return [run for record in records for run in record.runs]


def _load_spooled(max_bytes: float) -> list[_RunRecord]:
    """Records of the spool that have runs; none where the spool is longer, because the store cannot be written."""
    with suppress(OSError):
        if sum(entry.stat().st_size for entry in os.scandir(files.spool_dir())) > max_bytes:
            log.write("hooks: the spool is too long to be searched for failing hooks at the start of a session")
            return []
    records = (record for record in files.load_records() if record.runs)
    return [_RunRecord(_EventKey(record.event.id, record.event.time), record.runs) for record in records]


def _load_stored(connection: Connection, suspects: list[Hook], since: str, deadline: float) -> list[_RunRecord]:
    """Records of the store that have runs, until each suspect has enough of them, or time is over."""
    names_by_type: dict[str, set[str]] = {}
    for hook in suspects:
        for event_type in _event_types(hook.event):
            names_by_type.setdefault(event_type, set()).add(hook_name(hook))
    records: list[_RunRecord] = []
    connection.set_progress_handler(lambda: thread_time() > deadline, _PROGRESS_STEPS)
    for event_type, names in names_by_type.items():
        counts = Counter[str]()
        with suppress(sqlite3.OperationalError):  # interrupted: what was read counts
            for body in newest_bodies(connection, event_type, since, _MAX_RECORDS):
                with suppress(ValueError):  # erased or damaged
                    records.append(decode(body, type=_RunRecord))
                    counts.update(run.hook for run in records[-1].runs)
                if thread_time() > deadline or all(counts[name] >= _MAX_RUNS for name in names):
                    break
    return records


def find_failing_hooks(
    hooks: list[tuple[Hook, HookPlace]], newest_runs: list[HookRun]
) -> Iterator[tuple[Hook, HookFault]]:
    """The hooks whose newest runs have failed.

    One that was changed since its last run is not among them: nobody knows yet what it does now.
    """
    for hook, place in hooks:
        key = (hook_name(hook), place.scope)
        runs = [run for run in newest_runs if (run.hook, run.scope) == key][:_MAX_RUNS]
        if runs and (times.to_seconds(runs[0].started or "") or 0) >= _changed_at(hook, place):
            yield from ((hook, fault) for fault in _judge_runs(runs, describe_hook(hook)))


def describe_hook(hook: Hook) -> str:
    """A hook by its name, else by what it runs."""
    return hook.name or describe_handler(hook.handler)


def _event_types(event: str) -> set[str]:
    return {event} | {name for name, broader in BROADER_EVENTS.items() if broader == event}


def _changed_at(hook: Hook, place: HookPlace) -> float:
    """When the hook's script was changed last, in seconds; 0 if it has none."""
    script = None
    with suppress(HookonceError):
        script = find_script(resolve_command(place.folder, hook, place.scope), place.folder)
    path = script.path if script is not None else place.folder / hook.handler.file if hook.handler.file else None
    try:
        return 0.0 if path is None else path.stat().st_ctime  # of a new mode, too
    except OSError:
        return 0.0


def _judge_runs(runs: list[HookRun], name: str) -> Iterator[HookFault]:
    """Whether these runs, the newest first, are those of a hook that is broken: the last ones failed, or most."""
    failures = [run.failure for run in runs if run.failure is not None]
    in_row = next((index for index, run in enumerate(runs) if run.failure is None), len(runs))
    if in_row < _MIN_FAILURES and (len(failures) < _MIN_FAILURES or 2 * len(failures) < len(runs)):
        return
    count = f"{len(failures)} of its last {pluralize(len(runs), 'run')}"
    if failures.count(_TIMEOUT) * 2 > len(failures):
        yield make_fault("late", count, name)
    else:
        yield make_fault("failing", f"{count} ({failures[0]})", quote(name))
