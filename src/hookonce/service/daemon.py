"""The daemon: takes calls from the socket, answers them, and leaves when it is not needed or not current any more."""

import gc
import os
import socket
from contextlib import suppress
from operator import le
from pathlib import Path
from time import monotonic

from hookonce import wire
from hookonce.config import build, paths
from hookonce.errors import HookonceError
from hookonce.handlers import watchdog
from hookonce.handlers.module import Modules
from hookonce.handlers.nurseries import Nurseries
from hookonce.journeys import on
from hookonce.runtime import folder
from hookonce.runtime.asking import KEEP, STATUS
from hookonce.runtime.loop import READ, Loop
from hookonce.service import peer, request
from hookonce.service.call import Call
from hookonce.service.connection import Connection
from hookonce.service.doors import Doors
from hookonce.service.http import Door
from hookonce.service.keeper import Keeper
from hookonce.service.keeping import keep_first
from hookonce.service.listening import Listening
from hookonce.service.quiet import Quiet
from hookonce.service.refused_files import RefusedFiles
from hookonce.service.start import unlock
from hookonce.service.status import status
from hookonce.service.vigil import Vigil
from hookonce.service.worker import HEAVY
from hookonce.store import log
from hookonce.store.journal import Journal
from hookonce.texts import dump

_TICK = 2.0  # seconds between two looks at whether we are still wanted
_IDLE = 900.0  # seconds without a call after which we are not
_SWEEP = 60.0  # seconds between two looks for files that nobody will ask for any more
_BETWEEN = 0.005  # seconds from one call to the next in which nobody has time for anything else
_BREATH = 0.05  # seconds for which nobody is let in when there is no room
_SELDOM = 16


