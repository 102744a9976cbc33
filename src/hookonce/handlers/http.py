"""HTTP handlers: an event is posted, and what the server answers counts as what a command would have written."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from hookonce import __version__
from hookonce.errors import HookonceError
from hookonce.handlers.aside import Aside
from hookonce.handlers.errand import Nothing, Ongoing, Ran
from hookonce.handlers.http_call import Address, Request, called
from hookonce.manifest.http_script import fault_of, pieces
from hookonce.model import Handler
from hookonce.runtime.loop import Loop

_PORTS = {"https": 443, "http": 80}
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer"})
_USUAL = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": f"hookonce/{__version__}"}


class Post(Struct, frozen=True, kw_only=True):
    """A request, and for how many seconds its answer is waited for; who only looks on is not asked for JSON."""

    request: Request
    timeout: float = 0.0
    is_heard: bool = True

    @property
    def given(self) -> bytes:
        """What is told."""
        return self.request.body

    def begin(self, loop: Loop, timeout: float, done: Callable[[Ran], object]) -> Ongoing:
        """Send it from a copy of this process."""
        begin, until = monotonic(), monotonic() + timeout

        def told(said: bytes | None) -> None:
            done(replace(_ran(said), duration=monotonic() - begin))

        try:
            return Aside(loop, lambda: called(self.request, until, is_heard=self.is_heard), timeout, told)
        except OSError as problem:
            failed = Ran(failure=f"not started: {problem}", duration=monotonic() - begin)
            loop.at(0, lambda: done(failed))
            return Nothing()


def _ran(said: bytes | None) -> Ran:
    """What the copy has told: why it failed, on a line of its own, and then the body."""
    if said is None:
        return Ran(failure="timeout")
    failure, found, body = said.partition(b"\n")
    if not found:
        return Ran(failure="the call ended without a word")
    return Ran(failure=failure.decode(errors="replace")) if failure else Ran(code=0, stdout=body)


def post_of(handler: Handler, body: bytes, environment: Mapping[str, str], *, is_heard: bool = True) -> Post:
    """The request of a handler; an error that says why it must not be sent."""
    fault = fault_of(handler)
    if fault is not None:
        raise HookonceError(f"{handler.url} is not called: {fault}")
    headers = {name: _value(name, text, handler, environment) for name, text in handler.headers.items()}
    return Post(request=request_of(handler.url or "", headers, body, handler.method or "POST"), is_heard=is_heard)


def request_of(url: str, headers: Mapping[str, str], body: bytes, method: str = "POST") -> Request:
    """A request with the headers that every one has; what tells where a request ends is nobody else's to say."""
    named = {name.lower() for name in headers}
    if wrong := sorted(named & _OURS):
        raise HookonceError(f"the header {wrong[0]} cannot be set")
    usual = {name: text for name, text in _USUAL.items() if name.lower() not in named}
    address, target = place_of(url)
    return Request(address=address, method=method.upper(), target=target, headers=usual | dict(headers), body=body)


def place_of(url: str) -> tuple[Address, str]:
    """Whom a URL means, and what is asked for there."""
    try:
        parts: Any = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as problem:
        raise HookonceError(f"{url} is no URL: {problem}") from None
    if "@" in parts.netloc:
        raise HookonceError("a URL with a user's name in it is not called; a header can say who you are")
    if not host or "\\" in parts.netloc:
        raise HookonceError(f"{url} names no server")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme.lower(), host, port or _PORTS[parts.scheme.lower()]), target


def _value(name: str, text: str, handler: Handler, environment: Mapping[str, str]) -> str:
    """A header's value; variables that the handler may name stand for what they are where the agent was started."""
    found = []
    for kind, piece in pieces(text, frozenset(handler.allowed_env)):
        word = piece.strip("${}") if kind == "env" else ""
        if kind == "env" and not environment.get(word):
            raise HookonceError(f"the header {name} needs the environment variable {word}, which is not set")
        found.append(environment[word] if kind == "env" else piece)
    value = "".join(found)
    if not all(letter == "\t" or (letter.isprintable() and ord(letter) < 256) for letter in value):  # noqa: PLR2004
        raise HookonceError(f"the header {name} has a line break or another character that no header may have")
    return value
