"""One who came through the HTTP door: requests come in, one is answered after the other, and nobody waits for ever."""

import re
import socket
from typing import Protocol

from hookonce.runtime.loop import READ, EventLoop
from hookonce.service.http_request import MAX_HEAD_BYTES, BodyReader, RequestHead, HttpError, body_reader_of, parse_head
from hookonce.service.http_response import CONTINUE_RESPONSE, error_body, build_response
from hookonce.service.line import BufferedStream
from hookonce.store import log

# Seconds. Agents keep a connection for four or five of them; one that we close first could swallow a request.
_IDLE_TIMEOUT_S, _HEAD_TIMEOUT_S, _BODY_TIMEOUT_S, _LINGER_TIMEOUT_S = 120.0, 10.0, 30.0, 2.0
_BARE_LF = re.compile(rb"(?<!\r)\n")


class HttpRequestHandler(Protocol):
    """Handler of the requests of a connection."""

    def authorize(self, head: RequestHead, /) -> None:
        """Raise HttpError for a request that is not allowed."""

    def handle_request(self, connection: "HttpConnection", head: RequestHead, body: bytes, /) -> None:
        """Answer a whole request, now or later."""


class HttpConnection(BufferedStream):
    """Keep-alive connection of one HTTP client; `is_authorized` once one of its requests was authorized."""

    def __init__(self, loop: EventLoop, sock: socket.socket, handler: HttpRequestHandler) -> None:
        """No request has come yet."""
        super().__init__(loop, sock)
        self._handler, self._buffer = handler, bytearray()
        self._head: RequestHead | None = None
        self._body: BodyReader | None = None
        self._stage = ""
        self.is_busy, self.is_authorized = False, False
        self._is_processing, self._ignores_input = False, False
        self.keep_alive = True

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
            self.respond(refusal.status, error_body(str(refusal)), *refusal.header_lines)
        except Exception as error:  # noqa: BLE001  nobody who knocks shall end the daemon for everybody
            log.write(f"http: {log.format_trace(error)}")
            self.close()
        finally:
            self._is_processing = False

    def _process_request(self) -> bool:
        """Process one request; whether the next one may be processed."""
        if self.is_busy:
            if len(self._buffer) > MAX_HEAD_BYTES:  # it can wait where it is until we have answered
                self.pause()
            return False
        if self._head is None and not self._read_head():
            return False
        body = self._body.take(self._buffer) if self._body is not None else b""
        if body is None or self._head is None:
            self._wait_stage("body", _BODY_TIMEOUT_S)
            return False
        head, self._head, self._stage = self._head, None, ""
        self.clear_deadline()
        self.is_busy, self.keep_alive = True, head.keep_alive
        self.watch(READ)
        self._handler.handle_request(self, head, body)
        return not self.is_busy

    def _read_head(self) -> bool:
        """Whether there is the head of an authorized request."""
        while self._buffer.startswith(b"\r\n"):
            del self._buffer[:2]
        if not self._buffer:
            self._wait_stage("idle", _IDLE_TIMEOUT_S)
            return False
        end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
        if _BARE_LF.search(self._buffer, 0, end if end >= 0 else MAX_HEAD_BYTES):
            raise HttpError(400, "a line that ends in nothing but a line feed")
        if end < 0:
            if len(self._buffer) >= MAX_HEAD_BYTES:
                raise HttpError(431, "a head of more than 16 KB")
            self._wait_stage("head", _HEAD_TIMEOUT_S)
            return False
        head = parse_head(bytes(self._buffer[:end]))
        del self._buffer[: end + 4]
        self._handler.authorize(head)
        self._head, self._body, self.is_authorized = head, body_reader_of(head), True
        if head.headers.get("expect", "").lower() == "100-continue" and not self._buffer:
            self.send(CONTINUE_RESPONSE)
        return True

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
