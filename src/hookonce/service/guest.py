"""One who came through the HTTP door: requests come in, one is answered after the other, and nobody waits for ever."""

import re
import socket
from typing import Protocol

from hookonce.runtime.loop import READ, Loop
from hookonce.service.http_request import MOST_HEAD, Body, Head, Refused, body_of, head_of
from hookonce.service.http_response import CONTINUE, problem, response
from hookonce.service.line import Line
from hookonce.store import log

# Seconds. Agents keep a connection for four or five of them; one that we close first could swallow a request.
_IDLE, _HEAD, _BODY, _LINGER = 120.0, 10.0, 30.0, 2.0
_BARE = re.compile(rb"(?<!\r)\n")


class Host(Protocol):
    """Whom the guest came to see."""

    def admit(self, head: Head, /) -> None:
        """Refuse what is not for us."""

    def asked(self, guest: "Guest", head: Head, body: bytes, /) -> None:
        """Answer a whole request, now or later."""


class Guest(Line):
    """A connection that is kept for many requests; `is_admitted` once one of them was let in."""

    def __init__(self, loop: Loop, end: socket.socket, host: Host) -> None:
        """Nothing was asked yet."""
        super().__init__(loop, end)
        self._host, self._heard = host, bytearray()
        self._head: Head | None = None
        self._body: Body | None = None
        self._stage = ""
        self.is_busy, self.is_admitted = False, False
        self._steps, self._is_deaf = False, False
        self.keeps = True

    def heard(self, chunk: bytes) -> None:
        """Take some of a request, or of several."""
        if not self._is_deaf:
            self._heard += chunk
            self._go()

    def _go(self) -> None:
        """Go on as far as what was heard allows."""
        self._steps = True
        try:
            while self.is_open and not self._is_deaf and self._step():
                pass
        except Refused as why:
            self.keeps = False
            self.answer(why.status, problem(str(why)), *why.more)
        except Exception as fault:  # noqa: BLE001  nobody who knocks shall end the daemon for everybody
            log.write(f"http: {log.trace(fault)}")
            self.close()
        finally:
            self._steps = False

    def _step(self) -> bool:
        """One request; whether the next one may be looked at."""
        if self.is_busy:
            if len(self._heard) > MOST_HEAD:  # it can wait where it is until we have answered
                self.pause()
            return False
        if self._head is None and not self._begin():
            return False
        body = self._body.take(self._heard) if self._body is not None else b""
        if body is None or self._head is None:
            self._until("body", _BODY)
            return False
        head, self._head, self._stage = self._head, None, ""
        self.rest()
        self.is_busy, self.keeps = True, head.keeps
        self.watch(READ)
        self._host.asked(self, head, body)
        return not self.is_busy

    def _begin(self) -> bool:
        """Whether there is a head, of a request that is for us."""
        while self._heard.startswith(b"\r\n"):
            del self._heard[:2]
        if not self._heard:
            self._until("idle", _IDLE)
            return False
        end = self._heard.find(b"\r\n\r\n", 0, MOST_HEAD)
        if _BARE.search(self._heard, 0, end if end >= 0 else MOST_HEAD):
            raise Refused(400, "a line that ends in nothing but a line feed")
        if end < 0:
            if len(self._heard) >= MOST_HEAD:
                raise Refused(431, "a head of more than 16 KB")
            self._until("head", _HEAD)
            return False
        head = head_of(bytes(self._heard[:end]))
        del self._heard[: end + 4]
        self._host.admit(head)
        self._head, self._body, self.is_admitted = head, body_of(head), True
        if head.headers.get("expect", "").lower() == "100-continue" and not self._heard:
            self.say(CONTINUE)
        return True

    def _until(self, stage: str, seconds: float) -> None:
        """Wait for the rest of something, so long for the whole of it."""
        if self._stage != stage:
            self._stage = stage
            self.rest()
        self.wait(READ, seconds)

    def answer(self, status: int, body: bytes, *more: str) -> None:
        """Answer the request that is under way."""
        self.is_busy, self._stage = False, ""
        if not self.is_open:
            return
        self.say(response(status, body, *more, keeps=self.keeps), last=not self.keeps)
        if not self._steps:
            self._go()

    def hang_up(self) -> None:
        """Say that this was all, and let the guest finish: who is cut off while speaking does not hear the answer."""
        self._is_deaf = True
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
            return
        self.rest()
        self.wait(READ, _LINGER)
