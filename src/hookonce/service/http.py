"""The HTTP door, for agents that post their events: on this machine only, and for who knows the token.

An agent goes on as if there were no hook when nobody answers. So there is no door while a hook has to be asked.
"""

import os
import socket
from hmac import compare_digest
from pathlib import Path
from time import monotonic
from typing import Protocol

from msgspec import DecodeError, Struct
from msgspec.json import decode

from hookonce import agents, ids, invocation
from hookonce.agents import _http
from hookonce.errors import HookonceError
from hookonce.handlers.walk import Walk
from hookonce.invocation import Invocation
from hookonce.journeys import failmode, on, pause, posting
from hookonce.journeys.ground import Ground
from hookonce.manifest.discover import project_of
from hookonce.model import Object, Reply
from hookonce.runtime import address, calls
from hookonce.runtime.address import Address
from hookonce.runtime.loop import READ, Loop
from hookonce.service.doors import Doors
from hookonce.service.guest import Guest
from hookonce.service.http_request import Head, Refused
from hookonce.service.http_response import problem
from hookonce.service.refused_files import RefusedFiles
from hookonce.service.visit import Visit
from hookonce.store import log
from hookonce.store.journal import Journal

_MOST = 256  # guests at a time
_BREATH = 0.05  # seconds for which nobody is let in when there is no room
_OURS = ("HOME", "PATH", "LANG")  # what a hook has of our own environment, for the agent's is not told
_SHUT = "the door is shut, because a hook has to be asked"


class House(Protocol):
    """Who has the door, and what is kept there of calls."""

    loop: Loop
    journal: Journal
    doors: Doors
    files: RefusedFiles
    last: float
    answered: int
    under_way: int


class _Told(Struct):
    """As much of a payload as is needed before it is understood."""

    cwd: str = ""