class Daemon:
    """One listening socket, and everything that is under way."""

    def __init__(self, place: Path) -> None:
        """Listen at a place, which is ours alone."""
        self.loop, self.journal, self.doors = Loop(_tell), Journal(), Doors()
        self.place, self.build, self._folders = place, build.build(), build.folders()
        self._touched = build.touched(self._folders)
        self._name, self.quiet = self.build.encode(), Quiet(self.loop, self.journal, self.doors)
        self.keeper = Keeper(self.loop, self.journal, lambda: monotonic() - self.last < _BETWEEN)
        self.nurseries, self.modules = Nurseries(self.loop), Modules(self.loop)
        self.listening = Listening(self.loop, self.keeper, lambda: self.under_way > 0)
        self.vigil = Vigil(self.loop, self.keeper)
        self.files = RefusedFiles(self.loop, self.keeper, self.journal)
        self._world = (peer.namespaces(), peer.confinement())
        self.began, self.last, self._swept = monotonic(), monotonic(), 0.0
        self.answered, self.under_way, self._tidied, self._leaving = 0, 0, 0, False
        self._listener = _listening(place)
        self._inode = place.stat().st_ino
        self.loop.watch(self._listener.fileno(), READ, self._accept)
        self.http = Door(self)
        self.http.look()
        self.loop.at(monotonic() + _TICK, self._tick)

    def run(self) -> None:
        """Live until nothing is left to do."""
        while self.loop.is_behind or not (self._leaving and self.under_way == 0):
            self.loop.turn(_TICK)
        self.doors.write()
        self.nurseries.close()
        self.modules.close()
        self.keeper.close()
        self.journal.close()

    def leave(self) -> None:
        """Let nobody in any more, and finish what is under way."""
        if self._leaving:
            return
        self._leaving = True
        self.listening.hurry()
        self.quiet.hurry()
        self.http.close()
        self.loop.forget(self._listener.fileno())
        if self._is_ours():
            self.place.unlink(missing_ok=True)
        self._listener.close()
        unlock()

    def _is_ours(self) -> bool:
        try:
            return self.place.lstat().st_ino == self._inode
        except OSError:
            return False

    def _tick(self) -> None:
        self.loop.at(monotonic() + _TICK, self._tick)
        self.doors.write()
        self.keeper.tend()
        self.listening.tend()
        self.loop.later(self.vigil.tick)
        self._take_away()
        on.refresh()
        if not self._leaving:
            self.http.look()
        idle = self.under_way == 0 and not self.http.is_open and monotonic() - self.last > _IDLE
        idle = idle and not (self.vigil.is_waiting or self.files.is_waiting)  # nobody else would notice
        if idle or not (self._is_ours() and paths.client().exists() and self._is_current()):
            self.leave()
        self._tidy()

    def _take_away(self) -> None:
        """Leave nothing behind of what is over: neither processes nor pages nor files."""
        watchdog.reap()
        self.nurseries.tend()
        self.modules.tend()
        self.doors.forget()
        if monotonic() - self._swept > _SWEEP:
            self._swept = monotonic()
            with suppress(OSError, HookonceError):
                folder.sweep()

    def _tidy(self) -> None:
        """Look for what nobody needs any more, now that nobody waits; Python would do so whenever it likes."""
        if self.answered != self._tidied:
            self._tidied = self.answered
            gc.collect(1 if self.answered % _SELDOM else 2)

    def _is_current(self, *, thoroughly: bool = False) -> bool:
        """Whether the files that we were started from still lie there."""
        if not thoroughly and build.touched(self._folders) == self._touched:
            return True
        try:
            return build.current() == self.build
        except OSError:
            return False

    def _accept(self, _: int) -> None:
        while not self._leaving:
            try:
                end, _who = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as problem:  # no descriptors are left: whoever waits goes on without us
                log.write(f"daemon: nobody can be let in: {problem}")
                self.loop.forget(self._listener.fileno())
                self.loop.at(monotonic() + _BREATH, self._again)
                return
            end.settimeout(0)
            Connection(self.loop, end, self._asked).listen()

    def _again(self) -> None:
        if not self._leaving:
            self.loop.watch(self._listener.fileno(), READ, self._accept)

    def _asked(self, client: Connection, frame: bytes) -> None:
        """Answer a whole frame, or say that it is not for us."""
        try:
            fields = wire.fields(frame)
            pid, user = peer.process(client.socket)
            if user != os.getuid():
                client.close()
            elif fields[0] == STATUS and fields[1] == KEEP:
                keep_first(self, lambda: self._tell_status(client))
            elif fields[0] == STATUS:
                self._tell_status(client)
            elif fields[0] != wire.VERSION or fields[8] != self._world[0] or not self._is_of_today(fields[1]):
                client.say(wire.reply(wire.COLD, 0), last=True)
            else:
                self._answer(client, fields, pid)
        except Exception as problem:  # noqa: BLE001  what one client says must end nobody but itself
            if not isinstance(problem, (ValueError, OSError)):
                _tell(problem)
            client.close()

    def _tell_status(self, client: Connection) -> None:
        client.say(wire.reply(wire.ANSWER, 0, 0, dump(status(self))), last=True)

    def _is_of_today(self, name: bytes) -> bool:
        """Whether a client was put in its place by the build that we are of."""
        if name == self._name:
            return True
        if not self._is_current(thoroughly=True):  # else it is the client that is of yesterday
            self.leave()
        return False

    def _is_fit(self, pid: int) -> bool:
        """Whether hooks can be run here as the caller itself would have them run: seeing and fearing the same.

        What the frame says of that is not enough. A call that concerns nobody needs no such answer (docs/adr/0016).
        """
        namespaces, ours = self._world
        theirs = peer.confinement(pid)
        if theirs != ours and all(map(le, theirs, ours)):
            self.leave()  # whoever started us was confined, and others need not suffer for it
        return theirs == ours and peer.namespaces(pid) == namespaces

    def _answer(self, client: Connection, fields: list[bytes], pid: int) -> None:
        self.last = monotonic()
        self.listening.note(fields[2], fields[7])
        silence = None if len(fields[7]) > HEAVY else self.quiet.answer(fields)
        if silence is not None:
            self.answered += 1
            client.say(wire.reply(wire.ANSWER, 0, 0, silence), last=True)
            self.vigil.called(fields[2], fields[9])
        elif client.has_left:
            client.close()  # it had to wait for too long, and has itself answered by now
        elif not self._is_fit(pid):
            client.say(wire.reply(wire.COLD, 0), last=True)
        else:
            Call(self, client, request.read(fields), pid).answer()
            self.vigil.called(fields[2], fields[9])


def _tell(problem: Exception) -> None:
    log.write(f"daemon: {log.trace(problem)}")


def _listening(place: Path) -> socket.socket:
    """A socket at a place where perhaps one lies that nobody listens to any more."""
    place.unlink(missing_ok=True)
    end = socket.socket(socket.AF_UNIX)
    before = os.umask(0o077)
    try:
        end.bind(str(place))
    finally:
        os.umask(before)
    end.listen(1024)
    end.settimeout(0)
    return end
