"""One call that concerns hooks: acknowledged, answered by us or by a copy of us, and forgotten when it was heard."""

from time import CLOCK_BOOTTIME, clock_gettime_ns, monotonic
from typing import Protocol

from msgspec import structs

from hookonce import wire
from hookonce.journeys import ground, on
from hookonce.journeys.failmode import bytes_of
from hookonce.journeys.ground import Ground
from hookonce.model import Reply
from hookonce.runtime import calls, depth
from hookonce.runtime.loop import Loop
from hookonce.service import peer
from hookonce.service.connection import Connection
from hookonce.service.doors import Doors
from hookonce.service.refused_files import RefusedFiles
from hookonce.service.request import Request
from hookonce.service.visit import Visit
from hookonce.service.worker import HEAVY, Worker
from hookonce.store.journal import Journal

_LOOK = 0.1  # seconds between two looks at a client that has hung up
_AGAIN, _LOOKS = 0.5, 20  # seconds until somebody who is still there is looked for again, and how often
_SECOND = 1_000_000_000


class House(Protocol):
    """As much of the daemon as a call needs."""

    loop: Loop
    journal: Journal
    doors: Doors
    files: RefusedFiles
    answered: int
    under_way: int


class Call:
    """What a client has asked, and the process that it is."""

    def __init__(self, house: House, client: Connection, asked: Request, pid: int) -> None:
        """It has waited since it began."""
        self._house, self._client, self._asked, self._pid = house, client, asked, pid
        self._began = monotonic() - depth.age_of(pid)
        self._work: Visit | Worker | None = None
        self._waits = False  # for a hook, or for a copy of us

    def answer(self) -> None:
        """Say that we are at it, and be at it once everybody who has come meanwhile has been told the same."""
        house, asked = self._house, self._asked
        house.under_way += 1
        where = Ground(
            environment=asked.environment,
            cwd=asked.cwd,
            umask=asked.umask,
            pid=self._pid,
            spool=house.journal,
            doors=house.doors,
            lives_on=True,
            noticed=house.files.noticed,
        )
        heavy = len(asked.stdin) > HEAVY
        # To read a large payload for what is said too late is the very work that others should not wait for.
        self._acknowledge(where, b"" if heavy else asked.stdin)
        house.loop.soon(lambda: self._begin(where, heavy=heavy))

    def _begin(self, where: Ground, *, heavy: bool) -> None:
        if not self._client.is_open:
            self._house.under_way -= 1  # nobody waits, and nothing has begun
        elif heavy:
            self._hand_over(where)
        else:
            self._visit(where)

    def _visit(self, where: Ground) -> None:
        asked, house = self._asked, self._house
        walk = on.walk(asked.words, asked.stdin, where, asked.id, self._began)
        self._work = visit = Visit(house.loop, walk, self._done)
        visit.go()
        if not visit.is_over:
            self._waits, self._client.gone = True, self._left
            house.doors.write()
            on.refresh()  # while hooks run nobody waits; and one that has to be asked is known before it can be lost

    def _hand_over(self, where: Ground) -> None:
        """Much work is for a copy of us, which stands on files, as everybody does who is alone."""
        asked, client = self._asked, self._client
        self._house.doors.write()
        self._work = worker = Worker(self._house.loop, lambda answered: self._worked(has_answered=answered))
        self._waits, client.gone = True, self._left
        alone = ground.cold(asked.environment)
        where = structs.replace(where, spool=alone.spool, doors=alone.doors)
        worker.go(asked, where, client.socket.fileno())

    def _acknowledge(self, where: Ground, raw: bytes) -> None:
        """Say that we are at it, and what to say if we never come back."""
        left = on.patience(self._asked.words) - (monotonic() - self._began)
        until = clock_gettime_ns(CLOCK_BOOTTIME) + max(int(left * _SECOND), 0)
        self._client.say(_reply(wire.ACK, until, on.late(self._asked.words, raw, where)))

    def _worked(self, *, has_answered: bool) -> None:
        self._count()
        self._client.gone = self._heard if has_answered else None
        if has_answered:
            self._client.linger()
        else:
            self._client.close()

    def _done(self, reply: Reply | None) -> None:
        self._count()
        client = self._client
        if reply is None:
            client.close()
        elif not self._waits:  # it was answered at once, and no hook has run
            client.say(_reply(wire.ANSWER, 0, reply), last=True)
        else:
            self._house.doors.write()
            client.gone = self._heard
            client.say(_reply(wire.ANSWER, 0, reply))
            client.linger()

    def _count(self) -> None:
        self._house.under_way -= 1
        self._house.answered += 1

    def _heard(self) -> None:
        """The client has hung up after its answer, which nobody needs then."""
        self._house.loop.at(monotonic() + _LOOK, self._forget)

    def _forget(self, looks: int = _LOOKS) -> None:
        """Whoever has heard the answer is gone soon; who stays has not, and takes it from where it is kept."""
        if not peer.is_there(self._pid):
            calls.forget(self._asked.id)
        elif looks:
            self._house.loop.at(monotonic() + _AGAIN, lambda: self._forget(looks - 1))

    def _left(self) -> None:
        """The client has hung up. If it was killed, so are its hooks.

        If it is still there, it has waited too long for our first word, and for what its hooks say it looks where we
        write that down: they run on, because nobody may run them a second time.
        """
        if self._work is None or self._work.is_over:
            return
        if peer.is_there(self._pid):
            self._house.loop.at(monotonic() + _LOOK, self._left)
            return
        self._house.under_way -= 1
        self._work.abandon()
        calls.forget(self._asked.id)


def _reply(kind: int, until: int, reply: Reply) -> bytes:
    return wire.reply(kind, until, reply.code, bytes_of(reply), reply.stderr.encode(errors="replace"))