class Door:
    """A port of this machine, if it is open, and who came in."""

    def __init__(self, house: House) -> None:
        """Not open yet."""
        self._house = house
        self._listener: socket.socket | None = None
        self._address: Address | None = None
        self._guests: dict[Guest, None] = {}
        self.problem: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody may come in."""
        return self._listener is not None

    def status(self) -> Object:
        """What is told about it."""
        known = self._address
        return {
            "open": self.is_open,
            "port": known and known.port,
            "guests": len(self._guests),
            "problem": self.problem,
        }

    def look(self) -> None:
        """Be open where the user wants it, and nowhere else."""
        try:
            wanted, why = address.known(), posting.forbidden()
        except HookonceError as unread:
            wanted, why = None, str(unread)
        self._tell(why if wanted is not None else None)
        wanted = None if why else wanted
        if wanted == self._address and self.is_open == (wanted is not None):
            return
        self.close()
        if wanted is not None:
            self._open(wanted)

    def _open(self, wanted: Address) -> None:
        end = socket.socket()
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            end.bind((address.LOOPBACK, wanted.port))
            end.listen(_MOST)
        except OSError as taken:
            end.close()
            self._tell(f"port {wanted.port} is somebody else's: {taken.strerror}")
            return
        end.settimeout(0)
        self._listener, self._address = end, wanted
        self._house.loop.watch(end.fileno(), READ, self._accept)

    def _tell(self, text: str | None) -> None:
        """Say once what is wrong."""
        if text is not None and text != self.problem:
            log.write(f"http: {text}")
        self.problem = text

    def close(self) -> None:
        """Let nobody in any more; who is being answered is answered."""
        if self._listener is not None:
            self._house.loop.forget(self._listener.fileno())
            self._listener.close()
        self._listener = self._address = None
        for guest in list(self._guests):
            guest.keeps = False
            if not guest.is_busy:
                guest.close()

    def _accept(self, _: int) -> None:
        while self._listener is not None:
            try:
                end, _who = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as problem:  # no descriptors are left: whoever waits has to wait a little more
                log.write(f"http: nobody can be let in: {problem}")
                self._house.loop.forget(self._listener.fileno())
                self._house.loop.at(monotonic() + _BREATH, self._again)
                return
            end.settimeout(0)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            guest = Guest(self._house.loop, end, self)
            guest.gone = lambda guest=guest: self._guests.pop(guest, None)
            self._guests[guest] = None
            if len(self._guests) > _MOST:
                self._make_room()
            guest.listen()

    def _again(self) -> None:
        if self._listener is not None:
            self._house.loop.forget(self._listener.fileno())
            self._house.loop.watch(self._listener.fileno(), READ, self._accept)

    def _make_room(self) -> None:
        """Strangers leave first: whoever can only knock must not keep an agent out."""
        strangers = (guest for guest in self._guests if not guest.is_admitted)
        next(strangers, next(iter(self._guests))).close()

    def admit(self, head: Head) -> None:
        """Refuse whoever is not an agent of this user, before anything more is read."""
        known = self._address
        if known is None:
            raise Refused(503, "the door is being closed")
        if head.headers.get("host", "").lower() not in {
            f"{name}:{known.port}" for name in (address.LOOPBACK, "localhost")
        }:
            raise Refused(421, "this machine has another name")  # a page may call its own server by our address
        if "origin" in head.headers:
            raise Refused(403, "no page is answered")
        given = head.headers.get("authorization", "").encode("latin-1")
        if not compare_digest(given, known.headers["Authorization"].encode()):
            raise Refused(401, "the token is another one", "WWW-Authenticate: Bearer")
        _call(head, known)
        if head.method != "POST":
            raise Refused(405, "events are posted", "Allow: POST")

    def asked(self, guest: Guest, head: Head, body: bytes) -> None:
        """Answer a call, as it would be answered if the agent had run our client."""
        call = _call(head, Address(0, ""))
        words = [call.agent, call.event or "", "--via", call.via or ""]
        where = Ground(
            environment={key: os.environ[key] for key in _OURS if key in os.environ},
            cwd=_cwd(body),
            spool=self._house.journal,
            doors=self._house.doors,
            lives_on=True,
            noticed=self._house.files.noticed,
        )
        if _is_shut(where.cwd):
            self._refuse(guest, call, on.late(words, body, where))
        else:
            self._visit(guest, call, on.walk(words, body, where, name := ids.fresh(), monotonic()), name)

    def _visit(self, guest: Guest, call: Invocation, walk: Walk[Reply], name: str) -> None:
        house, leave = self._house, guest.gone
        house.last = monotonic()
        house.under_way += 1

        def told(reply: Reply | None) -> None:
            house.under_way -= 1
            house.answered += 1
            if guest.gone is not leave:  # hooks were asked
                guest.gone = leave
                calls.forget(name)
            _answer(guest, call, reply)

        def left() -> None:
            house.under_way -= 1
            visit.abandon()
            calls.forget(name)
            self._guests.pop(guest, None)

        visit = Visit(house.loop, walk, told)
        visit.go()
        if not visit.is_over:
            guest.gone = left
            house.doors.write()

    def _refuse(self, guest: Guest, call: Invocation, late: Reply) -> None:
        """Who has to be asked has not been: that is a refusal, where the event has one."""
        self._tell(_SHUT)
        if late == failmode.open_reply(agents.load(call.agent)):
            guest.answer(503, problem(_SHUT))
        else:
            _answer(guest, call, late)


def _call(head: Head, known: Address) -> Invocation:
    """The call that a request is about."""
    found = invocation.read(f"{known.base}{head.target}")
    if found is None or found.agent not in _http.COMMANDS:
        raise Refused(404, "there is nothing here")
    return found


def _cwd(body: bytes) -> str:
    """Where the agent is, as it says; we would not know."""
    try:
        told = decode(body, type=_Told).cwd
    except (DecodeError, RecursionError):
        return os.sep
    return told if told.startswith(os.sep) and "\0" not in told and Path(told).is_dir() else os.sep


def _is_shut(cwd: str) -> bool:
    """Whether a hook has to be asked there, or nobody can tell."""
    try:
        return not pause.is_paused() and bool(failmode.closed(project_of(Path(cwd))))
    except Exception:  # noqa: BLE001  what cannot be read may say so
        return True


def _answer(guest: Guest, call: Invocation, reply: Reply | None) -> None:
    if reply is None:
        guest.answer(500, problem("this could not be answered; hookonce logs says why"))
    else:
        guest.answer(200, _http.body(call.agent, call.event or "", reply).encode(errors="replace"))
