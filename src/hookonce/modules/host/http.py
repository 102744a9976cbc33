"""HTTP link to a module: one POST per request, over idle connections that are reused."""

import io
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from select import POLLIN, poll
from socket import socket
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from hookonce.model import Json, Object
from hookonce.modules.host.client import Closeable
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.messages import Fault, Request, build_error


class DeadlineSocket(io.RawIOBase):
    """Socket with one deadline for all calls together, not one timeout per call; the garbage collector closes it."""

    def __init__(self, sock: socket, deadline: float) -> None:
        self.sock, self.deadline = sock, deadline
        self._reader_count = 0

    def apply_deadline(self) -> socket:
        """The socket, with the time that is left as its timeout."""
        remaining_s = self.deadline - monotonic()
        if remaining_s <= 0:
            raise TimeoutError
        self.sock.settimeout(remaining_s)
        return self.sock

    def sendall(self, data: bytes) -> None:
        """Send all bytes before the deadline."""
        self.apply_deadline().sendall(data)

    def makefile(self, _: str) -> io.BufferedReader:
        """The reader of http.client; closing it does not close the connection."""
        self._reader_count += 1
        return io.BufferedReader(_UnownedReader(self), 1 << 16)

    def close(self) -> None:
        """Close the socket, once the last response was read: http.client closes it before, if the server will."""
        super().close()
        if not self._reader_count:
            self.sock.close()

    def end_reader(self) -> None:
        """A reader is closed."""
        self._reader_count -= 1
        if self.closed:
            self.close()


class _UnownedReader(io.RawIOBase):
    def __init__(self, owner: DeadlineSocket) -> None:
        self._owner = owner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._owner.apply_deadline().recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._owner.end_reader()


def open_connection(host: str, port: int | None, deadline: float, *, secure: bool) -> HTTPConnection:
    """Open an HTTP connection with a deadline."""
    connection_type = HTTPSConnection if secure else HTTPConnection
    connection = connection_type(host, port, timeout=max(0.001, deadline - monotonic()))
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    deadline_socket: Any = DeadlineSocket(connection.sock, deadline)
    connection.sock = deadline_socket
    return connection


_MAX_IDLE_CONNECTIONS = 8  # connections that wait for the next question
_SUCCESS_STATUSES = range(200, 300)
_REDIRECT_STATUSES = range(300, 400)
_ERROR_CODE_BY_STATUS = {401: "forbidden", 403: "forbidden", 404: "unsupported_op", 408: "timeout", 504: "timeout"}
_ERROR_CODE_BY_STATUS |= {502: "unreachable", 503: "unreachable"}  # where the body does not say it better


REQUEST_ERRORS = (Fault, OSError, HTTPException)  # what a request may come to


def authorization_header(token_env: str | None, env: Mapping[str, str]) -> dict[str, str]:
    """The header with the token that a variable holds; `forbidden` where it holds none that can be sent."""
    if token_env is None:
        return {}
    if not (token := env.get(token_env)):
        raise Fault("forbidden", f"the variable {token_env} is to hold the token, and is not set")
    if not token.isascii() or not token.isprintable():
        raise Fault("forbidden", f"what {token_env} holds cannot be sent in a header")
    return {"Authorization": f"Bearer {token}"}


