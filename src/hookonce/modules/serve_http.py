"""A module over HTTP: one POST path for each word of the protocol, on this machine unless callers need a token."""

import sys
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from socket import AF_INET6, socket
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import urlsplit

from hookonce.errors import UsageError
from hookonce.model import Json, Object
from hookonce.modules.lines import document_of, line_of
from hookonce.modules.protocol import LIMIT, TIMEOUT, VERBS, failed
from hookonce.modules.server import Answering, answer_within

_PATHS = {f"/{verb}": verb for verb in VERBS}
_IDLE = 75.0  # seconds that a connection may say nothing
_MOST = 256  # connections
_AT_ONCE = 64  # invocations
_DIGITS = 18  # of a length that anybody can mean


class _Refused(Exception):
    """A request that never reaches the module."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.document = status, failed(code, message)


class Server(ThreadingHTTPServer):
    """A listening module; `with` it, and let it `serve_forever`."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        module: Answering,
        port: int,
        *,
        host: str = "127.0.0.1",
        token: str | None = None,
        deadline: float = TIMEOUT,
        limit: int = LIMIT,
    ) -> None:
        """Listen; port 0 is any that is free. Who can be reached from elsewhere has to ask for a token."""
        if token is None and not _is_here(host):
            raise UsageError(f"{host} can be reached from other machines: name a token with --token-env")
        self.module, self.token, self.deadline, self.limit = module, token, deadline, limit
        self.rooms, self.connections = BoundedSemaphore(_AT_ONCE), BoundedSemaphore(_MOST)
        if ":" in host:
            self.address_family = AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as problem:
            raise UsageError(f"cannot listen at {host} port {port}: {problem}") from None
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """One thread for each connection, and not without end."""
        if not self.connections.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, and make room for the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """A caller that hangs up is no error; everything else stands in the log."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def said(self, document: Json) -> Object:
        """What the module says to a document; when too much is under way, that."""
        if not self.rooms.acquire(blocking=False):
            return failed("oom", f"{_AT_ONCE} invocations are under way already", retryable=True)
        try:
            return answer_within(self.module, document, self.deadline)
        finally:
            self.rooms.release()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "hookonce"
    sys_version = ""
    timeout = _IDLE
    disable_nagle_algorithm = True
    wbufsize = -1  # header and body leave together

    def do_POST(self) -> None:
        """Answer one request; what was refused before its body was read ends the connection."""
        try:
            verb = self._verb()
            document = self._document(self.rfile.read(self._length(verb)), verb)
        except _Refused as refused:
            self.close_connection = True
            self._send(refused.status, refused.document)
            return
        self._send(200, self.server.said(document))

    def __getattr__(self, name: str) -> Any:
        """Every other method is answered alike."""
        if name.startswith("do_"):
            return self._not_allowed
        raise AttributeError(name)

    def _not_allowed(self) -> None:
        self.close_connection = True
        self._send(405, failed("bad_request", f"{self.command} is not spoken here; POST is"))

    def _verb(self) -> str:
        """What is asked for, by somebody who may ask."""
        given, token = self.headers.get("Authorization", ""), self.server.token
        if token is not None and not compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise _Refused(401, "forbidden", "a bearer token is needed, and this is not it")
        if self.headers.get("Origin") is not None or not self._is_meant():
            raise _Refused(403, "forbidden", "pages of a browser are not answered, nor names that are not ours")
        verb = _PATHS.get(self.path.partition("?")[0])
        if verb is None:
            raise _Refused(404, "unsupported_op", f"there is no such path; there are {', '.join(_PATHS)}")
        return verb

    def _is_meant(self) -> bool:
        """Whether the host that was asked for is one of this machine: names can be bent to point here."""
        try:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
        except ValueError:
            return False
        return self.server.token is not None or _is_here(name)

    def _length(self, verb: str) -> int:
        told = self.headers.get("Content-Length", "" if verb == "invoke" else "0")  # the others need no body
        if self.headers.get("Transfer-Encoding") is not None or not told.isdecimal():
            raise _Refused(411, "bad_request", "say with Content-Length how long the body is")
        if len(told) > _DIGITS or int(told) > self.server.limit:
            raise _Refused(413, "bad_request", f"a request has at most {self.server.limit} bytes")
        return int(told)

    def _document(self, body: bytes, verb: str) -> Json:
        if verb != "invoke":
            return {"op": verb}
        try:
            return document_of(body)
        except ValueError:
            raise _Refused(400, "bad_request", "the body is no JSON") from None

    def _send(self, status: int, document: Object) -> None:
        body = line_of(document)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no HTTP is answered like everything else."""
        self.close_connection = True
        if self.request_version != "HTTP/0.9":
            self._send(code, failed("bad_request", message or explain or "this is no request"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nobody reads a line for each request."""


def _is_here(host: str) -> bool:
    """Whether a host is this machine and nothing else."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
