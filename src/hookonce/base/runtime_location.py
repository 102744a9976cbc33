"""Rule by which the runtime directory of a home is found, for every client and for the daemon.

The native client has the same constants from `client/native/generated.h`. Nothing is imported here that costs time,
because the Python client uses it too. No environment variable counts, not even HOME: a repository can set variables.
No folder counts that others write to, like /tmp: a sandbox lets its commands write there, and whoever replaces our
socket answers in our place.
"""

import os
import stat

MAX_PATH_CHARS = 4096  # no path is longer
DATA_SUBDIR = ".local/share/hookonce"  # below the home
SHARED_LOCATIONS = ("/run/user/%d/hookonce",)  # %d is the user
CLIENT_SUBDIR = f"{DATA_SUBDIR}/bin"
DAEMON_FILE = "daemon.pid"  # beside the client; the daemon holds a write lock of it
FALLBACK_SUBDIR = "run"  # below our data, where nobody else can be faster to take it
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a, 64 bits
GROUP_OTHER_MODE = 0o077
_MAX_ADDRESS_BYTES = 100  # that every system takes; a longer one goes through a descriptor of its folder


def runtime_dir_name(home: bytes, data_dir: bytes) -> str:
    """Name of the runtime directory: FNV-1a 64 of home and data directory, with a NUL between them."""
    digest = FNV_OFFSET
    for byte in home + b"\0" + data_dir:
        digest = (digest ^ byte) * FNV_PRIME % (1 << 64)
    return f"{digest:016x}"


def runtime_locations(uid: int, data_dir: str) -> list[str]:
    """Directories in which the runtime directory may lie; the first counts that is ours alone."""
    return [*(location % uid for location in SHARED_LOCATIONS), f"{data_dir}/{FALLBACK_SUBDIR}"]


def home_of_client(client_dir: str, uid: int) -> str | None:
    """The home for which a client was installed, if its folder is ours alone; else None."""
    home, subdir, rest = os.path.realpath(client_dir).rpartition(f"/{CLIENT_SUBDIR}")
    return (home or "/") if subdir and not rest and is_private_dir(client_dir, uid) else None


def open_socket_address(socket_path: str) -> tuple[str, int]:
    """An address for a socket, however long its path is, and the descriptor to close after its use; -1 for none."""
    if len(os.fsencode(socket_path)) <= _MAX_ADDRESS_BYTES:
        return socket_path, -1
    folder, _, name = socket_path.rpartition("/")
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{fd}/{name}", fd


def is_private_dir(path: str, uid: int) -> bool:
    """Whether a path is a directory of this user, and of nobody else."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & GROUP_OTHER_MODE
