"""Process spawner in Python: calls a command repeatedly and prints timings; same arguments as `spawner.c`.

For machines without a C compiler. Starting a process from Python costs more, so all times are a bit longer.
"""

import os
import signal
import sys
import time
from collections.abc import Mapping
from mmap import mmap
from pathlib import Path

_CALL_NUMBER_MARKER = b"#" * 10
_RESULT_BYTES = 10  # bytes for a call: how long it took, how it ended, and whether it was heavy
_OK, _FAILURE, _WRONG_ANSWER = range(3)
_CHUNK_BYTES = 1 << 16
_ANYTHING = "-"  # in the place of the file with what is expected


def main(arguments: list[str]) -> int:
    """Run as many calls as were asked for, by as many callers, and print what they took."""
    callers, calls, pause_us, first_number, max_faults, exit_code = map(int, arguments[:6])
    texts = [Path(name).read_bytes() for name in arguments[6:8] if name != _ANYTHING]
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    shared = mmap(-1, max(calls, 1) * _RESULT_BYTES)
    gate_read, gate_write = os.pipe()
    for caller in range(callers):
        if os.fork() == 0:
            os.close(gate_write)
            os.read(gate_read, 1)
            os.close(gate_read)
            for index in range(caller, calls, callers):
                numbered_texts = [
                    text.replace(_CALL_NUMBER_MARKER, b"%010d" % (first_number + index)) for text in texts
                ]
                call_ns, outcome, page_faults = run_call(arguments[8:], exit_code, *numbered_texts)
                result = call_ns.to_bytes(8, "little") + bytes([outcome, page_faults > max_faults])
                shared[index * _RESULT_BYTES : (index + 1) * _RESULT_BYTES] = result
                time.sleep(pause_us / 1e6)
            os._exit(0)
    start_ns = time.monotonic_ns()
    os.close(gate_write)
    ends = [os.wait()[1] for _ in range(callers)]
    _print_results(time.monotonic_ns() - start_ns, shared, calls)
    return int(any(ends))


def run_call(
    command: list[str],
    exit_code: int,
    payload: bytes,
    expected: bytes | None = None,
    environment: Mapping[str, str] = os.environ,
) -> tuple[int, int, int]:
    """Run one process; return nanoseconds, outcome and page faults."""
    stdin_read, stdin_write = os.pipe()
    output_read, output_write = os.pipe()
    files = [
        (os.POSIX_SPAWN_DUP2, stdin_read, 0),
        (os.POSIX_SPAWN_DUP2, output_write, 1),
        (os.POSIX_SPAWN_DUP2, output_write, 2),
    ]
    start_ns = time.monotonic_ns()
    child = os.posix_spawn(command[0], command, environment, file_actions=files)
    os.close(stdin_read)
    os.close(output_write)
    _write_all(stdin_write, payload)
    os.close(stdin_write)
    answer = b"".join(iter(lambda: os.read(output_read, _CHUNK_BYTES), b""))
    _, status, usage = os.wait4(child, 0)
    call_ns = time.monotonic_ns() - start_ns
    os.close(output_read)
    has_failed = os.waitstatus_to_exitcode(status) != exit_code
    is_right = expected in {None, answer}
    return call_ns, _FAILURE if has_failed else _OK if is_right else _WRONG_ANSWER, usage.ru_minflt


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(handle, view) :]
    except OSError:
        pass  # a command that does not listen


def _print_results(wall_ns: int, shared: mmap, calls: int) -> None:
    rows = [shared[index * _RESULT_BYTES : (index + 1) * _RESULT_BYTES] for index in range(calls)]
    ends = [row[8] for row in rows]
    lines = [f"{wall_ns} {ends.count(_FAILURE)} {ends.count(_WRONG_ANSWER)} {sum(row[9] for row in rows)}"]
    lines += [str(int.from_bytes(row[:8], "little")) for row in rows]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
