"""Talking to a module without believing anything it says: raw messages, and what was wrong with them."""

import json
from http.client import HTTPException
from time import monotonic
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from hookonce.model import Json, Object
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.lines import Lines, document_of, line_of
from hookonce.modules.log import Log
from hookonce.modules.process import Process
from hookonce.modules.protocol import LIMIT
from hookonce.modules.timed import connected

_SHOWN = 400  # characters of a message in a transcript
_STRAY = 0.2  # seconds in which a second answer would come
_MOMENT = 0.5  # seconds: a process closes its pipes a little before it has ended
_LOUD = 1 << 20  # bytes on stderr that nobody should have to read
_BRIEF = 80


class Message(Struct, frozen=True):
    """A line of a transcript: which way, what (its beginning), how long it was, and when, in milliseconds."""

    way: str
    text: str
    bytes: int
    ms: int


class Transcript:
    """What was said, by whom."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._began, self.messages = monotonic(), list[Message]()

    def add(self, way: str, raw: bytes) -> None:
        """Note a message."""
        text = raw[:_SHOWN].decode(errors="replace").rstrip("\n")
        self.messages.append(Message(way, text, len(raw), round((monotonic() - self._began) * 1000)))

    def take(self) -> list[Message]:
        """All since the last time."""
        found, self.messages = self.messages, []
        return found


class Wrong(Exception):
    """What a module did that it should not have done."""


class Talk(Protocol):
    """A way to a module on which everything is seen."""

    transcript: Transcript
    is_over: bool

    def ask(self, verb: str, message: bytes, seconds: float) -> Object:
        """The document that comes for a message; Wrong if that is no document, or more than one."""

    def close(self) -> None:
        """End it."""


def document(raw: bytes) -> Object:
    """The JSON object of a message."""
    try:
        found = document_of(raw)
    except ValueError:
        raise Wrong(f"answered with something that is no JSON: {_brief(raw)}") from None
    if type(found) is not dict:
        raise Wrong(f"answered with JSON that is no object: {_brief(raw)}")
    return found


def request(verb: str, body: Object, number: Json = None) -> bytes:
    """A line of stdio for a request."""
    named = {} if verb == "invoke" else {"op": verb}
    return line_of(named | body | ({} if number is None else {"id": number}))


class StdioTalk:
    """A module that is a process of ours."""

    def __init__(self, descriptor: Descriptor) -> None:
        """Start it; an OSError where it cannot be started."""
        self.transcript, self.loud, self.is_over = Transcript(), 0, False
        self._lines, self._waiting, self._log = Lines(LIMIT), list[bytes | None](), Log()
        self.process = Process(descriptor.transport.command, descriptor.folder, None, self._said)

    def _said(self, chunk: bytes) -> None:
        if not self.loud:
            self.transcript.add("said", chunk)
        self.loud += len(chunk)
        self._log.add(chunk)

    @property
    def is_too_loud(self) -> bool:
        """Whether it has written more to stderr than anybody should have to read."""
        return self.loud > _LOUD

    def ask(self, verb: str, message: bytes, seconds: float) -> Object:  # noqa: ARG002  the line says it
        """The one answer to a line."""
        line = self.line(message, seconds)
        if line is None:
            raise Wrong(f"answered with more than {LIMIT} bytes without the end of a line")
        found = document(line)
        if self.stray():
            raise Wrong("gave more than one answer to one request")
        return found

    def line(self, message: bytes, seconds: float) -> bytes | None:
        """The next line after a message."""
        deadline = monotonic() + seconds
        self.transcript.add("sent", message)
        try:
            sent = self.process.send(message, deadline, lambda: self._read(deadline))
        except OSError:
            self.is_over = True
            raise Wrong(f"does not read its stdin: {self._state()}") from None
        if sent < len(message) and not self._waiting:
            raise Wrong(f"read {sent} of {len(message)} bytes in {seconds:g} s, and no more")
        while not self._waiting:
            if not self._read(deadline):
                raise Wrong(self._silence(seconds))
        return self._waiting.pop(0)

    def _read(self, deadline: float) -> bool:
        chunk = self.process.receive(deadline)
        if not chunk:
            self.is_over |= chunk is not None
            return False
        self.transcript.add("heard", chunk)
        self._waiting += self._lines.feed(chunk)
        return True

    def _silence(self, seconds: float) -> str:
        if rest := bytes(self._lines.rest):
            return f"wrote {len(rest)} bytes without the end of a line: {_brief(rest)}"
        if self.is_over:
            return f"gave no answer: {self._state()}"
        return f"gave no answer in {seconds:g} s"

    def _state(self) -> str:
        alone = self.process.kill(_MOMENT)
        said = f"; it said last: {last}" if (last := self._log.last()) else ""
        return f"it {self.process.ending}{said}" if alone else f"it ran on, but had closed that{said}"

    def stray(self, seconds: float = _STRAY) -> bool:
        """Whether something comes that nobody has asked for."""
        if not self._waiting:
            self._read(monotonic() + seconds)
        found, self._waiting = self._waiting, []
        return bool(found)

    def close(self) -> None:
        """End it, with everything that it has started."""
        self.process.finish()
        self.process.stop()
        self.process.shut()


class HttpTalk:
    """A module that listens somewhere."""

    def __init__(self, descriptor: Descriptor, token: str | None = None) -> None:
        """Remember where."""
        self.transcript, self.is_over = Transcript(), False
        self._url, self._token = urlsplit(descriptor.transport.url or ""), token

    def ask(self, verb: str, message: bytes, seconds: float) -> Object:
        """The body that comes for a POST, whatever its status."""
        self.transcript.add("sent", f"POST /{verb} ".encode() + message)
        try:
            status, raw = self._posted(verb, message, monotonic() + seconds)
        except TimeoutError:
            raise Wrong(f"gave no answer in {seconds:g} s") from None
        except (OSError, HTTPException) as problem:
            raise Wrong(f"cannot be reached: {problem}") from None
        self.transcript.add("heard", f"{status} ".encode() + raw)
        if len(raw) > LIMIT:
            raise Wrong(f"answered with more than {LIMIT} bytes")
        return document(raw)

    def _posted(self, verb: str, message: bytes, deadline: float) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        headers |= {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        secure = self._url.scheme.lower() == "https"
        line = connected(self._url.hostname or "", self._url.port, deadline, secure=secure)
        try:
            line.request("POST", f"{self._url.path.rstrip('/')}/{verb}", message, headers)
            said = line.getresponse()
            return said.status, said.read(LIMIT + 1)
        finally:
            line.close()

    def close(self) -> None:
        """Nothing is open."""


def _brief(raw: bytes) -> str:
    return json.dumps(raw[:_BRIEF].decode(errors="replace")) + ("…" if len(raw) > _BRIEF else "")
