"""Wire protocol between client and daemon: one request frame, then replies.

Nothing is imported here but what is there already: the Python client and the one-shot process use it too.
"""

import os

MAGIC = b"HKO1"
VERSION = b"2"
MAX_FRAME_BYTES = 16 << 20  # bytes of a frame that a daemon takes
ACK, ANSWER, COLD, BEGIN = 1, 2, 3, 4  # BEGIN: hooks run for this call, so nobody may run them again
BLOCK_CODE = 2  # the exit code that says no to most agents
UNWRITTEN_REASON = b"hookonce cannot write its answer, which may be a refusal\n"
FIELD_COUNT = 9  # version, build, id, words, environment, directory, umask, stdin, parent
_HEADER_BYTES = len(MAGIC) + 4
_REPLY_HEADER_BYTES = 1 + 8 + 1 + 4 + 4


def encode_frame(values: list[bytes]) -> bytes:
    """Fields, each after its length, all after theirs together."""
    body = b"".join(len(field).to_bytes(4, "little") + field for field in values)
    return MAGIC + len(body).to_bytes(4, "little") + body


def frame_length(header: bytes) -> int:
    """Of how many bytes a frame is, head and all, as its first bytes say; 0 while there are too few of them."""
    if header[:4] != MAGIC[: len(header)]:
        raise ValueError("this is no frame of ours")
    return _HEADER_BYTES + int.from_bytes(header[4:8], "little") if len(header) >= _HEADER_BYTES else 0


def decode_fields(data: bytes) -> list[bytes]:
    """The fields of a whole frame."""
    if frame_length(data) != len(data):
        raise ValueError("a frame of another length than it says")
    values, position = [], _HEADER_BYTES
    while position < len(data):
        begin = position + 4
        end = begin + int.from_bytes(data[position:begin], "little")
        if end > len(data):
            raise ValueError("a field that goes beyond its frame")
        values.append(data[begin:end])
        position = end
    if len(values) < FIELD_COUNT:
        raise ValueError("a frame with fewer fields than ours")
    return values


def encode_reply(kind: int, deadline: int, code: int = 0, stdout: bytes = b"", stderr: bytes = b"") -> bytes:
    """A reply; the deadline is in nanoseconds since the machine was started."""
    sizes = len(stdout).to_bytes(4, "little") + len(stderr).to_bytes(4, "little")
    return bytes([kind]) + deadline.to_bytes(8, "little") + bytes([code]) + sizes + stdout + stderr


def decode_replies(data: bytes) -> tuple[list[tuple[int, int, int, bytes, bytes]], bytes]:
    """Every whole reply at the beginning of these bytes, and what is left."""
    complete_replies = []
    while len(data) >= _REPLY_HEADER_BYTES:
        out, err = int.from_bytes(data[10:14], "little"), int.from_bytes(data[14:18], "little")
        end = _REPLY_HEADER_BYTES + out + err
        if len(data) < end:
            break
        stdout, stderr = data[_REPLY_HEADER_BYTES : _REPLY_HEADER_BYTES + out], data[_REPLY_HEADER_BYTES + out : end]
        complete_replies.append((data[0], int.from_bytes(data[1:9], "little"), data[9], stdout, stderr))
        data = data[end:]
    return complete_replies, data


def write_best_effort(fd: int, data: bytes) -> bool:
    """Write everything, however slow the reader is; False, and no error, if the reader has gone."""
    remaining = memoryview(data)
    while remaining:
        try:
            remaining = remaining[os.write(fd, remaining) :]
        except BlockingIOError:
            from select import POLLOUT, poll  # most readers are not slow

            poller = poll()
            poller.register(fd, POLLOUT)
            poller.poll()
        except OSError:
            return False
    return True


def write_reply(stderr_fd: int, code: int, stdout: bytes, stderr: bytes) -> int:
    """Write a reply for its agent; the exit code, that of a refusal where more than silence cannot be written."""
    is_lost = not write_best_effort(1, stdout) and not code and stdout != b"{}\n"
    write_best_effort(stderr_fd, UNWRITTEN_REASON if is_lost else stderr)
    return BLOCK_CODE if is_lost else code
