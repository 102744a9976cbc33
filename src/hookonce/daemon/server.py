"""Daemon server: accepts calls on the Unix socket, answers them, and stops when idle or outdated.

Also runs the periodic maintenance of everything that the daemon holds, and builds its status report.
"""

import gc
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from operator import le
from pathlib import Path
from time import monotonic

from hookonce.agents import reports_session_end, transcripts
from hookonce.base import build_id, paths, runtime_dir, wire
from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import dump
from hookonce.base.process_info import LongLivedRegistry, resident_memory_kb
from hookonce.client.daemon_endpoints import FLUSH, STATUS
from hookonce.daemon import connection
from hookonce.daemon.call_timer import CallTimer
from hookonce.daemon.connection import ClientConnection
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.deferred_calls import DeferredCalls
from hookonce.daemon.denied_files import DeniedFileWatcher
from hookonce.daemon.derived_events import DerivedEventHooks
from hookonce.daemon.http.listener import HttpListener
from hookonce.daemon.lifecycle import release_lock, start_successor
from hookonce.daemon.observer_runs import ObserverRuns
from hookonce.daemon.socket_call import LARGE_PAYLOAD_BYTES, SocketCall
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.daemon.stream import Acceptor, open_listener
from hookonce.dispatch import dispatcher, pause
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.fast_path.manifest_stamps import Stamps, is_settled, manifest_stamps
from hookonce.dispatch.hook_faults.table import HookFault
from hookonce.dispatch.live_formats import is_live
from hookonce.errors import HookonceError
from hookonce.handlers.module import ModulePool
from hookonce.handlers.operation import Task
from hookonce.handlers.supervise import watchdog
from hookonce.handlers.supervise.watchdog_pool import WatchdogPool
from hookonce.handlers.workers.pool import WorkerPool
from hookonce.model import Agent, Event, Object, Record
from hookonce.secrets import log
from hookonce.sessions.reaper import SessionReaper
from hookonce.sessions.tailer import TranscriptTailer

_TICK_INTERVAL_S = 2.0  # seconds between two looks at whether we are still wanted
_IDLE_TIMEOUT_S = 900.0  # seconds without a call after which we are not
_SWEEP_INTERVAL_S = 60.0  # seconds between two looks for files that nobody will ask for any more
_BUSY_WINDOW_S = 0.005  # seconds from one call to the next in which nobody has time for anything else
_FULL_GC_EVERY_CALLS = 16
_FLUSH_TIMEOUT_S = 0.25  # seconds; who looks does not wait for much longer
_MAX_LEFT_AGE_S = 60  # seconds for which decisions stay behind when we leave: another entry may yet ask for them


