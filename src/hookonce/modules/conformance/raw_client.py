"""Raw client of the conformance suite: sends messages to a module and trusts none of its responses."""

import json
from contextlib import closing
from http.client import HTTPException
from time import monotonic
from urllib.parse import urlsplit

from msgspec import Struct

from hookonce.model import Json, Object
from hookonce.modules.host.client import connect
from hookonce.modules.host.http import open_connection
from hookonce.modules.host.process import ModuleProcess
from hookonce.modules.protocol.descriptor import Descriptor
from hookonce.modules.protocol.messages import (
    MAX_MESSAGE_BYTES,
    Fault,
    LineBuffer,
    Request,
    decode_line,
    encode_line,
    parse_request,
)
from hookonce.modules.protocol.stderr_tail import StderrTail

_MAX_TRANSCRIPT_CHARS = 400  # characters of a message in a transcript
_STRAY_WAIT_S = 0.2  # seconds in which a second answer would come
_EXIT_WAIT_S = 0.5  # seconds: a process closes its pipes a little before it has ended
_MAX_EXCERPT_BYTES = 80


class TranscriptMessage(Struct, frozen=True):
    """A line of a transcript: direction, the beginning of the text, its length, and when, in milliseconds."""

    way: str
    text: str
    bytes: int
    ms: int


class MessageTranscript:
    """Messages in both directions."""

    def __init__(self) -> None:
        self._start, self.messages = monotonic(), list[TranscriptMessage]()

    def add(self, direction: str, raw: bytes) -> None:
        """Append a message."""
        text = raw[:_MAX_TRANSCRIPT_CHARS].decode(errors="replace").rstrip("\n")
        self.messages.append(TranscriptMessage(direction, text, len(raw), round((monotonic() - self._start) * 1000)))

    def take(self) -> list[TranscriptMessage]:
        """All messages since the last time."""
        messages, self.messages = self.messages, []
        return messages


class ConformanceFailure(Exception):
    """A module broke the protocol; the message says how."""


def parse_object(raw: bytes) -> Object:
    """The JSON object of a message."""
    try:
        value = decode_line(raw)
    except ValueError:
        raise ConformanceFailure(f"answered with something that is not JSON: {_excerpt(raw)}") from None
    if type(value) is not dict:
        raise ConformanceFailure(f"answered with JSON that is no object: {_excerpt(raw)}")
    return value


def encode_request(verb: str, body: Object, request_id: Json = None) -> bytes:
    """Encode a request as a line of stdio."""
    verb_field = {} if verb == "invoke" else {"op": verb}
    return encode_line(verb_field | body | ({} if request_id is None else {"id": request_id}))


class StdioRawClient:
    """Raw client of a module that is our child process."""

    def __init__(self, descriptor: Descriptor) -> None:
        """Start it; an OSError where it cannot be started."""
        self.transcript, self.stderr_bytes, self.is_over = MessageTranscript(), 0, False
        self._lines, self._pending_lines, self._log = LineBuffer(), list[bytes | None](), StderrTail()
        self.process = ModuleProcess(descriptor.transport.command, descriptor.folder, None, self._on_stderr)

    def _on_stderr(self, chunk: bytes) -> None:
        if not self.stderr_bytes:
            self.transcript.add("said", chunk)
        self.stderr_bytes += len(chunk)
        self._log.add(chunk)

    def ask(self, verb: str, message: bytes, seconds: float) -> Object:  # noqa: ARG002  the line says it
        """The document that comes for a line; ConformanceFailure if that is no document, or more than one."""
        line = self.exchange_line(message, seconds)
        if line is None:
            raise ConformanceFailure(f"answered with more than {MAX_MESSAGE_BYTES} bytes without the end of a line")
        response = parse_object(line)
        if not self._pending_lines:
            self._read(monotonic() + _STRAY_WAIT_S)
        stray_lines, self._pending_lines = self._pending_lines, []
        if stray_lines:
            raise ConformanceFailure("gave more than one answer to one request")
        return response

    def exchange_line(self, message: bytes, seconds: float) -> bytes | None:
        """Send a message and return the next line."""
        return self.exchange_lines(message, 1, seconds)[0]

    def exchange_lines(self, message: bytes, count: int, seconds: float) -> list[bytes | None]:
        """Send one or more messages and return the next lines."""
        deadline = monotonic() + seconds
        self.transcript.add("sent", message)
        try:
            sent_bytes = self.process.send(message, deadline, lambda: self._read(deadline))
        except OSError:
            self.is_over = True
            raise ConformanceFailure(f"does not read its stdin: {self._exit_text()}") from None
        if sent_bytes < len(message) and not self._pending_lines:
            raise ConformanceFailure(f"read {sent_bytes} of {len(message)} bytes in {seconds:g} s, and no more")
        while len(self._pending_lines) < count:
            if self._read(deadline):
                continue
            if partial := bytes(self._lines.partial):
                raise ConformanceFailure(f"wrote {len(partial)} bytes without the end of a line: {_excerpt(partial)}")
            answers = "no answer" if count == 1 else f"{len(self._pending_lines)} answers to {count} requests"
            raise ConformanceFailure(
                f"gave {answers}{f': {self._exit_text()}' if self.is_over else f' in {seconds:g} s'}"
            )
        lines, self._pending_lines = self._pending_lines[:count], self._pending_lines[count:]
        return lines

    def _read(self, deadline: float) -> bool:
        chunk = self.process.receive(deadline)
        if not chunk:
            self.is_over |= chunk is not None
            return False
        self.transcript.add("heard", chunk)
        self._pending_lines += self._lines.feed(chunk)
        return True

    def _exit_text(self) -> str:
        exited_alone = self.process.kill(_EXIT_WAIT_S)
        ending = self.process.exit_text if exited_alone else "ran on, but had closed that"
        return f"it {ending}{self._log.last_words()}"

    def close(self) -> None:
        """End it, with everything that it has started."""
        self.process.close_stdin()
        self.process.stop()
        self.process.close_pipes()


