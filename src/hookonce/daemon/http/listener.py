"""HTTP listener on loopback for agents that post their events, protected by a bearer token.

An agent goes on as if there were no hook when nobody answers, so no agent is served while a hook must fail closed.
Events of open formats (`event_intake`) are taken all the same: who sends them does not wait for a permission.
"""

import json
import os
import re
import socket
from collections.abc import Callable
from functools import partial
from hmac import compare_digest
from time import monotonic
from typing import TypeVar

from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import http_reply
from hookonce.base import ids, invocation
from hookonce.base.invocation import Invocation
from hookonce.base.paths import nearest_folder
from hookonce.client import daemon_endpoints
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.daemon.http import event_intake
from hookonce.daemon.http.connection import HttpConnection, HttpError, RequestHead
from hookonce.daemon.http.event_intake import EventIntake, IntakeResponse
from hookonce.daemon.socket_call import DaemonServices
from hookonce.daemon.stream import Acceptor
from hookonce.dispatch import dispatcher, fail_mode, pause
from hookonce.errors import HookonceError
from hookonce.handlers.loop_task import LoopTask
from hookonce.handlers.operation import Task
from hookonce.manifest.discover import find_project
from hookonce.model import Object, Reply
from hookonce.secrets import log

T = TypeVar("T")
_MAX_CONNECTIONS = 256  # connections at a time
_MAX_BIND_TRIES, _BIND_INTERVAL_S = 50, 0.1  # while the daemon before us may still have the port; later at each refresh
_CLOSED_MESSAGE = "the port is closed, because a required hook could not run over HTTP"
_CWD_FIELD = re.compile(r'"cwd"\s*:\s*("(?:[^"\\]|\\[^u]|\\u[0-9A-Fa-f]{4})*")')


class _PayloadCwd(Struct):
    """The one field of a payload that is needed before it is parsed."""

    cwd: str = ""