class Daemon:
    """The daemon: one listening Unix socket, and every service that its calls share."""

    _new_calls: list[tuple[ClientConnection, list[bytes]]] | None = None  # while connections are accepted

    def __init__(self, socket_path: Path) -> None:
        """Listen on a socket path, which nobody else uses."""
        self.loop, self.dedup_cache = EventLoop(_log_error), DedupCache()
        self.store_writer = BackgroundStoreWriter(self.loop, lambda: monotonic() - self.last_call_at < _BUSY_WINDOW_S)
        self.journal = self.store_writer.journal
        self.handler_registry = LongLivedRegistry(runtime_dir.find_runtime_dir())
        self.calls_dir = str(runtime_dir.runtime_file("calls", "x").parent)
        self.socket_path, self._build, self._build_dirs = (
            socket_path,
            build_id.running_build_id(),
            build_id.package_folders(),
        )
        self._build_ctimes = build_id.folder_ctimes(self._build_dirs)
        self.call_timer = CallTimer()
        self._deferred_calls = DeferredCalls(self.loop, self.journal, self.dedup_cache, self.call_timer)
        self.worker_pool, self.module_pool = WorkerPool(self.loop), ModulePool(self.loop)
        self.watchdog_pool, self.observer_runs = WatchdogPool(self.loop), ObserverRuns(self.loop)
        self.tailer = TranscriptTailer(self.loop, self.store_writer, transcripts.load, lambda: self.active_calls > 0)
        self.reaper = SessionReaper(self.loop, self.store_writer, reports_session_end)
        self.derived_events = DerivedEventHooks(self.loop, self.store_writer, self.handler_registry)
        self.store_writer.connect_sessions(
            self.tailer, self.reaper.handle_entry, self.tailer.read_before_close, self.derived_events.schedule
        )
        self.denied_files = DeniedFileWatcher(self.loop, self.store_writer, self.journal)
        self.call_context = CallContext(
            environment={},
            cwd=os.sep,
            spool=self.journal,
            start_observers=self.observer_runs.start,
            saves_answer=False,
            defer_record=self._deferred_calls.defer_record,
            dedup_store=self.dedup_cache,
            on_record=self._watch_record,
            add_duration=self.call_timer.add_duration,
            complete_end=self._complete_end,
            handler_registry=self.handler_registry,
            find_event=self.store_writer.find_event,
            find_entry_faults=_find_entry_faults,
        )
        self._stamps: Stamps = []  # of the manifests, when the last call came
        self._isolation = connection.isolation_of()
        self._started_at, self.last_call_at, self._last_sweep_at = monotonic(), monotonic(), 0.0
        self.answered_count, self.active_calls, self._last_gc_count, self._is_stopping = 0, 0, 0, False
        self.sandboxed_count = 0  # calls that a process of their own had to answer: hooks run where the caller is
        listener = open_listener(socket_path)
        self._inode = socket_path.stat().st_ino
        self._acceptor = Acceptor(self.loop, listener, self._accept, "daemon", self._answer_new_calls)
        self.http = HttpListener(self)
        self.http.refresh()
        self.loop.call_later(_TICK_INTERVAL_S, self._run_maintenance)

    def run(self) -> None:
        """Run the event loop until the daemon has stopped and no call is active."""
        while (
            self.loop.has_pending
            or not (self._is_stopping and self.active_calls == 0)
            or self.derived_events.is_busy
            or self.observer_runs.is_busy
        ):
            self.loop.run_once(_TICK_INTERVAL_S)
        while not self._deferred_calls.drain():
            continue
        self.dedup_cache.flush()
        self.watchdog_pool.close()
        self.worker_pool.close()
        self.module_pool.close()
        self.store_writer.close()
        self.journal.close()
        with suppress(OSError, HookonceError):
            runtime_dir.remove_stale_files(doors=_MAX_LEFT_AGE_S, calls=_MAX_LEFT_AGE_S)

    def stop(self) -> None:
        """Stop accepting calls, finish the active ones, remove the socket and release the lock."""
        if self._is_stopping:
            return
        self._is_stopping = True
        self.tailer.stop()
        self.derived_events.stop()
        self._deferred_calls.flush()
        self.dedup_cache.flush()
        self.http.close()
        if self._owns_socket():
            self.socket_path.unlink(missing_ok=True)
        self._acceptor.close()
        release_lock()

    def hand_over(self) -> None:
        """Stop, and have another daemon started if the HTTP port was open: who only posts starts none."""
        has_port = self.http.is_open
        self.stop()
        if has_port:
            start_successor()

    def _owns_socket(self) -> bool:
        try:
            return self.socket_path.lstat().st_ino == self._inode
        except OSError:
            return False

    def _run_maintenance(self) -> None:
        self.loop.call_later(_TICK_INTERVAL_S, self._run_maintenance)
        self.dedup_cache.flush()
        self.store_writer.maintain()
        self.tailer.maintain()
        self.loop.call_idle(self.reaper.check_sessions)
        self.derived_events.schedule()
        self._clean_up()
        dispatcher.refresh_client_files()
        if not self._is_stopping:
            self.http.refresh()
        is_idle = self.active_calls == 0 and not self.http.is_open and monotonic() - self.last_call_at > _IDLE_TIMEOUT_S
        is_idle = is_idle and not (self.reaper.has_open_sessions or self.denied_files.is_waiting)
        is_idle = is_idle and not (self.derived_events.is_busy or self.observer_runs.is_busy)
        if is_idle or not paths.client_path().exists():
            self.stop()
        elif not (self._owns_socket() and self._is_current_build()):
            self.hand_over()
        self._collect_garbage()

    def _clean_up(self) -> None:
        watchdog.reap()
        self.watchdog_pool.end_idle()
        self.worker_pool.end_idle()
        self.module_pool.retire_idle()
        self.dedup_cache.evict_expired()
        if monotonic() - self._last_sweep_at > _SWEEP_INTERVAL_S:
            self._last_sweep_at = monotonic()
            with suppress(OSError, HookonceError):
                runtime_dir.remove_stale_files()

    def _collect_garbage(self) -> None:
        """Collect garbage now, while no caller waits; automatic collection is disabled in the daemon."""
        if self.answered_count != self._last_gc_count:
            self._last_gc_count = self.answered_count
            gc.collect(1 if self.answered_count % _FULL_GC_EVERY_CALLS else 2)

    def _is_current_build(self, *, force: bool = False) -> bool:
        if not force and build_id.folder_ctimes(self._build_dirs) == self._build_ctimes:
            return True
        try:
            return build_id.installed_build_id() == self._build
        except OSError:
            return False

    def is_replaced(self) -> bool:
        """Whether the package was replaced, which stops the daemon: what it would import now is of another build."""
        if build_id.folder_ctimes(self._build_dirs[:1]) == self._build_ctimes[:1]:
            return False
        if self._is_current_build(force=True):
            self._build_ctimes = build_id.folder_ctimes(self._build_dirs)
            return False
        self.hand_over()
        return True

    def _accept(self, sock: socket.socket) -> None:
        if self._new_calls is None:
            self._new_calls = []
        client = ClientConnection(self.loop, sock, self._handle_frame)
        client.notify_close(partial(self._handle_silence, client))
        client.handle_ready()

    def _answer_new_calls(self) -> None:
        calls, self._new_calls = self._new_calls or [], None
        try:
            if calls:
                self._answer_calls(calls)
        except Exception as problem:  # noqa: BLE001  as below; nobody waits for nothing
            for client, _ in calls:
                _close_failed(client, problem)

    def _handle_silence(self, client: ClientConnection) -> None:
        """A client that says nothing does not believe us: it is not confined as we are, or has other namespaces."""
        if any(connection.confinement_of(self._isolation)):
            self.stop()
        elif client.peer_pid and not self._is_stopping:
            isolation = connection.isolation_of(client.peer_pid)
            self.sandboxed_count += isolation not in (b"", self._isolation)

    def _handle_frame(self, client: ClientConnection, frame: bytes) -> None:
        """Handle one whole frame: status query, call, or a client that has to answer without the daemon."""
        client.notify_close(None)
        try:
            fields = wire.decode_fields(frame)
            if client.peer_user != os.getuid():
                client.close()
            elif fields[0] == STATUS and fields[1] == FLUSH:
                self._flush_then(lambda: self._send_status(client), monotonic() + _FLUSH_TIMEOUT_S)
            elif fields[0] == STATUS:
                self._send_status(client)
            elif fields[0] != wire.VERSION or not self._accepts_build(fields[1]):
                client.send(wire.encode_reply(wire.COLD, 0), last=True)
            elif self._new_calls is not None:
                self._new_calls.append((client, fields))
            else:
                self._answer_calls([(client, fields)])
        except Exception as problem:  # noqa: BLE001  as below
            _close_failed(client, problem)

    def _watch_record(self, record: Record) -> None:
        """Take the record of a call as it was decided: the files of a denied one, the time of another."""
        self.call_timer.record_start(record)
        self.denied_files.watch_record(record)

    def _complete_end(self, event: Event, wait_s: float) -> Task[Event]:
        """Complete a session's end for hooks, by all of its calls that came before, once they were told its start."""
        if self._deferred_calls.drain():
            event = self.store_writer.complete_end(event)
            yield from self.derived_events.await_start(event, wait_s)
        return event

    def _flush_then(self, on_flush: Callable[[], object], deadline: float) -> None:
        """Flush deferred calls and pending entries, then call a function; agents that call meanwhile come first."""
        if monotonic() > deadline or (self._deferred_calls.is_flushed and self.store_writer.is_flushed):
            on_flush()
            return
        if self._deferred_calls.is_flushed:
            self.store_writer.flush_batch()
        else:
            self._deferred_calls.flush()
        self.loop.call_idle(partial(self._flush_then, on_flush, deadline))

    def _status(self) -> Object:
        """The status report: process, build, counters, memory, store, transcripts, HTTP."""
        return {
            "pid": os.getpid(),
            "build": self._build,
            "seconds": round(monotonic() - self._started_at, 1),
            "answered": self.answered_count,
            "sandboxed": self.sandboxed_count,
            "under_way": self.active_calls,
            "memory_kb": resident_memory_kb(),
            "store": self.store_writer.status(),
            "transcripts": self.tailer.status(),
            "derived": self.derived_events.status(),
            "observers": self.observer_runs.status(),
            "http": self.http.status(),
        }

    def _send_status(self, client: ClientConnection) -> None:
        client.send(wire.encode_reply(wire.ANSWER, 0, 0, dump(self._status())), last=True)

    def _accepts_build(self, build_id: bytes) -> bool:
        """Whether a client was installed by this build; stops the daemon if it is the one that is outdated."""
        if build_id == self._build.encode():
            return True
        if not self._is_current_build(force=True):  # else it is the client that is of yesterday
            self.hand_over()
        return False

    def _has_same_isolation(self, pid: int) -> bool:
        """Whether the caller has the same namespaces, rights and confinement, so that its hooks may run here.

        The frame's own word is not enough. A call that no hook concerns needs no such check (docs/adr/0016).
        """
        isolation = connection.isolation_of(pid)
        if isolation == self._isolation:
            return True
        self.sandboxed_count += 1
        peer_confinement, own_confinement = map(connection.confinement_of, (isolation, self._isolation))
        if peer_confinement != own_confinement and all(map(le, peer_confinement, own_confinement)):
            self.stop()  # whoever started us was confined, and others need not suffer for it
        return False

    def _answer_calls(self, calls: list[tuple[ClientConnection, list[bytes]]]) -> None:
        """Answer calls that have come: one look at the files, and one write, is enough for all that concern no hook."""
        self.last_call_at = monotonic()
        stamps, is_paused = manifest_stamps(None), pause.is_paused()
        if stamps != self._stamps:  # refusals of a new hook should be known before it can be lost
            if is_settled(stamps):  # else it is tried again: files of this very moment may change once more
                self._stamps = stamps
            self.loop.call_idle(dispatcher.refresh_client_files)
        silent_calls = [] if is_paused else [fields for _, fields in calls]
        silences = self._deferred_calls.answer_silently(silent_calls, stamps) or [None] * len(calls)
        other_calls = []
        for (client, fields), silence in zip(calls, silences, strict=True):
            if silence is None:
                other_calls.append((client, fields))
                continue
            try:
                self.tailer.remember_payload(fields[2], fields[7], fields[4])
                self.answered_count += 1
                self.reaper.record_caller(fields[2], fields[8])
                client.send(wire.encode_reply(wire.ANSWER, 0, 0, silence), last=True)
            except Exception as problem:  # noqa: BLE001  as below
                _close_failed(client, problem)
        for client, fields in other_calls:
            try:
                self._answer_call(client, fields, stamps, is_paused=is_paused)
            except Exception as problem:  # noqa: BLE001  what one client says must end nobody but itself
                _close_failed(client, problem)

    def _answer_call(self, client: ClientConnection, fields: list[bytes], stamps: Stamps, *, is_paused: bool) -> None:
        """Answer a call that may concern a hook, or have its client do it."""
        self.tailer.remember_payload(fields[2], fields[7], fields[4])
        if client.has_hung_up:
            client.close()  # it had to wait for too long, and has itself answered by now
        elif (
            self.is_replaced()
            or not self._has_same_isolation(client.peer_pid)
            or not fields[5]
            or (len(fields[7]) > LARGE_PAYLOAD_BYTES and _is_live_event(fields))
        ):
            # Nobody can tell where it is; or what has to be looked up in the record is too much to be read here.
            client.send(wire.encode_reply(wire.COLD, 0), last=True)
        else:
            self.reaper.record_caller(fields[2], fields[8])
            call = SocketCall(self, client, connection.parse_request(fields), client.peer_pid)
            call.start(stamps, is_paused=is_paused)


def _close_failed(client: ClientConnection, problem: Exception) -> None:
    if not isinstance(problem, (ValueError, OSError)):
        _log_error(problem)
    client.close()


def _is_live_event(fields: list[bytes]) -> bool:
    """Whether a call is an event of an open format, by its first argument."""
    return is_live(fields[3].partition(b"\0")[0].decode(errors="replace"))


def _log_error(problem: Exception) -> None:
    log.write(f"daemon: {log.format_trace(problem)}")


def _find_entry_faults(agent: Agent, project: Path) -> Sequence[HookFault]:
    """Faults of our entries in an agent's files; what cannot be read there is told by `doctor`, and hides no other."""
    from hookonce.configure.locations import ConfigRoots  # the start of a session alone needs this
    from hookonce.configure.status import find_entry_faults

    try:
        return find_entry_faults(agent, ConfigRoots(paths.home(), project), str(paths.client_path()))
    except Exception as problem:  # noqa: BLE001  they are files of others, and anything may stand there
        log.write(f"the entries in the files of {agent.title} could not be looked at: {log.format_trace(problem)}")
        return ()
