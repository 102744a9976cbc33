"""Bounded reads of regular files that a repository may have prepared."""

import os
import stat
from pathlib import Path


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file of at most `max_bytes`; OSError for anything else that a name can lead to.

    A pipe would keep us waiting, and a link to an endless device would fill the memory.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(None, "it is no ordinary file")
        data = file.read(min(status.st_size, max_bytes) + 1)  # what is asked for is also reserved
    if len(data) > max_bytes:
        raise OSError(None, f"it has more than {max_bytes:,} bytes")
    return data