class HttpListener:
    """Loopback port, if it is open, and its connections."""

    def __init__(self, services: DaemonServices) -> None:
        self._services = services
        self._acceptor: Acceptor | None = None
        self._address: HttpAddress | None = None
        self._connections: dict[HttpConnection, None] = {}
        self._event_intake = EventIntake(services)
        self._bind_tries, self._is_final = 0, False
        self.problem: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the port is open."""
        return self._acceptor is not None

    def status(self) -> Object:
        """The listener's part of the status report."""
        port = self._address and self._address.port
        return {"open": self.is_open, "port": port, "guests": len(self._connections), "problem": self.problem} | {
            "events": self._event_intake.counts
        }

    def refresh(self) -> None:
        """Open, move or close the port as the settings say."""
        try:
            new_address, obstacle = daemon_endpoints.load_http_address(), daemon_endpoints.settings_obstacle()
        except HookonceError as error:
            new_address, obstacle = None, str(error)
        self._report_problem(obstacle if new_address is not None else None)
        new_address = None if obstacle else new_address
        if new_address == self._address and self.is_open == (new_address is not None):
            return
        self._close_port()
        if new_address is not None:
            self._listen(new_address)

    def _listen(self, new_address: HttpAddress) -> None:
        listener = socket.socket()
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((daemon_endpoints.LOOPBACK, new_address.port))
            listener.listen(_MAX_CONNECTIONS)
        except OSError as error:
            listener.close()
            self._report_problem(f"another program uses port {new_address.port}: {error.strerror}")
            self._bind_tries += 1
            if self._bind_tries < _MAX_BIND_TRIES:
                self._services.loop.call_later(_BIND_INTERVAL_S, self._retry)
            return
        self._address, self._bind_tries = new_address, 0
        self._acceptor = Acceptor(self._services.loop, listener, self._accept, "http")

    def _report_problem(self, text: str | None) -> None:
        """Log a problem once."""
        if text is not None and text != self.problem:
            log.write(f"http: {text}")
        self.problem = text

    def _retry(self) -> None:
        if not (self._is_final or self.is_open):
            self.refresh()

    def close(self) -> None:
        """Close the port for good, and idle connections; active requests are still answered."""
        self._is_final = True
        self._close_port()

    def _close_port(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        self._acceptor = self._address = None
        for connection in list(self._connections):
            connection.keep_alive = False
            if not connection.is_busy:
                connection.close()

    def _accept(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = HttpConnection(self._services.loop, sock, self)
        connection.notify_close(partial(self._connections.pop, connection, None))
        self._connections[connection] = None
        if len(self._connections) > _MAX_CONNECTIONS:
            self._evict_connection()
        connection.handle_ready()

    def _evict_connection(self) -> None:
        """Unauthorized connections go first: whoever only connects must not keep an agent out."""
        candidates = (connection for connection in self._connections if not connection.is_authorized)
        next(candidates, next(iter(self._connections))).close()

    def authorize(self, head: RequestHead) -> None:
        """Authorize a request by host, origin and token before its body is read."""
        address = self._address
        if address is None:
            raise HttpError(503, "the port is being closed")
        hosts = {f"{name}:{address.port}" for name in (daemon_endpoints.LOOPBACK, "localhost")}
        if head.headers.get("host", "").lower() not in hosts:  # a page may call its own server by our address
            raise HttpError(421, "this machine has another name")
        if "origin" in head.headers:
            raise HttpError(403, "no page is answered")
        authorization = head.headers.get("authorization", "").encode("latin-1")
        if not compare_digest(authorization, address.headers["Authorization"].encode()):
            raise HttpError(401, "the token is another one", "WWW-Authenticate: Bearer")
        if head.target != event_intake.TARGET:
            _parse_target(head, address)
        if head.method != "POST":
            raise HttpError(405, "events are posted", "Allow: POST")
        if head.target == event_intake.TARGET:
            event_intake.find_shape(head)

    def handle_request(self, connection: HttpConnection, head: RequestHead, body: bytes) -> None:
        """Answer a call as if the agent had run our client; a failure of ours is answered by its fail mode."""
        if self._services.is_replaced():
            connection.keep_alive = False
            connection.respond_error(503, "hookonce was upgraded; ask again in a moment", "Retry-After: 1")
            return
        if head.target == event_intake.TARGET:
            self._run_task(
                connection, self._event_intake.answer_request(head, body), partial(_send_response, connection)
            )
            return
        call = _parse_target(head, HttpAddress(0, ""))
        argv = [call.agent, call.event or "", "--via", call.via or ""]
        cwd = _payload_cwd(body)
        call_context = replace(
            self._services.call_context,
            environment={key: os.environ[key] for key in event_intake.ENV_ALLOWLIST if key in os.environ},
            cwd=cwd,
            has_cwd=cwd != os.sep,
            claim=lambda _: True,  # nobody else knows the id of this call
            observers=[],
        )
        try:
            incoming = dispatcher.receive_call(argv, body, call_context, ids.new_id(), monotonic())
            if _must_fail_closed(call_context.cwd):
                self._reject_call(connection, call, dispatcher.late_reply(incoming))
            else:
                send_reply = partial(_send_reply, connection, call)
                self._run_task(connection, dispatcher.answer_incoming(incoming), send_reply)
        except Exception as error:  # noqa: BLE001  an agent that hears nothing goes on
            _send_reply(connection, call, dispatcher.failure_reply(argv, body, call_context, error))

    def _run_task(self, connection: HttpConnection, task: Task[T], send: Callable[[T | None], object]) -> None:
        services, has_waited = self._services, False
        services.last_call_at = monotonic()
        services.active_calls += 1

        def finish(reply: T | None) -> None:
            services.active_calls -= 1
            services.answered_count += 1
            if has_waited:  # hooks were asked
                connection.notify_close(partial(self._connections.pop, connection, None))
            send(reply)

        def abandon() -> None:
            services.active_calls -= 1
            call_task.cancel()
            self._connections.pop(connection, None)

        call_task = LoopTask(services.loop, task, finish)
        call_task.resume()
        if not call_task.is_over:
            has_waited = True
            connection.notify_close(abandon)
            services.dedup_cache.flush()

    def _reject_call(self, connection: HttpConnection, call: Invocation, fallback_reply: Reply) -> None:
        """A hook that must not be skipped cannot run here: deny, where the event can be denied."""
        self._report_problem(_CLOSED_MESSAGE)
        if fallback_reply == fail_mode.open_reply(agents.load(call.agent)):
            connection.respond_error(503, _CLOSED_MESSAGE)
        else:
            _send_reply(connection, call, fallback_reply)


def _send_response(connection: HttpConnection, response: IntakeResponse | None) -> None:
    if response is None:
        connection.respond_error(500, "this could not be answered; hookonce logs says why")
    else:
        connection.respond(response.status, response.body, *response.header_lines)


def _parse_target(head: RequestHead, base_address: HttpAddress) -> Invocation:
    call = invocation.parse_command(f"{base_address.base}{head.target}")
    if call is None or call.agent not in http_reply.COMMAND_EVENTS:
        raise HttpError(404, "there is nothing here")
    return call


def _payload_cwd(body: bytes) -> str:
    """Working directory that the payload names, or the first above it that can be entered; nothing else tells it."""
    try:
        cwd = decode(body, type=_PayloadCwd).cwd
    except (ValueError, RecursionError):  # the agent names it before anything that a model writes
        match = _CWD_FIELD.search(body.decode(errors="replace"))
        cwd = json.loads(match[1], strict=False) if match else ""
    return nearest_folder(cwd)


def _must_fail_closed(cwd: str) -> bool:
    """Whether a hook there must fail closed, or that cannot be found out."""
    try:
        return not pause.is_paused() and bool(fail_mode.closed_event_types(find_project(cwd), cwd))
    except Exception:  # noqa: BLE001  what cannot be read may say so
        return True


def _send_reply(connection: HttpConnection, call: Invocation, reply: Reply | None) -> None:
    if reply is None:
        connection.respond_error(500, "this could not be answered; hookonce logs says why")
    else:
        connection.respond(200, http_reply.response_body(call.agent, call.event or "", reply).encode(errors="replace"))
