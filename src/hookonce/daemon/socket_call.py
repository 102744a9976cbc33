"""Call on the Unix socket: acknowledged, run as a task or in a forked child, answered, and cleaned up.

A large payload is handled by a forked child of the daemon, so that other callers do not wait for it.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import CLOCK_BOOTTIME, clock_gettime_ns, monotonic
from typing import Protocol

from msgspec.structs import replace

from hookonce.base import process_info, wire
from hookonce.base.event_loop import READ, EventLoop, Timer
from hookonce.base.spawn import fork_child, write_all
from hookonce.daemon.connection import ClientConnection, ClientRequest
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.dispatch import dedup, dispatcher
from hookonce.dispatch.context import CallContext, forked_context
from hookonce.dispatch.dispatcher import IncomingCall
from hookonce.dispatch.fail_mode import encode_reply
from hookonce.dispatch.fast_path.manifest_stamps import Stamps, load_settings
from hookonce.dispatch.pipeline import CallAbandonedError
from hookonce.handlers.loop_task import LoopTask
from hookonce.handlers.operation import run_blocking
from hookonce.handlers.supervise import watchdog
from hookonce.handlers.supervise.hook_results import CallResults
from hookonce.model import Reply
from hookonce.secrets import log

LARGE_PAYLOAD_BYTES = 1 << 19  # bytes of a payload; reading so many takes longer than others should wait
_WAITPID_POLL_S = 0.01  # seconds between two looks, where a process cannot be waited for


class ForkedCall:
    """A call that a forked child of the daemon answers on the client's own socket."""

    def __init__(self, loop: EventLoop, on_exit: Callable[[bool], object]) -> None:
        """Prepare; `on_exit` is called with whether the child has answered."""
        self._loop, self._on_exit, self.pid = loop, on_exit, 0
        self.is_over = False

    def start(self, request: ClientRequest, call_context: CallContext, client_fd: int) -> None:
        """Fork, and let the child answer on the client's descriptor."""
        started_at = monotonic()
        try:
            self.pid = fork_child(lambda: _run_child(request, call_context, client_fd, started_at), {client_fd})
        except OSError:  # there is no room for it; the client goes on without us
            self._finish(1)
            return
        try:
            pidfd = os.pidfd_open(self.pid)
        except (OSError, AttributeError):
            self._loop.call_later(_WAITPID_POLL_S, self._poll_exit)
        else:
            self._loop.watch_fd(pidfd, READ, lambda _: self._handle_exit(pidfd))

    def cancel(self) -> None:
        """Kill the child: nobody waits for its answer, and its hooks end with it."""
        if self.pid and not self.is_over:
            self.is_over = True
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    def _poll_exit(self) -> None:
        pid, exit_status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self._finish(exit_status)
        else:
            self._loop.call_later(_WAITPID_POLL_S, self._poll_exit)

    def _handle_exit(self, pidfd: int) -> None:
        self._loop.remove_fd(pidfd)
        os.close(pidfd)
        self._finish(os.waitpid(self.pid, 0)[1])

    def _finish(self, exit_status: int) -> None:
        if not self.is_over:
            self.is_over = True
            self._on_exit(exit_status == 0)


def _run_child(request: ClientRequest, call_context: CallContext, client_fd: int, started_at: float) -> None:
    call = dispatcher.receive_call(request.argv, request.stdin, call_context, request.id, started_at)
    reply = run_blocking(dispatcher.answer_incoming(call))
    os.set_blocking(client_fd, True)
    write_all(client_fd, _encode_reply(wire.ANSWER, 0, reply))
    if call_context.results is not None:
        call_context.results.release()


_HANGUP_POLL_S = 0.1  # seconds between two looks at a client that has hung up
_MAX_ANSWER_POLLS = 5  # looks for the end of a child whose client has gone
_LONG_CALL_S = 0.02  # seconds after which other processes may have to know of a call whose hooks still run
_FORGET_POLL_S, _MAX_FORGET_POLLS = 0.5, 20  # seconds until a client that is still there is looked for again; how often
_NS_PER_S = 1_000_000_000
_BEGIN = wire.encode_reply(wire.BEGIN, 0)
_HEARS_UNTIL_SHUTDOWN = sys.platform == "linux"  # elsewhere who shuts its end may lose what came before


class DaemonServices(Protocol):
    """The services of the daemon that a call needs."""

    loop: EventLoop
    calls_dir: str
    store_writer: BackgroundStoreWriter
    dedup_cache: DedupCache
    call_context: CallContext  # of every call, but for what is its caller's
    last_call_at: float
    answered_count: int
    active_calls: int

    def is_replaced(self) -> bool:
        """Whether another build is installed now, whose daemon has to answer."""


