"""Payload on stdin: read by the one-shot process and by scripts of the SDK."""

import os
from select import select

from hookonce.base.jsontext import NestingError, load_leniently

_IDLE_TIMEOUT_S = 2.0  # seconds without a byte after which a whole payload is taken for all of it
_CHUNK_BYTES = 1 << 20


def read_payload() -> bytes:
    """All of stdin; some agents never close it, so a complete document and then two idle seconds end it too."""
    data = bytearray()
    while True:
        if not select([0], [], [], _IDLE_TIMEOUT_S)[0]:
            if _is_complete_json(data):
                return bytes(data)
        elif chunk := os.read(0, _CHUNK_BYTES):
            data += chunk
        else:
            return bytes(data)


def _is_complete_json(data: bytearray) -> bool:
    try:
        load_leniently(data.decode(errors="replace"))
    except NestingError:
        return True  # nobody can read it, however it goes on
    except ValueError:
        return False
    return True
