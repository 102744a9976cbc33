"""Reading files that a repository may have prepared: ordinary ones only, and never more than was asked for."""

import os
import stat
from pathlib import Path


def contents(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file of at most so many; an OSError for anything else that a name can lead to.

    A pipe would keep us waiting, and a link to an endless device would fill the memory.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        known = os.fstat(handle)
        if not stat.S_ISREG(known.st_mode):
            raise OSError(None, "it is no ordinary file")
        data = file.read(min(known.st_size, most) + 1)  # what is asked for is also reserved
    if len(data) > most:
        raise OSError(None, f"it has more than {most:,} bytes")
    return data
