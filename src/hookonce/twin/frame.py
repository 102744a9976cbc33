"""The frame: everything that is known of a call, in one piece."""

import os
import time
from select import POLLIN, poll

from hookonce.twin.call import Call
from hookonce.twin.clock import MILLISECOND, SECOND, now
from hookonce.wire import VERSION, frame

_UNTOLD = 14.0  # seconds; earlier than any agent stops waiting at an event that can be refused
_MOST = 1e6  # seconds that an entry can mean
_QUIET = 2 * SECOND  # without a byte after which a whole payload is taken for all of it
_LOOK = 100  # milliseconds between two looks at the caller
_CHUNK = 1 << 20
_PARENT, _BEGAN = 1, 19  # places in what the system tells of a process, after its name


class Late(Exception):
    """A refusal after the agent has given up is none."""


def of(call: Call) -> bytes:
    """The frame of a call, once all of its payload is there."""
    return frame(
        [
            VERSION,
            os.fsencode(call.build),
            _name(),
            _words([os.fsencode(word) for word in call.words]),
            _words(call.environment),
            _folder(),
            b"%d" % call.umask,
            _payload(call, _latest(call.words)),
            _namespaces(),
            _parent(call.caller),
        ]
    )


def _name() -> bytes:
    """The call's name, by which everybody knows it: a UUID of version 7."""
    octets = bytearray((time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10))
    octets[6] = octets[6] & 0x0F | 0x70
    octets[8] = octets[8] & 0x3F | 0x80
    text = octets.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])).encode()


def _words(words: list[bytes]) -> bytes:
    return b"".join(word + b"\0" for word in words)


def _folder() -> bytes:
    """Ours; one that was taken away under our feet has no name."""
    try:
        return os.getcwdb()  # noqa: PTH109  as bytes
    except OSError:
        return b""


def _latest(words: list[str]) -> int:
    """When it is too late for an answer: what the entry says that the agent waits, less half a second or a tenth."""
    seconds = 0.0
    for word, value in zip(words, words[1:]):  # noqa: B905, RUF007  the last word has no value; `itertools` is an import
        if word == "--timeout":
            seconds = _number(value)
    seconds = seconds if 0 < seconds < _MOST else _UNTOLD
    return now() + int((seconds - max(0.5, seconds / 10)) * SECOND)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _payload(call: Call, end: int) -> bytes:
    """All that comes on stdin; some agents never close it, so a whole document and then nothing is the end too."""
    data, ready, quiet = bytearray(), poll(), 0
    ready.register(0, POLLIN)
    while True:
        began = now()
        if ready.poll(max(0, min(_LOOK, (end - began) // MILLISECOND + 1))):
            chunk = _chunk()
            if chunk == b"":
                return bytes(data)
            data += chunk or b""
            quiet = 0
            continue
        call.look()
        quiet += now() - began
        if now() >= end:
            raise Late
        if quiet >= _QUIET:
            if _is_whole(data):
                return bytes(data)
            quiet = 0


def _chunk() -> bytes | None:
    """What there is to read, nothing at the end; None if it was a mistake that there is something."""
    try:
        return os.read(0, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:  # it cannot be read at all
        return b""


def _is_whole(data: bytearray) -> bool:
    """Whether a document can have ended here: every bracket and every string is closed."""
    depth, is_quoted, rest = 0, False, iter(data)
    for byte in rest:
        if is_quoted and byte == ord("\\"):
            next(rest, None)
        elif byte == ord('"'):
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (byte in b"{[") - (byte in b"}]")
    return bool(data.strip()) and not is_quoted and depth <= 0


def _namespaces() -> bytes:
    """In which mounts and among which processes the caller lives."""
    try:
        return b" ".join(os.readlink(b"/proc/self/ns/" + kind) for kind in (b"mnt", b"pid"))  # noqa: PTH115
    except OSError:
        return b""


def _parent(shell: int) -> bytes:
    """Who called the shell; numbers of processes are used again, so the time of its start belongs to it."""
    try:
        parent = _told(shell)[_PARENT]
        return parent + b" " + _told(int(parent))[_BEGAN]
    except (OSError, IndexError):
        return b""


def _told(process: int) -> list[bytes]:
    """What the system tells of a process, after its name, which may hold anything."""
    with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123  as in `call`
        return file.read().rpartition(b")")[2].split()