class HttpRawClient:
    """Raw client of a module that listens on a URL."""

    def __init__(self, descriptor: Descriptor, token: str | None = None) -> None:
        self.transcript, self.is_over = MessageTranscript(), False
        self._url, self._token = urlsplit(descriptor.transport.url or ""), token

    def ask(self, verb: str, message: bytes, seconds: float) -> Object:
        """The body that comes for a POST, whatever its status."""
        self.transcript.add("sent", f"POST /{verb} ".encode() + message)
        headers = {"Content-Type": "application/json"}
        headers |= {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        deadline, secure = monotonic() + seconds, self._url.scheme.lower() == "https"
        try:
            connection = open_connection(self._url.hostname or "", self._url.port, deadline, secure=secure)
            with closing(connection):
                connection.request("POST", f"{self._url.path.rstrip('/')}/{verb}", message, headers)
                response = connection.getresponse()
                status, raw = response.status, response.read(MAX_MESSAGE_BYTES + 1)
        except TimeoutError:
            raise ConformanceFailure(f"gave no answer in {seconds:g} s") from None
        except (OSError, HTTPException) as problem:
            raise ConformanceFailure(f"cannot be reached: {problem}") from None
        self.transcript.add("heard", f"{status} ".encode() + raw)
        if len(raw) > MAX_MESSAGE_BYTES:
            raise ConformanceFailure(f"answered with more than {MAX_MESSAGE_BYTES} bytes")
        return parse_object(raw)

    def close(self) -> None:
        """Nothing is open."""


def _excerpt(raw: bytes) -> str:
    excerpt = json.dumps(raw[:_MAX_EXCERPT_BYTES].decode(errors="replace"))
    return f"{excerpt}…" if len(raw) > _MAX_EXCERPT_BYTES else excerpt


class LinkClient:
    """Client of a server of MCP or gRPC, whose messages are made by the link: what is tried is what a host sees."""

    def __init__(self, descriptor: Descriptor, timeout: float) -> None:
        """Start it, or begin a session; whether that worked is asked afterwards."""
        self.transcript, self.is_over = MessageTranscript(), False
        self._link = connect(descriptor, watch=self.transcript.add)
        self._link.ask(Request("health"), timeout)

    def ask(self, verb: str, message: bytes, seconds: float) -> Object:
        """The response to a request in the module protocol."""
        try:
            request = parse_request(decode_line(message))
        except Fault as fault:
            return fault.document if verb == "invoke" else self._link.ask(Request(verb), seconds)
        return self._link.ask(request, seconds)

    def close(self) -> None:
        """End the server, or the session with it."""
        self._link.close()


RawClient = StdioRawClient | HttpRawClient | LinkClient
