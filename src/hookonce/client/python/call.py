"""The call of the Python client: arguments, caller, environment, home, runtime directory, and the clock.

The clock is the one of the daemon's deadlines, which runs on while the machine sleeps. The home is found here once
more, as in the native client, because `base.paths` takes too long to import.
"""

import os
import time

from hookonce.base.runtime_location import (
    DATA_SUBDIR,
    home_of_client,
    is_private_dir,
    runtime_dir_name,
    runtime_locations,
)

NS_PER_SECOND = 1_000_000_000
NS_PER_MILLISECOND = 1_000_000
_CLOCK_ID = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_ns() -> int:
    """Nanoseconds since the machine was started."""
    return time.clock_gettime_ns(_CLOCK_ID)


def find_home(client_dir: str) -> bytes:
    """The home in which the client lies, else the account's; HOME is what the caller says."""
    home = home_of_client(client_dir, os.getuid())
    return os.fsencode(os.path.realpath(_passwd_home()) if home is None else home)


def find_runtime_dir(home: bytes) -> str:
    """The runtime directory in the first location that is ours alone, else ""; it is created by Python, not here."""
    uid, data_dir = os.getuid(), _data_dir(home)
    name = runtime_dir_name(home, data_dir)
    for location in runtime_locations(uid, os.fsdecode(data_dir)):
        if is_private_dir(location, uid) and is_private_dir(path := f"{location}/{name}", uid):
            return path
    return ""


def _passwd_home() -> bytes:
    from pwd import getpwuid

    try:
        path = os.fsencode(getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run us as somebody who is not in the list
        return b"/"
    return path if path.startswith(b"/") else b"/"


def _data_dir(home: bytes) -> bytes:
    return home + (b"" if home.endswith(b"/") else b"/") + DATA_SUBDIR.encode()


_PRIVATE_UMASK = 0o077  # what our own files deny to others, whatever the caller's umask


class ClientCall:
    """What is known of a call before its payload.

    The caller is the shell that has started us for it; that one's environment is the agent's, while ours is what
    the shell has made of it.
    """

    def __init__(self, folder: str, install_lines: list[str], caller: int, argv: list[str]) -> None:
        """Read the lines of the file beside the client: the interpreter, our build, where the package lies."""
        self.id, self.folder, self.caller, self.argv = _new_call_id(), folder, caller, argv
        self.python, self.build, self.package_root = install_lines[:3]
        self.umask = os.umask(_PRIVATE_UMASK)
        self.environment = _read_environment(caller)
        self.home = find_home(folder)
        self.runtime_dir = find_runtime_dir(self.home)

    def get_variable(self, name: bytes) -> bytes | None:
        """A variable of the caller's environment."""
        prefix = name + b"="
        return next((entry[len(prefix) :] for entry in self.environment if entry.startswith(prefix)), None)

    def exit_if_orphan(self) -> None:
        """Exit if the shell was killed: nobody wants the answer."""
        if os.getppid() != self.caller:
            os._exit(1)

    def open_runtime_file(self, name: str, flags: int = 0) -> int:
        """Open, or create, a file in the runtime directory."""
        return os.open(
            f"{self.runtime_dir}/{name}", flags | os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )


def _read_environment(pid: int) -> list[bytes]:
    """A process's environment as it was started; our own where /proc does not tell."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  `pathlib` takes longer than all of this
            return file.read().split(b"\0")[:-1]
    except OSError:
        return [b"%s=%s" % entry for entry in os.environb.items()]


def _new_call_id() -> str:
    """A new UUID of version 7: the call's id."""
    octets = bytearray((time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10))
    octets[6] = octets[6] & 0x0F | 0x70
    octets[8] = octets[8] & 0x3F | 0x80
    text = octets.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
