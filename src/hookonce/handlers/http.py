"""HTTP handler: posts an event; the body of the response counts as a command's stdout."""

from collections.abc import Mapping
from functools import partial
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from hookonce import __version__
from hookonce.base.event_loop import EventLoop
from hookonce.errors import HookonceError
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.supervise.forked_child import ForkedChild
from hookonce.manifest.http_script import explain_handler_fault, split_header_value
from hookonce.model import Handler

_JSON = "application/json"
DEFAULT_PORTS = {"https": 443, "http": 80}
_FRAMING_HEADERS = {"host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer"}
_DEFAULT_HEADERS = {"Content-Type": _JSON, "Accept": _JSON, "User-Agent": f"hookonce/{__version__}"}


class ServerAddress(NamedTuple):
    """Scheme, host and port of a server."""

    scheme: str
    host: str
    port: int


class HttpRequest(Struct, frozen=True, kw_only=True):
    """An HTTP request and its server."""

    address: ServerAddress
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class HttpOperation(Struct, frozen=True, kw_only=True):
    """Operation that sends an HTTP request; an observer (`expects_answer` false) needs no JSON in return."""

    request: HttpRequest
    timeout: float = 0.0
    expects_answer: bool = True

    @property
    def payload(self) -> bytes:
        """The request body."""
        return self.request.body

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Send it from a forked child."""
        from hookonce.handlers.http_client import call_server  # before the fork, so that no child loads it again

        started_at, deadline = monotonic(), monotonic() + timeout
        call = partial(call_server, self.request, deadline, expects_answer=self.expects_answer)
        return ForkedChild(loop, call, timeout, lambda output: on_result(_parse_output(output, started_at)))


def _parse_output(output: bytes | None, started_at: float) -> OperationResult:
    """Parse the child's output: a line with the failure, empty if there is none, then the body."""
    line, separator, body = (output or b"").partition(b"\n")
    failure = line.decode(errors="replace") if separator else "the call ended without an answer"
    duration = monotonic() - started_at
    if output is None or failure:
        return OperationResult(failure="timeout" if output is None else failure, duration=duration)
    return OperationResult(code=0, stdout=body, duration=duration)


def build_http_operation(
    handler: Handler,
    body: bytes,
    environment: Mapping[str, str],
    *,
    expects_answer: bool = True,
    content_type: str = _JSON,
) -> HttpOperation:
    """Build the operation of a handler; an error that says why it must not be sent."""
    fault = explain_handler_fault(handler)
    if fault is not None:
        raise HookonceError(f"{handler.url} is not called: {fault}")
    headers = {name: _expand_header(name, text, handler, environment) for name, text in handler.headers.items()}
    if content_type != _JSON and "content-type" not in {name.lower() for name in headers}:
        headers["Content-Type"] = content_type
    request = build_http_request(handler.url or "", headers, body, handler.method or "POST")
    return HttpOperation(request=request, expects_answer=expects_answer)


def build_http_request(url: str, headers: Mapping[str, str], body: bytes, method: str = "POST") -> HttpRequest:
    """Build a request with the default headers; headers that frame a request cannot be set."""
    names = {name.lower() for name in headers}
    if forbidden := sorted(names & _FRAMING_HEADERS):
        raise HookonceError(f"the header {forbidden[0]} cannot be set")
    headers = {name: text for name, text in _DEFAULT_HEADERS.items() if name.lower() not in names} | dict(headers)
    try:
        parts: Any = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as problem:
        raise HookonceError(f"{url} is not a URL: {problem}") from None
    if "@" in parts.netloc:
        raise HookonceError("a URL with a user's name in it is not called; a header can say who you are")
    if not host or "\\" in parts.netloc:
        raise HookonceError(f"{url} names no server")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    address = ServerAddress(parts.scheme.lower(), host, port or DEFAULT_PORTS[parts.scheme.lower()])
    return HttpRequest(address=address, method=method.upper(), target=target, headers=headers, body=body)


def _expand_header(name: str, text: str, handler: Handler, environment: Mapping[str, str]) -> str:
    """Expand a header's value; only variables that the handler may name are expanded."""
    parts = []
    for kind, piece in split_header_value(text, frozenset(handler.allowed_env)):
        variable = piece.strip("${}") if kind == "env" else ""
        if kind == "env" and not environment.get(variable):
            raise HookonceError(f"the header {name} needs the environment variable {variable}, which is not set")
        parts.append(environment[variable] if kind == "env" else piece)
    value = "".join(parts)
    if not all(letter == "\t" or (letter.isprintable() and ord(letter) < 256) for letter in value):  # noqa: PLR2004
        raise HookonceError(f"the header {name} has a line break or another character that no header may have")
    return value
