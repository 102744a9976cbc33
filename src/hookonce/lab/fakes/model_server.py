"""Scripted model server: HTTP on loopback for every model API; keeps all requests."""

import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any, Self

from msgspec import Struct

from hookonce.base.jsontext import dump, load
from hookonce.errors import HookonceError
from hookonce.lab.fakes.apis import ModelApi, StreamEvent, find_api
from hookonce.lab.fakes.conversation import Conversation, ModelTurn
from hookonce.lab.fakes.script import error_status, next_turn
from hookonce.model import Json

_MAX_REQUEST_BYTES = 64 << 20  # bytes of one request
_HTML_PAGE = b"<html><body><h1>A page of the lab</h1></body></html>"
_MODEL_LIST = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "lab"}], "has_more": False}


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One HTTP request of an agent."""

    at: float
    method: str
    path: str
    api: str | None = None
    body: Json = None
    conversation: Conversation | None = None


class ModelServer:
    """Threaded HTTP server and the requests that it received; a context manager."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._server = _ModelHttpServer(("127.0.0.1", 0), _ModelHandler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _ModelHttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # else whoever comes as the sixth at once waits for a second
    model: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that hangs up is nothing to speak of."""


class _ModelHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each body waits until its head was acknowledged
    server: _ModelHttpServer

    def log_message(self, *_arguments: object) -> None:
        """What was asked stands in `requests`."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self._record_request()
        path = self.path.partition("?")[0]
        if path.endswith("/models"):
            self._send(200, dump(_MODEL_LIST))
        elif path == "/page.html":
            self._send(200, _HTML_PAGE, "text/html")
        else:
            self._send(404, b"{}")

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        try:
            body = load(self._read_body().decode() or "{}")
        except ValueError:
            self._record_request()
            self._send(400, dump({"error": {"message": "this is not JSON", "type": "invalid_request_error"}}))
            return
        api = find_api(path)
        if api is None or type(body) is not dict:
            self._record_request(body=body)
            self._send_other(path)
            return
        try:
            conversation = api.read_request(body, path)
            turn = next_turn(conversation, self.server.model.url)
        except (LookupError, TypeError, AttributeError, ValueError, HookonceError) as problem:
            self._record_request(api=api.name, body=body)
            self._send(400, dump(api.build_error(400, f"this is no request of {api.name}: {problem!r}")))
            return
        self._record_request(api=api.name, body=body, conversation=conversation)
        self._send_turn(api, conversation, turn)

    def _send_turn(self, api: ModelApi, conversation: Conversation, turn: ModelTurn) -> None:
        code = error_status(conversation)
        if code is not None:
            self._send(code, dump(api.build_error(code, "the scenario is about an API that fails")))
            return
        if conversation.streams:
            self._send(200, b"".join(map(_encode_event, api.build_stream(turn, conversation))), "text/event-stream")
        else:
            self._send(200, dump(api.build_response(turn, conversation)))

    def _send_other(self, path: str) -> None:
        """What agents ask besides: how many tokens something has, and their makers' own services."""
        if path.endswith("/count_tokens"):
            self._send(200, dump({"input_tokens": 100}))
        elif path.endswith(":countTokens"):
            self._send(200, dump({"totalTokens": 100}))
        else:
            self._send(200 if path.startswith("/api/") else 404, b"{}")

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self._read_chunks())
        return self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MAX_REQUEST_BYTES))

    def _read_chunks(self) -> Iterable[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _record_request(self, **fields: Any) -> None:
        self.server.model.requests.append(ModelRequest(at=time(), method=self.command, path=self.path, **fields))

    def _send(self, code: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _encode_event(stream_event: StreamEvent) -> bytes:
    name, data = stream_event
    text = data.encode() if type(data) is str else dump(data)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + text + b"\n\n"
