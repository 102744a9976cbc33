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
from hookonce.handlers.verdict import NOT_BLOCKING
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
_MIN_SUCCESSES = 2  # in a row, after which earlier failures are over
_TIMEOUT = "timeout"


class _EventKey(Struct, frozen=True):
    id: str
    time: str


class _RunRecord(Struct, frozen=True):
    """A record as far as its runs are concerned: nothing else of it is decoded."""

    event: _EventKey
    runs: list[HookRun] = []


def load_runs(hooks: list[Hook], max_s: float = inf) -> list[HookRun]:
    """The newest runs of hooks for these events, the newest first, if one has failed; none if nobody can tell.

    `max_s` is for whoever keeps others waiting: only what is read in about so many seconds of work counts, and only of
    hooks that have failed often.
    """
    since, deadline = times.from_seconds(time() - _WINDOW_S) or times.EPOCH_TEXT, thread_time() + max_s
    try:
        spool_records = _load_spooled(max_bytes=_MAX_SPOOL_BYTES if isfinite(max_s) else inf)
        with closing(database.open_reader()) as connection:
            costs = load_hook_costs(connection, RollupFilter(since=since))
            failures = Counter({cost.hook: cost.failures for cost in costs})
            failures.update(run.hook for record in spool_records for run in record.runs if run.failure is not None)
            min_failures = _MIN_FAILURES if isfinite(max_s) else 1
            suspects = [hook for hook in hooks if failures[hook_name(hook)] >= min_failures]
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

    Runs before the last change of a hook's manifest or script do not count: nobody knows yet what it does now.
    """
    for hook, place in hooks:
        key, changed_at = (hook_name(hook), place.scope), _changed_at(hook, place)
        own_runs = [run for run in newest_runs if (run.hook, run.scope) == key]
        runs = [run for run in own_runs if (times.to_seconds(run.started or "") or 0) >= changed_at][:_MAX_RUNS]
        if (fault := _judge_runs(runs, hook)) is not None:
            yield hook, fault


def describe_hook(hook: Hook) -> str:
    """A hook by its name, else by what it runs."""
    return hook.name or describe_handler(hook.handler)


def _event_types(event: str) -> set[str]:
    return {event} | {name for name, broader in BROADER_EVENTS.items() if broader == event}


def _changed_at(hook: Hook, place: HookPlace) -> float:
    """When the hook's manifest or script was changed last, in seconds; 0 if neither is known."""
    script = None
    with suppress(HookonceError):
        script = find_script(resolve_command(place.folder, hook, place.scope), place.folder)
    path = script.path if script is not None else place.folder / hook.handler.file if hook.handler.file else None
    changes = [0.0]
    for file in (path, place.manifest_file):
        with suppress(OSError):
            changes += [] if file is None else [file.stat().st_ctime]  # of a new mode, too
    return max(changes)


def _judge_runs(runs: list[HookRun], hook: Hook) -> HookFault | None:
    """The fault of a hook with these runs, the newest first: the last ones failed, or most; or the very last one."""
    failures = [run.failure for run in runs if run.failure is not None]
    if not failures:
        return None
    in_row = next((index for index, run in enumerate(runs) if run.failure is None), len(runs))
    is_over = all(run.failure is None for run in runs[:_MIN_SUCCESSES])
    is_frequent = len(failures) >= _MIN_FAILURES and 2 * len(failures) >= len(runs) and not is_over
    if in_row < _MIN_FAILURES and not is_frequent:
        return _judge_last_run(runs[0], hook)
    name, count = describe_hook(hook), failures.count(failures[0])
    text = f"{count} of its last {pluralize(len(runs), 'run')}"
    others = f", and {len(failures) - count} failed otherwise" if count < len(failures) else ""
    if failures[0] == _TIMEOUT:
        return make_fault("late", f"{text}{others}", name)
    return make_fault("failing", f"{text} ({failures[0]}){others}", quote(name))


def _judge_last_run(run: HookRun, hook: Hook) -> HookFault | None:
    """The fault of a guard that failed in its last run and so refused nothing."""
    is_guard = (hook.blocking and not hook.handler.background) or run.failure == NOT_BLOCKING
    if run.failure is None or run.outcome is not None or not is_guard:
        return None
    is_timed = run.failure == _TIMEOUT and run.duration_ms
    duration = f" after {round((run.duration_ms or 0) / 1000, 1):g} s" if is_timed else ""
    return make_fault("let_through", f"{run.failure}{duration}", quote(describe_hook(hook)))