class HttpPool(Closeable):
    """Idle HTTP connections to one URL, which may hold a token in a variable; for any number of threads."""

    def __init__(
        self,
        url: str,
        token_env: str | None = None,
        env: Mapping[str, str] | None = None,
        watch: messages.MessageWatcher | None = None,
    ) -> None:
        """The token is read from the environment at every request, and stored nowhere."""
        parts = urlsplit(url)
        self._secure, self._host, self._port = parts.scheme.lower() == "https", parts.hostname or "", parts.port
        self._path, self._query = parts.path, parts.query
        self._address = self._host if self._port is None else f"{self._host} port {self._port}"
        self._token_env, self._env = token_env, os.environ if env is None else env
        self._idle, self._watch = list[HTTPConnection](), watch or messages.ignore_message
        self._lock, self._closed = Lock(), False

    @contextmanager
    def request(
        self, method: str, path: str, body: bytes, deadline: float, headers: Mapping[str, str] | None = None
    ) -> Iterator[HTTPResponse]:
        """The response to a request; its connection is used again if all of it was read."""
        if len(body) > messages.MAX_MESSAGE_BYTES:
            message = f"the request has {len(body)} bytes; {messages.MAX_MESSAGE_BYTES} are the most"
            raise Fault("bad_request", message)
        all_headers = self._headers() | dict(headers or {})
        connection = self._acquire(deadline)
        is_reusable = False
        try:
            self._watch("sent", body)
            connection.request(method, path, body, all_headers)
            response = connection.getresponse()
            yield response
            is_reusable = not response.will_close and response.isclosed()
        finally:
            self._release(connection, is_reusable=is_reusable)

    def read_body(self, response: HTTPResponse) -> bytes:
        """The body of a response, which has a limit."""
        limit = messages.MAX_MESSAGE_BYTES
        raw = response.read(limit + 1)
        if len(raw) > limit:
            raise Fault("internal", f"the answer is longer than {limit} bytes")
        if response.length:
            raise Fault("unreachable", "the connection broke in the middle of the answer", {"retryable": True})
        self._watch("heard", raw)
        return raw

    def failure_response(self, problem: Exception, timeout: float) -> Object:
        """The response that says why there is none."""
        if isinstance(problem, Fault):
            return problem.document
        if isinstance(problem, TimeoutError):
            return build_error("timeout", f"no answer within {timeout:g} seconds", seconds=timeout)
        if isinstance(problem, ssl.SSLError):
            return build_error("unreachable", f"{self._host} cannot prove who it is: {problem.reason or problem}")
        if isinstance(problem, OSError):
            message = f"{self._address} cannot be reached: {_error_text(problem)}"
            return build_error("unreachable", message, retryable=True)
        return build_error("unreachable", f"{self._address} does not speak HTTP: {_error_text(problem)}")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return headers | authorization_header(self._token_env, self._env)

    def _acquire(self, deadline: float) -> HTTPConnection:
        while True:
            with self._lock:
                if self._closed:
                    raise Fault("unreachable", "the link to the module is closed")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return open_connection(self._host, self._port, deadline, secure=self._secure)
            sock: Any = connection.sock
            sock.deadline = deadline
            poller = poll()
            poller.register(sock.sock.fileno(), POLLIN)
            if not poller.poll(0):
                return connection
            connection.close()  # readable before a request: mostly that the other side has hung up meanwhile

    def _release(self, connection: HTTPConnection, *, is_reusable: bool) -> None:
        with self._lock:
            if is_reusable and not self._closed and len(self._idle) < _MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for connection in idle:
            connection.close()


class HttpLink(HttpPool):
    """Link to a module over HTTP; any number of threads may send requests at the same time."""

    def ask(self, request: Request, timeout: float) -> Object:
        """Send a request; every failure is a response too."""
        deadline = monotonic() + min(timeout, messages.MAX_TIMEOUT_S)
        verb = request.op if request.op in messages.VERBS else "invoke"
        body = messages.encode_line(messages.request_document(request) if verb == "invoke" else {})
        try:
            with self.request("POST", f"{self._path.rstrip('/')}/{verb}", body, deadline) as response:
                raw = self.read_body(response)
            return self._parse(response, raw)
        except REQUEST_ERRORS as problem:
            return self.failure_response(problem, timeout)

    def _parse(self, response: HTTPResponse, raw: bytes) -> Object:
        try:
            document = messages.decode_line(raw)
        except ValueError:
            document = None
        if response.status in _SUCCESS_STATUSES:
            if type(document) is dict:
                return document
            return build_error("internal", "the module's answer is not a JSON object")
        if response.status in _REDIRECT_STATUSES:
            location = response.headers.get("Location", "another place")
            raise Fault("unreachable", f"the module has moved to {location[:200]}: write that into its descriptor")
        return _parse_failure(response.status, document)


def _parse_failure(status: int, document: Json) -> Object:
    body = document.get("error", document) if type(document) is dict else None
    if type(body) is dict and "code" in body:
        return messages.parse_response({"ok": False, "error": body}).to_document()
    code = _ERROR_CODE_BY_STATUS.get(status, "bad_request" if status < 500 else "internal")  # noqa: PLR2004
    return build_error(code, f"the module answered with status {status}", status=status)


def _error_text(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
