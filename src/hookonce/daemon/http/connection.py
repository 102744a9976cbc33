"""HTTP/1.1 server connection: requests one after the other, responses, keep-alive and timeouts."""

import re
import socket
from time import gmtime, strftime
from typing import TYPE_CHECKING, NamedTuple

from hookonce.base.event_loop import READ, EventLoop
from hookonce.base.jsontext import dump
from hookonce.daemon.stream import BufferedStream
from hookonce.secrets import log

if TYPE_CHECKING:
    from hookonce.daemon.http.listener import HttpListener
    from hookonce.daemon.http.request import IncomingRequest

MAX_HEAD_BYTES = 16 << 10
_OK = 200


class HttpError(Exception):
    """A request that is refused, with the HTTP status that says why, and further lines of the response's head."""

    def __init__(self, status: int, why: str, *header_lines: str) -> None:
        super().__init__(why)
        self.status, self.header_lines = status, header_lines


class RequestHead(NamedTuple):
    """Request line and headers; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    keep_alive: bool  # whether the connection is kept for another request


_CONTINUE_RESPONSE = b"HTTP/1.1 100 Continue\r\n\r\n"


def build_response(status: int, body: bytes, *header_lines: str, keep_alive: bool) -> bytes:
    """Build a whole response; `header_lines` are further lines of its head."""
    has_type = any(line.startswith("Content-Type:") for line in header_lines)
    lines = [
        f"HTTP/1.1 {status} {'OK' if status == _OK else _reason_phrase(status)}",
        strftime("Date: %a, %d %b %Y %H:%M:%S GMT", gmtime()),
        *([] if has_type else ["Content-Type: application/json"]),
        f"Content-Length: {len(body)}",
        *header_lines,
        *([] if keep_alive else ["Connection: close"]),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _reason_phrase(status: int) -> str:
    from http import HTTPStatus  # agents get nothing but 200

    return HTTPStatus(status).phrase


# Seconds. Agents keep a connection for four or five of them; one that we close first could swallow a request.
_IDLE_TIMEOUT_S, _HEAD_TIMEOUT_S, _BODY_TIMEOUT_S, _LINGER_TIMEOUT_S = 120.0, 10.0, 30.0, 2.0
_BARE_LF = re.compile(rb"(?<!\r)\n")


class HttpConnection(BufferedStream):
    """Keep-alive connection of one HTTP client; `is_authorized` once one of its requests was authorized."""

    def __init__(self, loop: EventLoop, sock: socket.socket, handler: "HttpListener") -> None:
        super().__init__(loop, sock)
        self._handler, self._buffer = handler, bytearray()
        self._request: IncomingRequest | None = None
        self._stage, self.keep_alive = "", True
        self.is_busy = self.is_authorized = self._is_processing = self._ignores_input = False

    def feed(self, chunk: bytes) -> None:
        """Append input: a part of a request, or several."""
        if not self._ignores_input:
            self._buffer += chunk
            self._process_buffer()

    def _process_buffer(self) -> None:
        self._is_processing = True
        try:
            while self.is_open and not self._ignores_input and self._process_request():
                pass
        except HttpError as refusal:
            self.keep_alive = False
            self.respond_error(refusal.status, str(refusal), *refusal.header_lines)
        except Exception as error:  # noqa: BLE001  no client may end the daemon for all others
            log.write(f"http: {log.format_trace(error)}")
            self.keep_alive = False
            self.respond_error(500, "this could not be answered; hookonce logs says why")
        finally:
            self._is_processing = False

    def _process_request(self) -> bool:
        """Process one request; whether the next one may be processed."""
        if self.is_busy:
            if len(self._buffer) > MAX_HEAD_BYTES:  # it can wait where it is until we have answered
                self.pause()
            return False
        if self._request is None:
            self._request = self._read_head()
        if self._request is None:
            return False
        data, self._buffer = bytes(self._buffer), bytearray()
        body = self._request.feed(data)
        if body is None:
            self._wait_stage("body", _BODY_TIMEOUT_S)
            return False
        head, self._buffer = self._request.head, bytearray(self._request.trailing_data)
        self._request, self._stage = None, ""
        self.clear_deadline()
        self.is_busy, self.keep_alive = True, head.keep_alive
        self.watch(READ)
        self._handler.handle_request(self, head, body)
        return not self.is_busy

    def _read_head(self) -> "IncomingRequest | None":
        """The next request, authorized, once its head is whole."""
        from hookonce.daemon.http.request import IncomingRequest  # a daemon without an HTTP client does without h11

        while self._buffer.startswith(b"\r\n"):
            del self._buffer[:2]
        if not self._buffer:
            self._wait_stage("idle", _IDLE_TIMEOUT_S)
            return None
        end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
        if _BARE_LF.search(self._buffer, 0, end if end >= 0 else MAX_HEAD_BYTES):
            raise HttpError(400, "a line that ends in nothing but a line feed")
        if end < 0:
            if len(self._buffer) >= MAX_HEAD_BYTES:
                raise HttpError(431, "a head of more than 16 KB")
            self._wait_stage("head", _HEAD_TIMEOUT_S)
            return None
        request = IncomingRequest(bytes(self._buffer[: end + 4]))
        del self._buffer[: end + 4]
        self._handler.authorize(request.head)
        request.check_framing()
        self.is_authorized = True
        if request.head.headers.get("expect", "").lower() == "100-continue" and not self._buffer:
            self.send(_CONTINUE_RESPONSE)
        return request

    def _wait_stage(self, stage: str, seconds: float) -> None:
        """Wait for one stage of a request, with one deadline for the whole stage."""
        if self._stage != stage:
            self._stage = stage
            self.clear_deadline()
        self.wait_for(READ, seconds)

    def respond(self, status: int, body: bytes, *header_lines: str) -> None:
        """Respond to the active request."""
        self.is_busy, self._stage = False, ""
        if not self.is_open:
            return
        self.send(build_response(status, body, *header_lines, keep_alive=self.keep_alive), last=not self.keep_alive)
        if not self._is_processing:
            self._process_buffer()

    def respond_error(self, status: int, message: str, *header_lines: str) -> None:
        """Respond with an error document."""
        self.respond(status, dump({"error": message}), *header_lines)

    def finish(self) -> None:
        """Shut down our side only and linger: a client that is cut off while it sends does not read the answer."""
        self._ignores_input = True
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
            return
        self.clear_deadline()
        self.wait_for(READ, _LINGER_TIMEOUT_S)
