"""Blocking HTTP/1.1 client for a forked child: one request, bounded response, one redirect on the same host.

Proxies are ignored: the environment is that of whoever started the agent. Plain HTTP goes to loopback only and
never through a name server; elsewhere TLS with a verified certificate is required.
"""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from msgspec import Struct
from msgspec.structs import replace

_MAX_HEAD_BYTES = 1 << 16  # bytes of all headers together
_CHUNK_BYTES = 1 << 16
_BODILESS_STATUSES = frozenset({204, 304})
_INFORMATIONAL_STATUSES = range(100, 200)
_HEX_DIGITS = b"0123456789abcdefABCDEF"


class InvalidResponse(Exception):
    """The response is invalid or cut off."""


class HttpResponse(Struct, frozen=True):
    """Status, headers by their lower-case names, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


def read_response(receive: Callable[[int], bytes], limit: int, *, bodiless: bool = False) -> HttpResponse:
    """Read a response whose body may have so many bytes."""
    buffer = _ResponseBuffer(receive, limit)
    status, headers = _read_head(buffer)
    while status in _INFORMATIONAL_STATUSES:
        status, headers = _read_head(buffer)
    if bodiless or status in _BODILESS_STATUSES:
        return HttpResponse(status, headers, b"")
    return HttpResponse(status, headers, _read_body(buffer, headers))


class _ResponseBuffer:
    """Buffered reader of a response."""

    def __init__(self, receive: Callable[[int], bytes], limit: int) -> None:
        self._receive, self.limit, self._buffer = receive, limit, b""

    def read_line(self, max_bytes: int) -> bytes:
        while b"\n" not in self._buffer:
            if len(self._buffer) > max_bytes:
                raise InvalidResponse("the server's headers have no end")
            if not (chunk := self._receive(_CHUNK_BYTES)):
                raise InvalidResponse(
                    "the server hung up without an answer" if not self._buffer else "the answer was cut off"
                )
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.rstrip(b"\r")

    def read_exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if not (chunk := self._receive(_CHUNK_BYTES)):
                raise InvalidResponse("the answer was cut off")
            self._buffer += chunk
        data, self._buffer = self._buffer[:count], self._buffer[count:]
        return data

    def read_rest(self) -> bytes:
        while chunk := self._receive(_CHUNK_BYTES):
            self._buffer += chunk
            self.check_size(len(self._buffer))
        return self._buffer

    def check_size(self, count: int) -> None:
        if count > self.limit:
            raise InvalidResponse(f"the answer is longer than {self.limit:,} bytes")


def _read_head(buffer: _ResponseBuffer) -> tuple[int, dict[str, str]]:
    words = buffer.read_line(_MAX_HEAD_BYTES).split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (words[1].isdigit() and len(words[1]) == 3):  # noqa: PLR2004
        raise InvalidResponse("what answers there does not speak HTTP/1.1")
    headers: dict[str, str] = {}
    size = 0
    while line := buffer.read_line(_MAX_HEAD_BYTES):
        size += len(line)
        if size > _MAX_HEAD_BYTES:
            raise InvalidResponse("the server's headers have no end")
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(words[1]), headers


def _read_body(buffer: _ResponseBuffer, headers: dict[str, str]) -> bytes:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise InvalidResponse(f"the answer is packed ({headers['content-encoding']}), which nobody has asked for")
    coding = headers.get("transfer-encoding", "").lower()
    if coding == "chunked":
        return _read_chunks(buffer)
    if coding:
        raise InvalidResponse(f"the answer has an encoding that is not known, {coding}")
    length = headers.get("content-length")
    if length is None:
        return buffer.read_rest()
    if not (length.isascii() and length.isdigit()):
        raise InvalidResponse("the answer tells no length that could be understood")
    buffer.check_size(int(length))
    return buffer.read_exactly(int(length))


def _read_chunks(buffer: _ResponseBuffer) -> bytes:
    parts: list[bytes] = []
    total = 0
    while True:
        size = _parse_chunk_size(buffer.read_line(_MAX_HEAD_BYTES).partition(b";")[0].strip())
        if size == 0:
            return b"".join(parts)  # what follows are further headers, which nobody reads
        total += size
        buffer.check_size(total)
        parts.append(buffer.read_exactly(size))
        if buffer.read_line(_MAX_HEAD_BYTES):
            raise InvalidResponse("the answer is cut in pieces that are longer than they tell")


def _parse_chunk_size(text: bytes) -> int:
    if not text or not all(byte in _HEX_DIGITS for byte in text) or len(text) > len("7fffffffffffffff"):
        raise InvalidResponse("the answer is cut in pieces that tell no size")
    return int(text, 16)


MAX_RESPONSE_BYTES = 1 << 20  # bytes of an answer; what is longer is none
_LOCAL_ADDRESSES = {"localhost": ("127.0.0.1", "::1")}  # by definition, so nobody is asked for it
_REDIRECT_STATUSES = frozenset({301, 302, 307, 308})  # the same request, elsewhere
_REDIRECTION_STATUSES = range(300, 400)
_SUCCESS_STATUSES = range(200, 300)
_MAX_ERROR_CHARS = 200  # characters of somebody else's words
_TLS_ENV_VARS = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSLKEYLOGFILE",
    "OPENSSL_CONF",
)  # who starts us decides not whom we trust


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


def call_server(request: HttpRequest, deadline: float, *, expects_answer: bool = True) -> bytes:
    """Send a request: the response's body after an empty line, or a line that says why there is none."""
    try:
        response = _follow_redirect(request, _resolve_host(request.address), deadline)
        if (fault := _find_fault(response, expects_answer=expects_answer)) is not None:
            return f"{_printable_line(fault)}\n".encode()
    except InvalidResponse as problem:
        return f"{_printable_line(str(problem))}\n".encode()
    except OSError as problem:
        return f"{_printable_line(_describe_error(problem))}\n".encode()
    except Exception as problem:  # noqa: BLE001  whatever a server has brought about here is told
        return f"{_printable_line(f'the answer cannot be read: {problem}')}\n".encode()
    return b"\n" + (response.body if expects_answer else b"")


