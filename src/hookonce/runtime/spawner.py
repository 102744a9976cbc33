"""Starts a command again and again and tells how long each call took: the twin of `spawner.c`, with the same words.

It is for machines without a C compiler. Starting a process from Python costs more, so all its times are a bit longer.
"""

import os
import signal
import sys
import time
from mmap import mmap
from pathlib import Path

_MARK = b"#" * 10
_ROOM = 10  # bytes for a call: how long it took, how it ended, and whether it was heavy
_FINE, _FAILED, _WRONG = range(3)
_CHUNK = 1 << 16


def main(words: list[str]) -> int:
    """Run as many calls as were asked for, by as many callers, and print what they took."""
    callers, calls, pause, first, faults = map(int, words[:5])
    texts = Path(words[5]).read_bytes(), Path(words[6]).read_bytes()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    shared = mmap(-1, max(calls, 1) * _ROOM)
    gate, opener = os.pipe()
    for caller in range(callers):
        if os.fork() == 0:
            os.close(opener)
            os.read(gate, 1)
            os.close(gate)
            for which in range(caller, calls, callers):
                numbered = [text.replace(_MARK, b"%010d" % (first + which)) for text in texts]
                took, ended, faulted = call(words[7:], numbered[0], numbered[1])
                told = took.to_bytes(8, "little") + bytes([ended, faulted > faults])
                shared[which * _ROOM : (which + 1) * _ROOM] = told
                time.sleep(pause / 1e6)
            os._exit(0)
    began = time.monotonic_ns()
    os.close(opener)
    ends = [os.wait()[1] for _ in range(callers)]
    _tell(time.monotonic_ns() - began, shared, calls)
    return int(any(ends))


def call(command: list[str], payload: bytes, expected: bytes) -> tuple[int, int, int]:
    """Nanoseconds that one process took from its start to its end, how it ended, and its page faults."""
    ear, mouth = os.pipe()
    heard, said = os.pipe()
    files = [(os.POSIX_SPAWN_DUP2, ear, 0), (os.POSIX_SPAWN_DUP2, said, 1), (os.POSIX_SPAWN_DUP2, said, 2)]
    began = time.monotonic_ns()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=files)
    os.close(ear)
    os.close(said)
    _write(mouth, payload)
    os.close(mouth)
    answer = b"".join(iter(lambda: os.read(heard, _CHUNK), b""))
    _, status, used = os.wait4(child, 0)
    took = time.monotonic_ns() - began
    os.close(heard)
    return took, _FAILED if status else _FINE if answer == expected else _WRONG, used.ru_minflt


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(handle, view) :]
    except OSError:
        pass  # a command that does not listen


def _tell(wall: int, shared: mmap, calls: int) -> None:
    rows = [shared[which * _ROOM : (which + 1) * _ROOM] for which in range(calls)]
    ends = [row[8] for row in rows]
    lines = [f"{wall} {ends.count(_FAILED)} {ends.count(_WRONG)} {sum(row[9] for row in rows)}"]
    lines += [str(int.from_bytes(row[:8], "little")) for row in rows]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
