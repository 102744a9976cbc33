"""Request frame of the Python client: everything that is known of a call, in the wire format."""

import os
from select import POLLIN, poll

from hookonce.base.wire import VERSION, encode_frame
from hookonce.client.python.call import NS_PER_MILLISECOND, NS_PER_SECOND, ClientCall, now_ns

_DEFAULT_TIMEOUT_S = 14.0  # seconds; earlier than any agent stops waiting at an event that can be refused
_MAX_TIMEOUT_S = 1e6  # seconds that an entry can mean
_STDIN_IDLE_NS = 2 * NS_PER_SECOND  # without a byte after which a whole payload is taken for all of it
_POLL_INTERVAL_MS = 100  # milliseconds between two looks at the caller
_CHUNK_BYTES = 1 << 20
_STAT_PARENT = 1  # place in what the system tells of a process, after its name


class PayloadTimeoutError(Exception):
    """The payload was not complete before the reply deadline: a refusal after it would come too late."""


def build_frame(call: ClientCall) -> bytes:
    """The frame of a call, once all of its payload was read."""
    return encode_frame(
        [
            VERSION,
            os.fsencode(call.build),
            call.id.encode(),
            _join_nul([os.fsencode(argument) for argument in call.argv]),
            _join_nul(call.environment),
            _cwd_bytes(),
            b"%d" % call.umask,
            _read_payload(call, now_ns() + reply_budget_ns(call.argv)),
            _caller_parent(call.caller),
        ]
    )


def _join_nul(items: list[bytes]) -> bytes:
    return b"".join(item + b"\0" for item in items)


def _cwd_bytes() -> bytes:
    """The current directory, or what it was when it was deleted; empty if nobody can tell."""
    try:
        return os.getcwdb()  # noqa: PTH109  as bytes
    except OSError:
        pass
    try:
        return os.readlink(b"/proc/self/cwd").removesuffix(b" (deleted)")  # noqa: PTH115  as bytes
    except OSError:
        return b""


def reply_budget_ns(argv: list[str]) -> int:
    """The time for an answer: the entry's --timeout, less half a second or a tenth."""
    seconds = 0.0
    for argument, value in zip(argv, argv[1:]):  # noqa: B905, RUF007  the last word has no value; `itertools` is an import
        if argument == "--timeout":
            seconds = _parse_number(value)
    seconds = seconds if 0 < seconds < _MAX_TIMEOUT_S else _DEFAULT_TIMEOUT_S
    return int((seconds - max(0.5, seconds / 10)) * NS_PER_SECOND)


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _read_payload(call: ClientCall, deadline_ns: int) -> bytes:
    """All of stdin; some agents never close it, so a complete document and then two idle seconds end it too."""
    data, poller, idle_ns = bytearray(), poll(), 0
    poller.register(0, POLLIN)
    while True:
        poll_start_ns = now_ns()
        if poller.poll(max(0, min(_POLL_INTERVAL_MS, (deadline_ns - poll_start_ns) // NS_PER_MILLISECOND + 1))):
            chunk = _read_chunk()
            if chunk == b"":
                return bytes(data)
            data += chunk or b""
            idle_ns = 0
            continue
        call.exit_if_orphan()
        idle_ns += now_ns() - poll_start_ns
        if now_ns() >= deadline_ns:
            raise PayloadTimeoutError
        if idle_ns >= _STDIN_IDLE_NS:
            if _is_complete_json(data):
                return bytes(data)
            idle_ns = 0


def _read_chunk() -> bytes | None:
    """Bytes that can be read now, b"" at the end, None after a spurious wake-up."""
    try:
        return os.read(0, _CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError:  # it cannot be read at all
        return b""


def _is_complete_json(data: bytearray) -> bool:
    """Whether a document can have ended here: every bracket and every string is closed."""
    depth, is_quoted, byte_iter = 0, False, iter(data)
    for byte in byte_iter:
        if is_quoted and byte == ord("\\"):
            next(byte_iter, None)
        elif byte == ord('"'):
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (byte in b"{[") - (byte in b"}]")
    return bool(data.strip()) and not is_quoted and depth <= 0


def _caller_parent(shell_pid: int) -> bytes:
    """The shell's parent."""
    try:
        return _read_proc_stat(shell_pid)[_STAT_PARENT]
    except (OSError, IndexError):
        return b""


def _read_proc_stat(pid: int) -> list[bytes]:
    """Fields of /proc/PID/stat after the program's name, which may hold anything."""
    with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  as in `call`
        return file.read().rpartition(b")")[2].split()
