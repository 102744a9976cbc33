"""MCP over streamable HTTP: a POST for each message, answered by JSON or by a stream of events."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPResponse
from itertools import count
from threading import Lock
from time import monotonic, sleep

from msgspec import Struct

from hookonce.model import Json, Object
from hookonce.modules.host.http import REQUEST_ERRORS, HttpPool
from hookonce.modules.host.mcp import McpSession
from hookonce.modules.host.mcp_stdio import TOOLS_CHANGED
from hookonce.modules.protocol import mcp, messages
from hookonce.modules.protocol.messages import Fault
from hookonce.modules.protocol.pending import parse_id

_SESSION_HEADER = "Mcp-Session-Id"
_CANCEL_TIMEOUT_S = 0.2  # for a server to hear that nobody waits for an answer any more
_CLOSE_TIMEOUT_S = 1.0  # for a server to hear that we leave
_EVENT_STREAM = "text/event-stream"
_MAX_RETRY_DIGITS = 6  # of a number of milliseconds
_MIN_RETRY_S = 0.1  # a server that ends every stream at once is not asked more often
_OK_STATUSES = range(200, 300)
_REDIRECT_STATUSES = range(300, 400)
_NOT_FOUND, _METHOD_NOT_ALLOWED = 404, 405
_ERROR_CODE_BY_STATUS = {401: "forbidden", 403: "forbidden", 408: "timeout", 504: "timeout"}


class _EventStream(Struct):
    """From where a stream of events can go on, and in how many seconds."""

    last_id: str | None = None
    retry_s: float = 1.0

    def update(self, field: str, value: str) -> None:
        if field == "id":
            self.last_id = value if value.isascii() and value.isprintable() else self.last_id
        elif value.isdecimal() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry_s = max(int(value) / 1000, _MIN_RETRY_S)


class McpHttpConnection:
    """One session with a server; `session_id` is what the server calls it, if it does."""

    def __init__(self, transport: "McpHttpTransport") -> None:
        self.session: McpSession | None = None
        self.handshake_lock = Lock()
        self.session_id: str | None = None
        self.is_over = False
        self._transport, self._ids = transport, count(1)

    def exchange(self, document: Object, timeout: float, deadline: float) -> Object | None:
        """The response to a request; None if the server knows the session no more."""
        message = document | {"id": next(self._ids)}
        try:
            return self._transport.post(self, message, deadline)
        except REQUEST_ERRORS as problem:
            if isinstance(problem, TimeoutError) and self.session is not None and not self.session.is_stateless:
                params: Object = {"requestId": message["id"], "reason": "timeout"}
                self.notify(mcp.request_message("notifications/cancelled", params), monotonic() + _CANCEL_TIMEOUT_S)
            return self._transport.failure_response(problem, timeout)

    def notify(self, document: Object, deadline: float) -> None:
        """Send a notification, or a reply; whether it arrives shows with the next request."""
        with suppress(*REQUEST_ERRORS):
            self._transport.post(self, document, deadline)

    def headers(self, message: Object) -> dict[str, str]:
        """The headers of a message in this session."""
        headers = {"Accept": f"application/json, {_EVENT_STREAM}"}
        if self.session_id is not None:
            headers[_SESSION_HEADER] = self.session_id
        method, params = message.get("method"), message.get("params") or {}
        is_stateless = method == "server/discover" or (self.session is not None and self.session.is_stateless)
        if is_stateless:
            headers |= {"MCP-Protocol-Version": mcp.STATELESS_VERSION, "Mcp-Method": str(method)}
            headers |= {"Mcp-Name": _header_text(params["name"])} if "name" in params else {}
        elif self.session is not None:
            headers["MCP-Protocol-Version"] = self.session.version
        return headers


class McpHttpTransport(HttpPool):
    """A server at a URL."""

    pid = None
    change_count = 0
    _connection: McpHttpConnection | None = None

    @property
    def _target(self) -> str:
        return (self._path or "/") + (f"?{self._query}" if self._query else "")

    def open_connection(self) -> McpHttpConnection:
        """The session, or a new one where the server has forgotten it."""
        with self._lock:
            if self._connection is None or self._connection.is_over:
                self._connection = McpHttpConnection(self)
            return self._connection

    def post(self, connection: McpHttpConnection, message: Object, deadline: float) -> Object | None:
        """Post a message: the response to a request, an empty one to anything else; None if the session is over."""
        body, headers = messages.encode_line(message), connection.headers(message)
        with self.request("POST", self._target, body, deadline, headers) as response:
            if response.status == _NOT_FOUND and connection.session_id is not None:
                connection.is_over = True
                return None
            if response.status not in _OK_STATUSES:
                return self._parse_failure(response, message)
            connection.session_id = response.headers.get(_SESSION_HEADER) or connection.session_id
            if "id" not in message or "method" not in message:
                self.read_body(response)
                return {}
            stream = _EventStream()
            is_stream = (response.headers.get("Content-Type") or "").lower().startswith(_EVENT_STREAM)
            documents = self._iter_events(response, stream) if is_stream else iter([_decode(self.read_body(response))])
            answer = self._find_response(connection, documents, message["id"], deadline)
        while answer is None:  # the server has ended its stream, and goes on in another one if it has said where
            if stream.last_id is None or monotonic() + stream.retry_s >= deadline:
                raise Fault("unreachable", "the server ended its stream before it answered", {"retryable": True})
            sleep(stream.retry_s)
            headers = connection.headers({}) | {"Last-Event-ID": stream.last_id, "Accept": _EVENT_STREAM}
            with self.request("GET", self._target, b"", deadline, headers) as response:
                if response.status not in _OK_STATUSES:
                    return self._parse_failure(response, message)
                documents = self._iter_events(response, stream)
                answer = self._find_response(connection, documents, message["id"], deadline)
        return answer

    def _find_response(
        self, connection: McpHttpConnection, documents: Iterator[Json], message_id: int, deadline: float
    ) -> Object | None:
        for document in documents:
            for item in document if type(document) is list else [document]:
                if self._is_response(connection, item, message_id, deadline):
                    return dict(item)
        return None

    def _is_response(self, connection: McpHttpConnection, item: Json, message_id: int, deadline: float) -> bool:
        """Whether a message is the response; what the server asks meanwhile is answered."""
        if type(item) is not dict:
            return False
        if "method" not in item:
            return parse_id(item.get("id")) == message_id
        if (reply := mcp.answer_server_request(item)) is not None:
            connection.notify(reply, deadline)
        elif item["method"] == TOOLS_CHANGED:
            self.change_count += 1
        return False

    def _iter_events(self, response: HTTPResponse, stream: "_EventStream") -> Iterator[Json]:
        """The documents of a stream of events; an event without data only says from where the stream can go on."""
        data: list[bytes] = []
        limit, size = messages.MAX_MESSAGE_BYTES, 0
        while line := response.readline(limit + 1):
            size += len(line)
            if size > limit:
                raise Fault("internal", f"the answer is longer than {limit} bytes")
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field in {b"id", b"retry"}:
                stream.update(field.decode(), value.decode(errors="replace").strip())
            elif not field and not value:
                raw, data, size = b"\n".join(data), [], 0
                if raw.strip():
                    self._watch("heard", raw)
                    yield _decode(raw)

    def _parse_failure(self, response: HTTPResponse, message: Object) -> Object:
        document: Json = None
        with suppress(Fault):
            document = _decode(self.read_body(response))
        if type(document) is dict and type(document.get("error")) is dict:
            return dict(document)
        status = response.status
        if status in _REDIRECT_STATUSES:
            location = response.headers.get("Location", "another place")
            raise Fault("unreachable", f"the server has moved to {location[:200]}: write that into its descriptor")
        if status in {_NOT_FOUND, _METHOD_NOT_ALLOWED} and message.get("method") == "initialize":
            where = f"no MCP over streamable HTTP at {self._target}"
            raise Fault("unreachable", f"{where}: it answers with status {status}")
        code = _ERROR_CODE_BY_STATUS.get(status, "bad_request" if status < 500 else "internal")  # noqa: PLR2004
        raise Fault(code, f"the server answered with status {status}", {"status": status})

    def close(self) -> None:
        """Tell the server that its session is over, and close all idle connections."""
        connection = self._connection
        if connection is not None and connection.session_id is not None and not connection.is_over:
            connection.is_over = True
            deadline, headers = monotonic() + _CLOSE_TIMEOUT_S, connection.headers({})
            with suppress(*REQUEST_ERRORS), self.request("DELETE", self._target, b"", deadline, headers) as response:
                self.read_body(response)
        super().close()


def _decode(raw: bytes) -> Json:
    try:
        return messages.decode_line(raw)
    except ValueError:
        raise Fault("internal", "the server's answer is not JSON") from None


def _header_text(text: str) -> str:
    """A text as a header's value; what does not fit into one is encoded as the protocol says."""
    is_plain = text.isascii() and text.isprintable() and text == text.strip()
    return text if is_plain else f"=?base64?{b64encode(text.encode()).decode()}?="
