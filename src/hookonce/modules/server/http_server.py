"""HTTP server of a module: one POST path per verb, on loopback unless callers need a token."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET6, socket
from threading import BoundedSemaphore, Thread
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from hookonce.errors import UsageError
from hookonce.manifest.http_script import is_loopback
from hookonce.model import Json, Object
from hookonce.modules.host.client import Link, connect
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import Descriptor, Transport
from hookonce.modules.server.operations import DocumentHandler, handle_within, with_id

_PATHS = {f"/{verb}": verb for verb in messages.VERBS}
_IDLE_TIMEOUT_S = 75.0  # seconds that a connection may say nothing
_MAX_CONNECTIONS = 256  # connections
_MAX_INVOCATIONS = 64  # invocations
_MAX_LENGTH_DIGITS = 18  # of a Content-Length; more are too many before they are a number


class _HttpRefusal(Exception):
    """Refusal of a request before it reaches the module."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.document = status, messages.build_error(code, message)


class ModuleHttpServer(ThreadingHTTPServer):
    """HTTP server of a module; `with` it, and let it `serve_forever`."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        answer: DocumentHandler,
        port: int,
        *,
        host: str = "127.0.0.1",
        token: str | None = None,
        deadline: float = messages.DEFAULT_TIMEOUT_S,
    ) -> None:
        """Listen; port 0 is any that is free. A host beyond loopback needs a token."""
        if token is None and not is_loopback(host):
            raise UsageError(f"{host} can be reached from other machines: name a token with --token-env")
        self.answer, self.token, self.deadline = answer, token, deadline
        self.invocation_slots = BoundedSemaphore(_MAX_INVOCATIONS)
        self.connection_slots = BoundedSemaphore(_MAX_CONNECTIONS)
        if ":" in host:
            self.address_family = AF_INET6
        try:
            super().__init__((host, port), _ModuleHttpHandler)
        except (OSError, OverflowError) as problem:
            raise UsageError(f"cannot listen at {host} port {port}: {problem}") from None
        shown_host = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown_host}:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for each connection, up to a limit."""
        if not self.connection_slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, then free its slot."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connection_slots.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """A caller that hangs up is no error; everything else is logged."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def handle_document(self, document: Json) -> Object:
        """The module's response to a document; oom when too many invocations are under way."""
        if not self.invocation_slots.acquire(blocking=False):
            return messages.build_error("oom", f"{_MAX_INVOCATIONS} invocations are under way already", retryable=True)
        try:
            return handle_within(self.answer, document, self.deadline)
        finally:
            self.invocation_slots.release()


class _ModuleHttpHandler(BaseHTTPRequestHandler):
    server: ModuleHttpServer
    protocol_version = "HTTP/1.1"
    server_version = "hookonce"
    sys_version = ""
    timeout = _IDLE_TIMEOUT_S
    disable_nagle_algorithm = True
    wbufsize = -1  # header and body leave together

    def do_POST(self) -> None:
        """Answer one request; what was refused before its body was read ends the connection."""
        try:
            document = self._read_document()
        except _HttpRefusal as refusal:
            self.close_connection = True
            self._send(refusal.status, refusal.document)
            return
        self._send(200, self.server.handle_document(document))

    def __getattr__(self, name: str) -> Any:
        """Methods other than POST are answered with 405."""
        if name.startswith("do_"):
            return self._not_allowed
        raise AttributeError(name)

    def _not_allowed(self) -> None:
        self.close_connection = True
        self._send(405, messages.build_error("bad_request", f"{self.command} is not spoken here; POST is"))

    def _read_document(self) -> Json:
        authorization, token = self.headers.get("Authorization", ""), self.server.token
        if token is not None and not compare_digest(authorization.encode(), f"Bearer {token}".encode()):
            raise _HttpRefusal(401, "forbidden", "a bearer token is needed, and this is not it")
        if self.headers.get("Origin") is not None or not self._is_own_host():
            raise _HttpRefusal(403, "forbidden", "pages of a browser are not answered, nor names that are not ours")
        verb = _PATHS.get(self.path.partition("?")[0])
        if verb is None:
            raise _HttpRefusal(404, "unsupported_op", f"there is no such path; there are {', '.join(_PATHS)}")
        header = self.headers.get("Content-Length", "" if verb == "invoke" else "0")  # the others need no body
        if self.headers.get("Transfer-Encoding") is not None or not header.isdecimal():
            raise _HttpRefusal(411, "bad_request", "say with Content-Length how long the body is")
        if len(header) > _MAX_LENGTH_DIGITS or int(header) > messages.MAX_MESSAGE_BYTES:
            raise _HttpRefusal(413, "bad_request", f"a request has at most {messages.MAX_MESSAGE_BYTES} bytes")
        body = self.rfile.read(int(header))
        try:
            return messages.decode_line(body) if verb == "invoke" else {"op": verb}
        except ValueError:
            raise _HttpRefusal(400, "bad_request", "the body is not JSON") from None

    def _is_own_host(self) -> bool:
        """Whether the Host header names this machine: guards against DNS rebinding."""
        try:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
        except ValueError:
            return False
        return self.server.token is not None or is_loopback(name)

    def _send(self, status: int, document: Object) -> None:
        body = messages.encode_line(document)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A malformed request is answered with an error document too."""
        self.close_connection = True
        if self.request_version != "HTTP/0.9":
            self._send(code, messages.build_error("bad_request", message or explain or "this is no request"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """No log line per request."""


def bridge_document(link: Link, document: Json) -> Object:
    """A link's response to a request document, under the request's id; invalid requests do not get across."""
    try:
        response = link.ask(messages.parse_request(document), messages.DEFAULT_TIMEOUT_S)
    except messages.Fault as fault:
        response = fault.document
    return with_id(response, messages.request_id_of(document))


@contextmanager
def serve_over_http(
    descriptor: Descriptor, port: int = 0, *, host: str = "127.0.0.1", token: str | None = None
) -> Iterator[ModuleHttpServer]:
    """HTTP server for a described module, and its process as long as that lasts."""
    with (
        closing(connect(descriptor)) as link,
        ModuleHttpServer(partial(bridge_document, link), port, host=host, token=token) as server,
    ):
        if descriptor.transport.type == "mcp":  # such servers are known to take longer to start than health may take
            link.ask(messages.Request("health"), messages.DEFAULT_TIMEOUT_S)
        yield server


@contextmanager
def expose_over_http(descriptor: Descriptor) -> Iterator[Descriptor]:
    """The descriptor of the same module over HTTP on loopback, for a while."""
    with serve_over_http(descriptor) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield replace(descriptor, transport=Transport(type="http", url=server.url))
        finally:
            server.shutdown()
