"""Rule by which the runtime directory of a home is found, for every client and for the daemon.

The native client has the same constants from `client/native/generated.h`. Nothing is imported here that costs time,
because the Python client uses it too. No environment variable but HOME counts: a repository can set variables, and
whoever moves this directory begins every count anew.
"""

import os
import stat

DATA_SUBDIR = ".local/share/hookonce"  # below the home
SHARED_LOCATIONS = ("/run/user/%d/hookonce", "/tmp/hookonce-%d")  # noqa: S108  it must be ours alone; %d is the user
FALLBACK_SUBDIR = "run"  # below our data, where nobody else can be faster to take it
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
GROUP_OTHER_MODE = 0o077


def runtime_dir_name(home: bytes, data_dir: bytes) -> str:
    """Name of the runtime directory: FNV-1a 64 of home and data directory, with a NUL between them."""
    digest = FNV_OFFSET
    for byte in home + b"\0" + data_dir:
        digest = (digest ^ byte) * FNV_PRIME % (1 << 64)
    return f"{digest:016x}"


def runtime_locations(uid: int, data_dir: str) -> list[str]:
    """Directories in which the runtime directory may lie; the first counts that is ours alone."""
    return [*(location % uid for location in SHARED_LOCATIONS), f"{data_dir}/{FALLBACK_SUBDIR}"]


def is_private_dir(path: str, uid: int) -> bool:
    """Whether a path is a directory of this user, and of nobody else."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & GROUP_OTHER_MODE
