"""Blocking HTTP/1.1 client for a forked child: one request, bounded response, one redirect on the same host.

Proxies are ignored: the environment is that of whoever started the agent. Plain HTTP goes to loopback only and
never through a name server; elsewhere TLS with a verified certificate is required.
"""

import os
import socket
from contextlib import suppress
from time import monotonic
from urllib.parse import urljoin, urlsplit

import h11
from msgspec import Struct
from msgspec.structs import replace

from hookonce.handlers.http import DEFAULT_PORTS, HttpRequest, ServerAddress

MAX_RESPONSE_BYTES = 1 << 20  # a longer response is a failure
_MAX_HEAD_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 16
_PROTOCOL = b"HTTP/1."
_BODILESS_STATUSES = frozenset({204, 304})
_REDIRECT_STATUSES = frozenset({301, 302, 307, 308})  # the same request, elsewhere
_REDIRECTION_STATUSES = range(300, 400)
_SUCCESS_STATUSES = range(200, 300)
_LOCAL_ADDRESSES = {"localhost": ("127.0.0.1", "::1")}  # by definition, so no name server is asked
_MAX_ERROR_CHARS = 200
# The environment of whoever starts us does not decide whom we trust.
_TLS_ENV_VARS = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "OPENSSL_CONF")
_NO_HTTP = "what answers there does not speak HTTP/1.1"
# What to tell for an error of h11, by how its message begins.
_FAULTS = {
    "Receive buffer too long": "the server's headers have no end",
    "Only Transfer-Encoding": "the answer has an encoding that is not known",
    "bad Content-Length": "the length of the answer is not valid",
    "conflicting": "the length of the answer is not valid",
    "illegal chunk header": "the answer has a chunk without a size",
    "malformed chunk footer": "the answer has a chunk of the wrong size",
}


class InvalidResponse(Exception):
    """The response is invalid or cut off."""


class HttpResponse(Struct, frozen=True):
    """Status, headers by their lower-case names, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


def call_server(request: HttpRequest, deadline: float, *, expects_answer: bool = True) -> bytes:
    """Send a request: the response's body after an empty line, or a line that says why there is none."""
    try:
        response = _follow_redirect(request, _resolve_host(request.address), deadline)
        fault = _find_fault(response, expects_answer=expects_answer)
    except InvalidResponse as problem:
        fault = str(problem)
    except OSError as problem:
        verify = getattr(problem, "verify_message", None)
        text = f"the connection broke: {problem.strerror or problem}"
        fault = f"the server's certificate is not trusted: {verify}" if verify else text
    except Exception as problem:  # noqa: BLE001  whatever a server has brought about here is told
        fault = f"the answer cannot be read: {problem}"
    if fault is not None:
        line = "".join(letter if letter.isprintable() else " " for letter in fault)
        return f"{line[:_MAX_ERROR_CHARS]}\n".encode()
    return b"\n" + (response.body if expects_answer else b"")


def _follow_redirect(request: HttpRequest, ip_addresses: list[str], deadline: float) -> HttpResponse:
    response = _exchange(request, ip_addresses, deadline)
    if response.status not in _REDIRECT_STATUSES:
        return response
    target = _redirect_target(request, response.headers.get("location", ""))
    second_response = _exchange(replace(request, target=target), ip_addresses, deadline)
    if second_response.status in _REDIRECT_STATUSES:
        raise InvalidResponse("the server redirects more than once")
    return second_response


def _redirect_target(request: HttpRequest, location: str) -> str:
    scheme, host, port = request.address
    parts = urlsplit(urljoin(f"{scheme}://{_url_host(host)}:{port}{request.target}", location))
    if not location or (parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)) != request.address:
        url = f"{parts.scheme}://{parts.hostname}"
        raise InvalidResponse(f"the server redirects to another host, {url}, which is not called")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not all("!" <= letter <= "~" for letter in target):
        raise InvalidResponse("the server redirects to something that is not an address")
    return target


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _find_fault(response: HttpResponse, *, expects_answer: bool) -> str | None:
    if response.status in _REDIRECTION_STATUSES:
        return f"the server redirects ({response.status}), which is not followed"
    if response.status not in _SUCCESS_STATUSES:
        return f"the server answered with {response.status}"
    content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = content_type in {"", "application/json"} or content_type.endswith("+json")
    if expects_answer and response.body.strip() and not is_json:
        return f"the answer is {content_type}, not JSON"
    return None


