"""One request to a server, by whoever has time to wait for it: the copy of a process that does nothing else.

Proxies are not asked, whoever names them: the environment is that of whoever has started the agent. Plain HTTP goes to
this machine itself and never by way of a name server; elsewhere a certificate proves who answers.
"""

import os
import socket
from contextlib import suppress
from time import monotonic
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from hookonce.handlers.http_answer import Answer, Broken, read

LIMIT = 1 << 20  # bytes of an answer; what is longer is none
_LOCAL = {"localhost": ("127.0.0.1", "::1")}  # by definition, so nobody is asked for it
_SAME = frozenset({301, 302, 307, 308})  # the same request, elsewhere
_ELSEWHERE = range(300, 400)
_GOOD = range(200, 300)
_TOLD = 200  # characters of somebody else's words
_LED = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "OPENSSL_CONF")  # who starts us decides not whom we trust


class Address(NamedTuple):
    """Who is called, and how."""

    scheme: str
    host: str
    port: int


class Request(Struct, frozen=True, kw_only=True):
    """What is sent to whom."""

    address: Address
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def called(request: Request, until: float, *, is_heard: bool = True) -> bytes:
    """The body of the answer behind an empty line, or a line that says why there is none."""
    try:
        answer = _asked(request, _places(request.address), until)
        if (fault := _fault(answer, is_heard=is_heard)) is not None:
            return f"{_plain(fault)}\n".encode()
    except Broken as problem:
        return f"{_plain(str(problem))}\n".encode()
    except OSError as problem:
        return f"{_plain(_wrong(problem))}\n".encode()
    except Exception as problem:  # noqa: BLE001  whatever a server has brought about here is told
        return f"{_plain(f'the answer cannot be read: {problem}')}\n".encode()
    return b"\n" + (answer.body if is_heard else b"")


def _asked(request: Request, places: list[str], until: float) -> Answer:
    """The answer; a server may send us to another page of its own once, and to nobody else."""
    answer = _answer(request, places, until)
    if answer.status not in _SAME:
        return answer
    target = _moved(request, answer.headers.get("location", ""))
    again = _answer(replace(request, target=target), places, until)
    if again.status in _SAME:
        raise Broken("the server redirects more than once")
    return again


def _moved(request: Request, location: str) -> str:
    scheme, host, port = request.address
    named = f"[{host}]" if ":" in host else host
    parts = urlsplit(urljoin(f"{scheme}://{named}:{port}{request.target}", location))
    usual = 443 if parts.scheme == "https" else 80
    if not location or (parts.scheme, parts.hostname, parts.port or usual) != (scheme, host, port):
        raise Broken(f"the server redirects to another host, {parts.scheme}://{parts.hostname}, which is not called")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not all("!" <= letter <= "~" for letter in target):
        raise Broken("the server redirects to what is no address")
    return target


def _fault(answer: Answer, *, is_heard: bool) -> str | None:
    """Why an answer is none."""
    if answer.status in _ELSEWHERE:
        return f"the server redirects ({answer.status}), which is not followed"
    if answer.status not in _GOOD:
        return f"the server answered with {answer.status}"
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if is_heard and answer.body.strip() and kind and not (kind == "application/json" or kind.endswith("+json")):
        return f"the answer is {kind}, not JSON"
    return None


def _places(address: Address) -> list[str]:
    """The addresses of a server; plain HTTP is for this machine alone, whatever a name stands for."""
    if address.scheme == "http":
        return list(_LOCAL.get(address.host, (address.host,)))
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise Broken(f"there is no server {address.host}: {getattr(problem, 'strerror', None) or problem}") from None
    return list(dict.fromkeys(str(place[4][0]) for place in found))


def _answer(request: Request, places: list[str], until: float) -> Answer:
    with _connected(request.address, places, until) as line:
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it has read everything
            line.sendall(_head(request) + request.body)
        return read(line.recv, LIMIT, bodiless=request.method == "HEAD")


def _head(request: Request) -> bytes:
    host, port, scheme = request.address.host, request.address.port, request.address.scheme
    named = f"[{host}]" if ":" in host else host
    told = named if port == (443 if scheme == "https" else 80) else f"{named}:{port}"
    lines = [f"{request.method} {request.target} HTTP/1.1", f"Host: {told}", "Connection: close"]
    lines += [f"Content-Length: {len(request.body)}", *(f"{name}: {text}" for name, text in request.headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _connected(address: Address, places: list[str], until: float) -> socket.socket:
    """A line to the first address that answers, each with its share of the time."""
    last: OSError = OSError("it has no address")
    for number, place in enumerate(places):
        share = (until - monotonic()) / (len(places) - number)
        try:
            line = socket.create_connection((place, address.port), timeout=max(share, 0.01))
        except OSError as problem:
            last = problem
            continue
        line.settimeout(None)  # whoever has copied us ends us in time
        return _secured(line, address.host) if address.scheme == "https" else line
    if isinstance(last, TimeoutError):
        raise Broken("timeout")
    raise Broken(f"{address.host} is not reached at port {address.port}: {last.strerror or last}")


def _secured(line: socket.socket, host: str) -> socket.socket:
    for name in _LED:
        os.environ.pop(name, None)
    import ssl  # most calls do without it

    try:
        return ssl.create_default_context().wrap_socket(line, server_hostname=host)
    except BaseException:
        line.close()
        raise


def _wrong(problem: OSError) -> str:
    verify = getattr(problem, "verify_message", None)
    if verify:
        return f"the server's certificate is not trusted: {verify}"
    return f"the line broke: {problem.strerror or problem}"


def _plain(text: str) -> str:
    """Somebody else's words on one line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:_TOLD]
