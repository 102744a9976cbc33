"""Call context: the caller's environment and directory, and the spool and deduplication store of this process.

A one-shot process works on files; the daemon keeps most of it in memory.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base import process_info, settings
from hookonce.dispatch import dedup
from hookonce.dispatch.fast_path.manifest_stamps import Stamps
from hookonce.errors import HookonceError
from hookonce.handlers.operation import Task
from hookonce.handlers.supervise.hook_results import CallResults
from hookonce.model import Agent, Event, Record, Stored
from hookonce.secrets import log
from hookonce.store.spool import files
from hookonce.store.spool.lookup import KnownEvent, find_event
from hookonce.trust.pin_store import load_guards

if TYPE_CHECKING:
    from hookonce.dispatch.hook_faults.table import HookFault
    from hookonce.dispatch.run import ObserverJob


def _keep_event(event: Event, _: float) -> Task[Event]:
    yield from ()
    return event


class SpoolWriter(Protocol):
    """Protocol of the spool, in which records are kept first."""

    def append(self, record: Stored, /) -> bool:
        """Append a record, below what was kept of the same event before."""

    def forget(self, event: str, /) -> None:
        """Drop what was kept of an event."""

    def has(self, event: str, /) -> bool:
        """Whether something was kept of an event."""


class CallContext(Struct, frozen=True, kw_only=True):
    """Per-call execution context: what is known of the caller, and the stores and services of this process."""

    environment: Mapping[str, str]  # the caller's, as the next four
    cwd: str
    has_cwd: bool = True  # whether `cwd` is the caller's own, and not only where hooks run
    umask: int = -1  # -1: ours
    pid: int = 0  # 0: ours
    runs_hooks: bool = True  # False: the call was answered before, and is only recorded
    claim: Callable[[str], bool] = dedup.claim_call  # whether the hooks of a call are ours to run, by its id
    add_duration: Callable[[Event], Event] = lambda event: event  # the end of a tool call with the time since its start
    results: CallResults | None = None  # of its hooks, where they outlive this process or one before it
    observers: "list[ObserverJob] | None" = None  # gets hooks that nobody waits for, where they run after the answer
    detaches_observers: bool = False  # where nobody does: whether they run in processes of their own, or are waited for
    start_observers: "Callable[[list[ObserverJob], Record | None, CallContext], object]" = lambda *_: None
    saves_answer: bool = True  # whether the answer is saved, for others that have the same call
    # runs what the answer does not need, at the latest once that has left; in the order in which it is told to
    after_answer: Callable[[Callable[[], object]], object] = lambda work: work()
    # has a record written when nobody waits, once its placeholder is; of a call of so many bytes; whether it will be
    defer_record: Callable[[Stored | None, int, Callable[[], object]], bool] = lambda _placeholder, _size, _write: False
    # what somebody has just looked at, None if nobody has: the manifests above all projects, and whether hooks pause
    shared_stamps: Stamps | None = None
    is_paused: bool | None = None
    current_settings: settings.Settings | None = None  # as they were when the call came, None if nobody has looked
    spool: SpoolWriter
    dedup_store: dedup.DedupStore
    on_record: Callable[[Record], object] = lambda _: None  # gets each record as it was decided
    on_duplicate: Callable[[str], object] = lambda _: None  # gets the id of the record that an event has already
    # a session's end, for hooks, with what it came to, once they were told its start, or after so many seconds
    complete_end: Callable[[Event, float], Task[Event]] = _keep_event
    handler_registry: process_info.HandlerRegistry = process_info
    find_event: Callable[[str], KnownEvent | None] = find_event  # what is recorded of an event
    # faults of our entries in an agent's configuration, by agent and project, where somebody here can read that
    find_entry_faults: Callable[[Agent, Path], Sequence["HookFault"]] = lambda _agent, _project: ()


# What a process has of its own: stores, and who is told of what it does.
_STORE_FIELDS = (
    *("observers", "detaches_observers", "spool", "saves_answer", "defer_record", "dedup_store"),
    *("find_event", "complete_end", "handler_registry", "after_answer"),
)
_CALLBACK_FIELDS = ("on_record", "on_duplicate")


def oneshot_context(
    environment: Mapping[str, str],
    *,
    runs_hooks: bool = True,
    caller_pid: int = 0,
    ancestors: Sequence[tuple[int, str]] | None = None,
) -> CallContext:
    """Context of a one-shot process, which the caller has started itself.

    `caller_pid` is a process below the agent, by default ours; `ancestors` are those above, if they may be gone.
    """
    return CallContext(
        environment=environment,
        cwd=_current_dir(),
        spool=files,
        dedup_store=dedup.disk_store,
        detaches_observers=True,
        runs_hooks=runs_hooks,
        on_record=partial(_note_process, caller_pid or os.getpid(), ancestors),
        complete_end=_complete_end,
    )


def _note_process(caller_pid: int, ancestors: Sequence[tuple[int, str]] | None, record: Record) -> None:
    """Keep the agent's process for the daemon that will end its session; what is recorded nowhere has none."""
    if record.event.session is None or not settings.load().record:
        return
    from hookonce.sessions import agent_process  # the fast path does without

    find_ancestry, drop_shells = agent_process.find_ancestry, agent_process.drop_shells
    agent_process.note_call(record.event, find_ancestry(caller_pid) if ancestors is None else drop_shells(ancestors))


def forked_context(call_context: CallContext) -> CallContext:
    """The same call in a forked child, which works with files, as a one-shot process does."""
    child_context = oneshot_context(call_context.environment, caller_pid=call_context.pid)
    return replace(call_context, **{name: getattr(child_context, name) for name in (*_STORE_FIELDS, *_CALLBACK_FIELDS)})


def _complete_end(event: Event, wait_s: float) -> Task[Event]:
    """A session's end completed by the store; where that cannot be used, hooks hear what the agent has told."""
    from hookonce.dispatch import derived_hooks  # few calls end a session

    try:
        return (yield from derived_hooks.complete_end(event, wait_s))
    except derived_hooks.STORE_ERRORS as problem:
        log.write(f"on {event.agent}: the state of the session is unknown: {log.safe_message(problem)}")
        return event


def _current_dir() -> str:
    """Our directory, also if it was deleted; if nobody can tell, the root, or an error where any project is guarded."""
    with suppress(OSError):
        return str(Path.cwd())
    with suppress(OSError):
        return os.readlink("/proc/self/cwd").removesuffix(" (deleted)")  # noqa: PTH115
    with suppress(LookupError):  # a user without a home has trusted nothing
        if load_guards():
            problem = (
                "the directory of this call is unknown, and hooks of projects are required; call from another directory"
            )
            log.write(problem)
            raise HookonceError(problem)
    return os.sep