def _follow_redirect(request: HttpRequest, ip_addresses: list[str], deadline: float) -> HttpResponse:
    """Send it, and follow one redirect to the same host."""
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
    url_host = f"[{host}]" if ":" in host else host
    parts = urlsplit(urljoin(f"{scheme}://{url_host}:{port}{request.target}", location))
    default_port = 443 if parts.scheme == "https" else 80
    if not location or (parts.scheme, parts.hostname, parts.port or default_port) != (scheme, host, port):
        raise InvalidResponse(
            f"the server redirects to another host, {parts.scheme}://{parts.hostname}, which is not called"
        )
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not all("!" <= letter <= "~" for letter in target):
        raise InvalidResponse("the server redirects to what is no address")
    return target


def _find_fault(response: HttpResponse, *, expects_answer: bool) -> str | None:
    if response.status in _REDIRECTION_STATUSES:
        return f"the server redirects ({response.status}), which is not followed"
    if response.status not in _SUCCESS_STATUSES:
        return f"the server answered with {response.status}"
    content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (
        expects_answer
        and response.body.strip()
        and content_type
        and not (content_type == "application/json" or content_type.endswith("+json"))
    ):
        return f"the answer is {content_type}, not JSON"
    return None


def _resolve_host(address: ServerAddress) -> list[str]:
    """IP addresses of a server; for plain HTTP those of loopback only."""
    if address.scheme == "http":
        return list(_LOCAL_ADDRESSES.get(address.host, (address.host,)))
    try:
        results = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise InvalidResponse(
            f"there is no server {address.host}: {getattr(problem, 'strerror', None) or problem}"
        ) from None
    return list(dict.fromkeys(str(result[4][0]) for result in results))


def _exchange(request: HttpRequest, ip_addresses: list[str], deadline: float) -> HttpResponse:
    with _connect(request.address, ip_addresses, deadline) as sock:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it has read everything
            sock.sendall(_format_head(request) + request.body)
        return read_response(sock.recv, MAX_RESPONSE_BYTES, bodiless=request.method == "HEAD")


def _format_head(request: HttpRequest) -> bytes:
    host, port, scheme = request.address.host, request.address.port, request.address.scheme
    url_host = f"[{host}]" if ":" in host else host
    host_header = url_host if port == (443 if scheme == "https" else 80) else f"{url_host}:{port}"
    lines = [f"{request.method} {request.target} HTTP/1.1", f"Host: {host_header}", "Connection: close"]
    lines += [f"Content-Length: {len(request.body)}", *(f"{name}: {text}" for name, text in request.headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


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
        sock.settimeout(None)  # whoever has copied us ends us in time
        return _wrap_tls(sock, address.host) if address.scheme == "https" else sock
    if isinstance(last_error, TimeoutError):
        raise InvalidResponse("timeout")
    raise InvalidResponse(f"{address.host} is not reached at port {address.port}: {last_error.strerror or last_error}")


def _wrap_tls(sock: socket.socket, host: str) -> socket.socket:
    for name in _TLS_ENV_VARS:
        os.environ.pop(name, None)
    import ssl  # most calls do without it

    try:
        return ssl.create_default_context().wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def _describe_error(problem: OSError) -> str:
    verify = getattr(problem, "verify_message", None)
    if verify:
        return f"the server's certificate is not trusted: {verify}"
    return f"the line broke: {problem.strerror or problem}"


def _printable_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:_MAX_ERROR_CHARS]
