"""The scripted model: one server on loopback that speaks every API, knows nothing and remembers what it was sent."""

import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.lab.apis import api_of
from hookonce.lab.apis._api import Api, Piece
from hookonce.lab.script import error_of, turn_of
from hookonce.lab.talk import Talk, Turn
from hookonce.model import Json
from hookonce.texts import dump, load

_LONGEST = 64 << 20  # bytes of one request
_PAGE = b"<html><body><h1>A page of the lab</h1></body></html>"
_MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "lab"}], "has_more": False}


class Request(Struct, frozen=True, kw_only=True):
    """One thing that an agent has sent."""

    at: float
    method: str
    path: str
    api: str | None = None
    body: Json = None
    talk: Talk | None = None


class Model:
    """The server and what it was sent so far; to be used in a `with`."""

    def __init__(self, port: int = 0) -> None:
        """Listen on a port of loopback, any free one by default."""
        self.requests: list[Request] = []
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # else whoever comes as the sixth at once waits for a second
    model: Model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that hangs up is nothing to speak of."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each body waits until its head was acknowledged
    server: _Server

    def log_message(self, *_words: object) -> None:
        """What was asked stands in `requests`."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self._note()
        path = self.path.partition("?")[0]
        if path.endswith("/models"):
            self._send(200, dump(_MODELS))
        elif path == "/page.html":
            self._send(200, _PAGE, "text/html")
        else:
            self._send(404, b"{}")

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        try:
            body = load(self._body().decode() or "{}")
        except ValueError:
            self._note()
            self._send(400, dump({"error": {"message": "this is no JSON", "type": "invalid_request_error"}}))
            return
        api = api_of(path)
        if api is None or type(body) is not dict:
            self._note(body=body)
            self._elsewhere(path)
            return
        try:
            talk = api.read(body, path)
            turn = turn_of(talk, self.server.model.url)
        except (LookupError, TypeError, AttributeError, ValueError, HookonceError) as problem:
            self._note(api=api.name, body=body)
            self._send(400, dump(api.error(400, f"this is no request of {api.name}: {problem!r}")))
            return
        self._note(api=api.name, body=body, talk=talk)
        self._answer(api, talk, turn)

    def _answer(self, api: Api, talk: Talk, turn: Turn) -> None:
        code = error_of(talk)
        if code is not None:
            self._send(code, dump(api.error(code, "the scenario is about an API that fails")))
            return
        if talk.streams:
            self._send(200, b"".join(map(_event, api.pieces(turn, talk))), "text/event-stream")
        else:
            self._send(200, dump(api.whole(turn, talk)))

    def _elsewhere(self, path: str) -> None:
        """What agents ask besides: how many tokens something has, and their makers' own services."""
        if path.endswith("/count_tokens"):
            self._send(200, dump({"input_tokens": 100}))
        elif path.endswith(":countTokens"):
            self._send(200, dump({"totalTokens": 100}))
        else:
            self._send(200 if path.startswith("/api/") else 404, b"{}")

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _LONGEST))

    def _chunks(self) -> Iterable[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _note(self, **more: Any) -> None:
        self.server.model.requests.append(Request(at=time(), method=self.command, path=self.path, **more))

    def _send(self, code: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _event(piece: Piece) -> bytes:
    name, data = piece
    text = data.encode() if type(data) is str else dump(data)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + text + b"\n\n"