class SocketCall:
    """One call of a client: its request, its process, and the task that answers it."""

    def __init__(self, services: DaemonServices, client: ClientConnection, request: ClientRequest, pid: int) -> None:
        """The call counts as started when the client's process did."""
        self._services, self._client, self._request, self._pid = services, client, request, pid
        self._started_at = monotonic() - process_info.process_age_s(pid)
        self._results = CallResults(f"{services.calls_dir}/{request.id}", pid)
        self._task: LoopTask[Reply] | ForkedCall | None = None
        self._call: IncomingCall | None = None
        self._after_answer: list[Callable[[], object]] = []  # what the answer does not need
        self._has_acknowledged, self._has_begun = False, False
        self._page_timer: Timer | None = None
        self._is_waiting = False  # for a hook, or for a copy of us
        self._is_shared = False  # with other processes, which may wait for the decision
        self._is_claimed = False  # by a file, in which the client looks for the answer

    def start(self, stamps: Stamps, *, is_paused: bool) -> None:
        """Run the call. It is acknowledged when it has to wait for something, at the latest when its hooks begin.

        What may take long until then is acknowledged at once, and runs after the I/O that is ready.
        """
        services, request = self._services, self._request
        services.active_calls += 1
        call_context = replace(
            services.call_context,
            environment=request.environment,
            cwd=request.cwd,
            umask=request.umask,
            pid=self._pid,
            claim=self._claim,
            shared_stamps=stamps,
            is_paused=is_paused,
            current_settings=load_settings(stamps),
            results=self._results,
            observers=[],
            after_answer=self._take_work,
        )
        is_large = len(request.stdin) > LARGE_PAYLOAD_BYTES
        # To read a large payload for what is said too late is the very work that others should not wait for.
        payload = b"" if is_large else request.stdin
        call = dispatcher.receive_call(request.argv, payload, call_context, request.id, self._started_at)
        self._call = call
        if is_large or _reads_store(call):
            self._client.send(self._take_ack())
            services.loop.call_soon(partial(self._run, call, is_large=is_large))
        else:
            self._run_task(call)

    def _run(self, call: IncomingCall, *, is_large: bool) -> None:
        if not self._client.is_open:
            self._services.active_calls -= 1  # nobody waits, and nothing has begun
        elif is_large:
            self._run_forked(call.context)
        else:
            self._run_task(call)

    def _claim(self, call_id: str) -> bool:
        """Tell the client that hooks begin, which from then on nobody runs again; a client that cannot be told is gone.

        A client that gives up shuts its end first and then reads what came before (ADR 0032): either it hears us, or
        we are told here that it does not.
        """
        try:
            if _HEARS_UNTIL_SHUTDOWN and self._client.send_now(self._take_ack() + _BEGIN):
                self._has_begun = True
                return True
        except OSError:
            raise CallAbandonedError("the client has gone on without us") from None
        self._is_claimed = True
        return dedup.claim_call(call_id, keeps_results=True)

    def _run_task(self, call: IncomingCall) -> None:
        services = self._services
        self._task = call_task = LoopTask(services.loop, dispatcher.answer_incoming(call), self._finish)
        call_task.resume()
        if call_task.is_over:
            return
        self._is_waiting = True
        self._client.notify_close(self._handle_hangup)
        if self._has_begun:  # most hooks have ended before anybody else has to know
            self._page_timer = services.loop.call_later(_LONG_CALL_S, self._handle_long_call)
        else:  # it may wait for another entry, whose hooks nobody may run again if we are killed
            self._handle_long_call()

    def _handle_long_call(self) -> None:
        self._is_shared = True
        self._services.dedup_cache.flush()
        if self._client.is_open:  # else its hangup was handled
            self._wait_for_hooks()

    def _wait_for_hooks(self) -> None:
        self._is_waiting = True
        self._client.notify_close(self._handle_hangup)
        self._client.send(self._take_ack())  # which also has us told when it hangs up

    def _run_forked(self, call_context: CallContext) -> None:
        """Fork for a large payload."""
        request, client = self._request, self._client
        self._services.dedup_cache.flush()
        self._task = forked_call = ForkedCall(
            self._services.loop, lambda has_answered: self._finish_forked(forked_call.pid, has_answered=has_answered)
        )
        self._wait_for_hooks()
        forked_call.start(request, forked_context(call_context), client.socket.fileno())

    def _take_ack(self) -> bytes:
        """The acknowledgement with the deadline and the reply to use if we never answer; nothing the second time."""
        if self._has_acknowledged or self._call is None:
            return b""
        self._has_acknowledged, call = True, self._call
        remaining_s = dispatcher.call_timeout_s(call.argv, call.request) - (monotonic() - self._started_at)
        deadline_ns = clock_gettime_ns(CLOCK_BOOTTIME) + max(int(remaining_s * _NS_PER_S), 0)
        return _encode_reply(wire.ACK, deadline_ns, dispatcher.late_reply(call))

    def _finish_forked(self, pid: int, *, has_answered: bool) -> None:
        self._count_answer()
        self._client.notify_close(self._schedule_forget if has_answered else None)
        if has_answered and self._client.is_open:
            self._client.wait_for_hangup()
            return
        if has_answered:  # the client was faster than our child's end
            self._schedule_forget()
            return
        if pid:  # the client goes on with what the hooks of the killed child have left
            dedup.claim_call(self._request.id, pid, keeps_results=True)
        self._client.close()

    def _finish(self, reply: Reply | None) -> None:
        self._count_answer()
        client = self._client
        if self._page_timer is not None:
            self._page_timer.cancel()
        if reply is None:
            client.close()
        elif not self._is_waiting:  # it was answered at once, and no hook has run
            client.send(_encode_reply(wire.ANSWER, 0, reply), last=True)
        else:
            self._send_answer(reply)
        for work in self._after_answer:
            try:
                work()
            except Exception as problem:  # noqa: BLE001  the rest is done all the same
                log.write(f"daemon: {log.format_trace(problem)}")
        if self._is_waiting:
            self._services.dedup_cache.flush()
        self._results.release()

    def _take_work(self, work: Callable[[], object]) -> None:
        """Do what the answer does not need once that has left; at once if others know of the call, and may wait."""
        if self._is_shared:
            work()
        else:
            self._after_answer.append(work)

    def _send_answer(self, reply: Reply) -> None:
        """Send the answer of hooks. Where the client may not hear it, it is saved for whoever answers instead.

        What a socket has taken the client reads, also after it has given up, and if we are killed (ADR 0032).
        """
        client, frame = self._client, _encode_reply(wire.ANSWER, 0, reply)
        client.notify_close(None)
        if not self._is_claimed and client.send(frame, last=True):
            return
        dedup.save_answer(self._request.id, reply, self._request.stdin)
        if not client.is_open:
            self._schedule_forget()
            return
        client.notify_close(self._schedule_forget)
        if self._is_claimed:
            client.send(frame)
            client.wait_for_hangup()

    def _count_answer(self) -> None:
        self._services.active_calls -= 1
        self._services.answered_count += 1

    def _schedule_forget(self) -> None:
        self._services.loop.call_later(_HANGUP_POLL_S, self._forget_call)

    def _forget_call(self, polls: int = _MAX_FORGET_POLLS) -> None:
        """Forget the call once its client has exited; one that stays reads the answer from its file."""
        watchdog.reap()
        if not process_info.is_process_alive(self._pid):
            dedup.remove_claim(self._request.id)
        elif polls:
            self._services.loop.call_later(_FORGET_POLL_S, lambda: self._forget_call(polls - 1))

    def _handle_hangup(self, polls: int = _MAX_ANSWER_POLLS) -> None:
        """Handle a client that hung up. If it was killed, so are its hooks.

        If it still runs, it has waited too long for the acknowledgement and reads the hooks' answer from the file that
        we write: the hooks run on, because nobody may run them a second time. A client that has ended may have been
        answered by our child, of whose end we hear later.
        """
        if self._task is None or self._task.is_over:
            return
        if process_info.is_process_alive(self._pid) or (polls and isinstance(self._task, ForkedCall)):
            self._services.loop.call_later(_HANGUP_POLL_S, lambda: self._handle_hangup(max(polls - 1, 0)))
            return
        self._services.active_calls -= 1
        self._task.cancel()
        self._results.release()
        dedup.remove_claim(self._request.id)
        if self._call is not None and (observers := self._call.context.observers):  # their turn had come
            self._call.context.start_observers(observers, None, self._call.context)


def _reads_store(call: IncomingCall) -> bool:
    """Whether a call is about something that is looked up in the record: the end of a session, an event with an id."""
    request = call.request
    return request is not None and (request.event.type == "session_end" or request.document is not None)


def _encode_reply(kind: int, deadline_ns: int, reply: Reply) -> bytes:
    return wire.encode_reply(kind, deadline_ns, reply.code, encode_reply(reply), reply.stderr.encode(errors="replace"))
