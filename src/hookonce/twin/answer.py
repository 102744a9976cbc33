"""Where the client's twin begins: the daemon's answer, or else our own."""

import os
from select import POLLOUT, poll

from hookonce.twin import frame
from hookonce.twin.call import Call
from hookonce.twin.line import ask
from hookonce.wire import MOST
from hookonce.wire import frame as wrapped

_STDERR = 3  # where the shell has put the caller's stderr, away from what Python itself might say
_MOST = len(wrapped([])) + MOST


def main(folder: str, told: list[str], caller: int, words: list[str]) -> int:
    """Answer a call with what lies in a folder beside the client; any exception leaves the answer to the shell."""
    call = Call(folder, told, caller, words)
    made = frame.of(call)
    alone = call.variable(b"HOOKONCE_COLD")  # to look at what Python does; the answers are the same
    reply = ask(call, made) if call.house and not alone and len(made) <= _MOST else None
    if reply is None:
        return _cold(call, made)
    _say(1, reply[3])
    _say(_STDERR, reply[4])
    return reply[2]


def _say(descriptor: int, data: bytes) -> None:
    """Whoever does not listen does not hear it; whoever is slow is waited for."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            ready = poll()
            ready.register(descriptor, POLLOUT)
            ready.poll()
        except OSError:
            return


def _cold(call: Call, made: bytes) -> int:
    """Answer in this process, which becomes what the native client would have started."""
    from hookonce.cold import framed
    from hookonce.twin.descriptors import lay_out
    from hookonce.twin.slot import take

    slot = take(call)
    kept = [None, 1, None, _STDERR, *([] if slot is None else [slot])]
    lay_out(kept)
    os.umask(call.umask)
    _live_in(call.environment)
    return framed(call.folder, made, call.caller, None if slot is None else len(kept) - 1)


def _live_in(environment: list[bytes]) -> None:
    """Give hooks the caller's environment instead of what a shell and Python have made of it."""
    entries = (entry.partition(b"=") for entry in reversed(environment))  # of two of one name the first counts
    wanted = {name: value for name, sign, value in entries if name and sign}
    for name in set(os.environb) - set(wanted):
        del os.environb[name]
    for name, value in wanted.items():
        if os.environb.get(name) != value:
            os.environb[name] = value
