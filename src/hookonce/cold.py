"""The cold path: what the client runs when nobody warm is there.

`python -I -S cold.py BIN CALLER SLOT` finds the client's whole frame on its stdin, and answers with an exit code of a
hundred more than the agent's; BIN is the folder of the client, CALLER its process, SLOT a descriptor that holds one of
the places for processes like this. Most calls concern no hook: for those nothing is imported that they do not need.
"""

import os
import sys
import time

_LOOK = 0.1  # seconds between two looks at the clock and at the caller
_OLDEST = 20.0  # seconds; our own client gives up before, and others are no clients of ours
_SAID = 100  # above the agent's exit code, ours says that everything was said
_PATIENT = 10  # how nice a process is that nobody waits for
_STDERR = 3  # where the client has put the caller's stderr, away from what Python itself might say


class Late(BaseException):
    """The agent will not wait any longer; no ordinary handling of errors may hold this up."""


class _Call:
    """One call: since when it is waited for, by whom, where its stderr goes, and the slot that we hold, if we do."""

    def __init__(self, words: list[str], caller: int | None, stderr: int, slot: int | None = None) -> None:
        """A call with these words."""
        self.words, self.caller, self.stderr, self.slot = words, caller, stderr, slot
        self.began = time.monotonic() - _age(caller)

    def let_go(self) -> None:
        """A slot is for working, not for waiting for hooks."""
        if self.slot is not None:
            os.close(self.slot)
            self.slot = None


def main(words: list[str], caller: int | None = None, stderr: int = 2) -> int:
    """Read the payload, answer the agent, and say nothing else; without the caller nobody needs an answer."""
    call = _Call(words, caller, stderr)
    _fill_gaps()
    from hookonce import ids

    return _answer(call, ids.fresh(), dict(os.environ), None)


def framed(folder: str, frame: bytes, caller: int, slot: int | None = None) -> int:
    """Answer what the client has been told, in its very words."""
    from hookonce import light, wire

    silence = light.answer(folder, frame)
    if silence is not None:
        _write(1, silence)
        _aside(frame)
        return 0
    fields = wire.fields(frame)
    call = _Call([os.fsdecode(word) for word in wire.words(fields[3])], caller, _STDERR, slot)
    return _answer(call, fields[2].decode("ascii"), _world(fields[4]), fields[7])


def _world(field: bytes) -> dict[str, str]:
    """The caller's own environment: Python adds words to ours, and the shell of our twin takes some away."""
    found = (entry.partition("=") for entry in os.fsdecode(field).split("\0"))
    return {name: value for name, sign, value in found if name and sign}


def _answer(call: _Call, name: str, environment: dict[str, str], raw: bytes | None) -> int:
    """Answer a call of that name; without a payload it is still to be read."""
    from hookonce.handlers.errand import Errand, Ran, waited
    from hookonce.journeys import ground, on
    from hookonce.journeys.failmode import bytes_of
    from hookonce.runtime import stdin

    def waiting(errand: Errand) -> Ran:
        call.let_go()
        return waited(errand)

    try:
        with hurrying(call.began + on.patience(call.words), call.caller):
            raw = stdin.payload() if raw is None else raw
            reply = on.answer(call.words, raw, environment, name, call.began, waiting)
    except BaseException as problem:  # noqa: BLE001  the payload never came, or came too late
        reply = on.failed(call.words, raw or b"", ground.cold(environment), problem)
    _write(1, bytes_of(reply))
    _write(call.stderr, reply.stderr.encode(errors="replace"))
    _forget(name)
    return reply.code


def _forget(name: str) -> None:
    """The answer was given; what is left of it goes away by itself if it cannot be taken away now."""
    from hookonce.runtime import calls

    try:  # noqa: SIM105  `contextlib` is one of the things that most calls do without
        calls.forget(name)
    except Exception:  # noqa: BLE001, S110  as above
        pass


def _aside(frame: bytes) -> None:
    """In a process of its own, which nobody waits for: keep what the call was that is answered already."""
    if os.fork():
        return
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(_STDERR + 2):
            os.dup2(nothing, number)
        os.nice(_PATIENT)
        _note(frame)
    finally:
        os._exit(0)


def _note(frame: bytes) -> None:
    """One after the other, so that many calls do not take the machine from those who work on it."""
    from fcntl import LOCK_EX, flock

    from hookonce import wire
    from hookonce.journeys import on
    from hookonce.store import spool

    fields = wire.fields(frame)
    with (spool.folder() / "turn").open("ab") as turn:
        flock(turn, LOCK_EX)
        words = [os.fsdecode(word) for word in wire.words(fields[3])]
        on.note(words, fields[7], _world(fields[4]), fields[2].decode("ascii"))


def _age(caller: int | None) -> float:
    """Seconds since the client began, for which the agent has waited already; none where the system does not tell."""
    try:
        # Whoever is gone was not waiting; and where numbers are not those of /proc, somebody else has the caller's.
        known = caller == os.getppid() and os.readlink("/proc/self") == str(os.getpid())  # noqa: PTH115
        waiting = caller if known else "self"
        with open(f"/proc/{waiting}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  before all imports
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return min(time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"), _OLDEST)
    except (OSError, ValueError, IndexError):
        return 0.0


def _fill_gaps() -> None:
    """Standard descriptors that the caller has closed would become those of our next files."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


class hurrying:  # noqa: N801  read as a word in a sentence
    """Look up now and then: an answer after the deadline, or to a caller that was killed, is none."""

    def __init__(self, deadline: float, caller: int | None) -> None:
        """Until a moment of the monotonic clock, as long as the caller is there."""
        import signal

        self._deadline, self._caller, self._signal = deadline, caller, signal

    def _look(self, *_: object) -> None:
        if self._caller is not None and os.getppid() != self._caller:
            os._exit(1)
        if time.monotonic() > self._deadline:
            self._signal.setitimer(self._signal.ITIMER_REAL, 0)
            raise Late("there was no answer in time")

    def __enter__(self) -> None:
        self._before = self._signal.signal(self._signal.SIGALRM, self._look)
        self._signal.setitimer(self._signal.ITIMER_REAL, _LOOK, _LOOK)

    def __exit__(self, *_: object) -> None:
        self._signal.setitimer(self._signal.ITIMER_REAL, 0)
        self._signal.signal(self._signal.SIGALRM, self._before)


def _write(descriptor: int, data: bytes) -> None:
    """Whoever does not listen does not hear it; who is slow is waited for."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            _until_writable(descriptor)
        except OSError:
            return


def _until_writable(descriptor: int) -> None:
    from select import POLLOUT, poll

    ready = poll()
    ready.register(descriptor, POLLOUT)
    ready.poll()


def _frame() -> bytes:
    """What the client has left for us."""
    with open(0, "rb", closefd=False) as file:
        return file.read()


def script(folder: str, caller: str, slot: str) -> int:
    """Find hookonce where the file beside the client says it is, and answer."""
    with open(f"{folder}/interpreter", encoding="utf-8") as file:  # noqa: PTH123  as above
        sys.path[:0] = file.read().splitlines()[2:]
    return framed(folder, _frame(), int(caller), int(slot) if slot.isdigit() else None)


if __name__ == "__main__":
    os._exit(_SAID + script(*sys.argv[1:4]))