def _resolve_host(address: ServerAddress) -> list[str]:
    """IP addresses of a server; for plain HTTP those of loopback only."""
    if address.scheme == "http":
        return list(_LOCAL_ADDRESSES.get(address.host, (address.host,)))
    try:
        results = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InvalidResponse(f"there is no server {address.host}: {reason}") from None
    return list(dict.fromkeys(str(result[4][0]) for result in results))


def _exchange(request: HttpRequest, ip_addresses: list[str], deadline: float) -> HttpResponse:
    parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
    message = _encode_request(parser, request)
    with _connect(request.address, ip_addresses, deadline) as sock:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it has read everything
            sock.sendall(message)
        return _read_response(parser, sock, is_head=request.method == "HEAD")


def _encode_request(parser: h11.Connection, request: HttpRequest) -> bytes:
    scheme, host, port = request.address
    host_header = _url_host(host) if port == DEFAULT_PORTS[scheme] else f"{_url_host(host)}:{port}"
    headers = {"Host": host_header, "Connection": "close", "Content-Length": str(len(request.body))} | request.headers
    fields = [(name.encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers.items()]
    head = h11.Request(method=request.method, target=request.target, headers=fields)
    return b"".join(parser.send(event) or b"" for event in (head, h11.Data(data=request.body), h11.EndOfMessage()))


def _read_response(parser: h11.Connection, sock: socket.socket, *, is_head: bool) -> HttpResponse:
    """Read a response of bounded size; informational ones before it are skipped."""
    while not isinstance(head := _next_event(parser, sock), h11.Response):
        if not _PROTOCOL.startswith(parser.trailing_data[0][: len(_PROTOCOL)]):
            raise InvalidResponse(_NO_HTTP)
    headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
    if not is_head and head.status_code not in _BODILESS_STATUSES:
        if (coding := headers.get("content-encoding", "identity")).lower() != "identity":
            raise InvalidResponse(f"the answer is packed ({coding}), which was not requested")
        _check_size(int(headers.get("content-length", 0)))
    body = bytearray()
    while not isinstance(event := _next_event(parser, sock), h11.EndOfMessage):
        body += getattr(event, "data", b"")
        _check_size(len(body))
    return HttpResponse(head.status_code, headers, bytes(body))


def _next_event(parser: h11.Connection, sock: socket.socket) -> object:
    """The next event; with NEED_DATA some data was received."""
    state = parser.their_state
    try:
        event = parser.next_event()
        if event is h11.NEED_DATA:
            parser.receive_data(sock.recv(_CHUNK_BYTES))
    except h11.RemoteProtocolError as problem:
        data, is_closed = parser.trailing_data
        if is_closed:
            is_silent = state is h11.SEND_RESPONSE and not data
            reason = "the server hung up without an answer" if is_silent else "the answer was cut off"
        else:
            reason = next((text for start, text in _FAULTS.items() if str(problem).startswith(start)), _NO_HTTP)
        raise InvalidResponse(reason) from None
    return event


def _check_size(count: int) -> None:
    if count > MAX_RESPONSE_BYTES:
        raise InvalidResponse(f"the answer is longer than {MAX_RESPONSE_BYTES:,} bytes")


def _connect(address: ServerAddress, ip_addresses: list[str], deadline: float) -> socket.socket:
    """Connect to the first address that answers, each with its share of the time."""
    last_error: OSError = OSError("it has no address")
    for index, ip_address in enumerate(ip_addresses):
        timeout = (deadline - monotonic()) / (len(ip_addresses) - index)
        try:
            sock = socket.create_connection((ip_address, address.port), timeout=max(timeout, 0.01))
        except OSError as problem:
            last_error = problem
            continue
        sock.settimeout(None)  # the parent ends this process in time
        return _wrap_tls(sock, address.host) if address.scheme == "https" else sock
    if isinstance(last_error, TimeoutError):
        raise InvalidResponse("timeout")
    raise InvalidResponse(
        f"{address.host} cannot be reached at port {address.port}: {last_error.strerror or last_error}"
    )


def _wrap_tls(sock: socket.socket, host: str) -> socket.socket:
    for name in _TLS_ENV_VARS:
        os.environ.pop(name, None)
    import ssl  # most calls do without it

    try:
        return ssl.create_default_context().wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise
