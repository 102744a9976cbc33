"""One call that concerns hooks: acknowledged, answered by us or by a copy of us, and forgotten when it was heard."""

from time import CLOCK_BOOTTIME, clock_gettime_ns, monotonic
from typing import Protocol

from msgspec import structs

from hookonce import wire
from hookonce.journeys import ground, on
from hookonce.journeys.failmode import encode_reply
from hookonce.journeys.ground import CallContext
from hookonce.model import Reply
from hookonce.runtime import calls, depth
from hookonce.runtime.loop import EventLoop
from hookonce.service import peer
from hookonce.service.connection import ClientConnection
from hookonce.service.doors import DedupCache
from hookonce.service.refused_files import DeniedFileWatcher
from hookonce.service.request import ClientRequest
from hookonce.service.visit import CallTask
from hookonce.service.worker import LARGE_PAYLOAD_BYTES, ForkedCall
from hookonce.store.journal import SpoolJournal

_HANGUP_POLL_S = 0.1  # seconds between two looks at a client that has hung up
_FORGET_POLL_S, _MAX_FORGET_POLLS = 0.5, 20  # seconds until somebody who is still there is looked for again, and how often
_NS_PER_S = 1_000_000_000


class DaemonServices(Protocol):
    """The services of the daemon that a call needs."""

    loop: EventLoop
    journal: SpoolJournal
    dedup_cache: DedupCache
    denied_files: DeniedFileWatcher
    answered_count: int
    active_calls: int


class SocketCall:
    """One call of a client: its request, its process, and the task that answers it."""

    def __init__(self, services: DaemonServices, client: ClientConnection, request: ClientRequest, pid: int) -> None:
        """The call counts as started when the client's process did."""
        self._services, self._client, self._request, self._pid = services, client, request, pid
        self._started_at = monotonic() - depth.process_age_s(pid)
        self._task: CallTask | ForkedCall | None = None
        self._is_waiting = False  # for a hook, or for a copy of us

    def start(self) -> None:
        """Acknowledge the call, and run it once all callers that came meanwhile are acknowledged too."""
        services, request = self._services, self._request
        services.active_calls += 1
        call_context = CallContext(
            environment=request.environment,
            cwd=request.cwd,
            umask=request.umask,
            pid=self._pid,
            spool=services.journal,
            dedup_store=services.dedup_cache,
            is_long_lived=True,
            on_record=services.denied_files.watch_record,
        )
        is_large = len(request.stdin) > LARGE_PAYLOAD_BYTES
        # To read a large payload for what is said too late is the very work that others should not wait for.
        self._send_ack(call_context, b"" if is_large else request.stdin)
        services.loop.call_soon(lambda: self._run(call_context, is_large=is_large))

    def _run(self, call_context: CallContext, *, is_large: bool) -> None:
        if not self._client.is_open:
            self._services.active_calls -= 1  # nobody waits, and nothing has begun
        elif is_large:
            self._run_forked(call_context)
        else:
            self._run_task(call_context)

    def _run_task(self, call_context: CallContext) -> None:
        request, services = self._request, self._services
        task = on.handle_call(request.argv, request.stdin, call_context, request.id, self._started_at)
        self._task = call_task = CallTask(services.loop, task, self._finish)
        call_task.resume()
        if not call_task.is_over:
            self._is_waiting, self._client.on_close = True, self._handle_hangup
            services.dedup_cache.flush()
            on.refresh_client_files()  # while hooks run nobody waits; and one that has to be asked is known before it can be lost

    def _run_forked(self, call_context: CallContext) -> None:
        """Fork for a large payload; the child works with files, as a one-shot process does."""
        request, client = self._request, self._client
        self._services.dedup_cache.flush()
        self._task = forked_call = ForkedCall(self._services.loop, lambda has_answered: self._finish_forked(has_answered=has_answered))
        self._is_waiting, client.on_close = True, self._handle_hangup
        oneshot_context = ground.oneshot_context(request.environment)
        call_context = structs.replace(call_context, spool=oneshot_context.spool, dedup_store=oneshot_context.dedup_store)
        forked_call.start(request, call_context, client.socket.fileno())

    def _send_ack(self, call_context: CallContext, raw: bytes) -> None:
        """Send the acknowledgement with the deadline and the reply to use if we never answer."""
        remaining_s = on.call_timeout_s(self._request.argv) - (monotonic() - self._started_at)
        deadline_ns = clock_gettime_ns(CLOCK_BOOTTIME) + max(int(remaining_s * _NS_PER_S), 0)
        self._client.send(_encode_reply(wire.ACK, deadline_ns, on.timeout_reply(self._request.argv, raw, call_context)))

    def _finish_forked(self, *, has_answered: bool) -> None:
        self._count_answer()
        self._client.on_close = self._schedule_forget if has_answered else None
        if has_answered:
            self._client.wait_for_hangup()
        else:
            self._client.close()

    def _finish(self, reply: Reply | None) -> None:
        self._count_answer()
        client = self._client
        if reply is None:
            client.close()
        elif not self._is_waiting:  # it was answered at once, and no hook has run
            client.send(_encode_reply(wire.ANSWER, 0, reply), last=True)
        else:
            self._services.dedup_cache.flush()
            client.on_close = self._schedule_forget
            client.send(_encode_reply(wire.ANSWER, 0, reply))
            client.wait_for_hangup()

    def _count_answer(self) -> None:
        self._services.active_calls -= 1
        self._services.answered_count += 1

    def _schedule_forget(self) -> None:
        self._services.loop.call_at(monotonic() + _HANGUP_POLL_S, self._forget_call)

    def _forget_call(self, polls: int = _MAX_FORGET_POLLS) -> None:
        """Forget the call once its client has exited; one that stays reads the answer from its file."""
        if not peer.is_process_alive(self._pid):
            calls.remove_claim(self._request.id)
        elif polls:
            self._services.loop.call_at(monotonic() + _FORGET_POLL_S, lambda: self._forget_call(polls - 1))

    def _handle_hangup(self) -> None:
        """Handle a client that hung up. If it was killed, so are its hooks.

        If it still runs, it has waited too long for the acknowledgement and reads the hooks' answer from the file that we
        write: the hooks run on, because nobody may run them a second time.
        """
        if self._task is None or self._task.is_over:
            return
        if peer.is_process_alive(self._pid):
            self._services.loop.call_at(monotonic() + _HANGUP_POLL_S, self._handle_hangup)
            return
        self._services.active_calls -= 1
        self._task.cancel()
        calls.remove_claim(self._request.id)


def _encode_reply(kind: int, deadline_ns: int, reply: Reply) -> bytes:
    return wire.encode_reply(kind, deadline_ns, reply.code, encode_reply(reply), reply.stderr.encode(errors="replace"))
