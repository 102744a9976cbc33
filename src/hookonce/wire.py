"""The words between the client and the daemon: one frame there, then replies.

Nothing is imported here but what is there already: the client's twin and the cold path read and write these too.
"""

MAGIC = b"HKO1"
VERSION = b"1"
MOST = 16 << 20  # bytes of a frame that a daemon takes
ACK, ANSWER, COLD = 1, 2, 3
FIELDS = 10  # version, build, id, words, environment, directory, umask, stdin, namespaces, parent
_HEAD = len(MAGIC) + 4
_REPLY = 1 + 8 + 1 + 4 + 4


def frame(fields: list[bytes]) -> bytes:
    """Fields, each after its length, all after theirs together."""
    body = b"".join(len(field).to_bytes(4, "little") + field for field in fields)
    return MAGIC + len(body).to_bytes(4, "little") + body


def length(head: bytes) -> int:
    """Of how many bytes a frame is, head and all, as its first bytes say; 0 while there are too few of them."""
    if head[:4] != MAGIC[: len(head)]:
        raise ValueError("this is no frame of ours")
    return _HEAD + int.from_bytes(head[4:8], "little") if len(head) >= _HEAD else 0


def fields(data: bytes) -> list[bytes]:
    """The fields of a whole frame."""
    if length(data) != len(data):
        raise ValueError("a frame of another length than it says")
    found, place = [], _HEAD
    while place < len(data):
        begin = place + 4
        end = begin + int.from_bytes(data[place:begin], "little")
        if end > len(data):
            raise ValueError("a field that goes beyond its frame")
        found.append(data[begin:end])
        place = end
    if len(found) < FIELDS:
        raise ValueError("a frame with fewer fields than ours")
    return found


def words(field: bytes) -> list[bytes]:
    """What was written with a NUL after each."""
    return field.split(b"\0")[:-1]


def reply(kind: int, deadline: int, code: int = 0, stdout: bytes = b"", stderr: bytes = b"") -> bytes:
    """A reply; the deadline is in nanoseconds since the machine was started."""
    sizes = len(stdout).to_bytes(4, "little") + len(stderr).to_bytes(4, "little")
    return bytes([kind]) + deadline.to_bytes(8, "little") + bytes([code]) + sizes + stdout + stderr


def replies(data: bytes) -> tuple[list[tuple[int, int, int, bytes, bytes]], bytes]:
    """Every whole reply at the beginning of these bytes, and what is left."""
    found = []
    while len(data) >= _REPLY:
        out, err = int.from_bytes(data[10:14], "little"), int.from_bytes(data[14:18], "little")
        end = _REPLY + out + err
        if len(data) < end:
            break
        stdout, stderr = data[_REPLY : _REPLY + out], data[_REPLY + out : end]
        found.append((data[0], int.from_bytes(data[1:9], "little"), data[9], stdout, stderr))
        data = data[end:]
    return found, data
