"""A call: who makes it, with which words, in which world, and where we lie."""

import os

from hookonce.twin import house

_PRIVATE_UMASK = 0o077  # what our own files deny to others, whatever the caller's umask


class ClientCall:
    """What is known of a call before its payload.

    The caller is the shell that has started us for it; that one's environment is the agent's, while ours is what
    the shell has made of it.
    """

    def __init__(self, folder: str, install_lines: list[str], caller: int, argv: list[str]) -> None:
        """Read the lines of the file beside the client: the interpreter, our build, where the package lies."""
        self.folder, self.caller, self.argv = folder, caller, argv
        self.python, self.build, self.package_root = install_lines[:3]
        self.umask = os.umask(_PRIVATE_UMASK)
        self.environment = _read_environment(caller)
        self.home = house.find_home(self.get_variable(b"HOME") or b"")
        self.runtime_dir = house.find_runtime_dir(self.home)

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
        return os.open(f"{self.runtime_dir}/{name}", flags | os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _read_environment(pid: int) -> list[bytes]:
    """A process's environment as it was started; our own where /proc does not tell."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  `pathlib` takes longer than all of this
            return file.read().split(b"\0")[:-1]
    except OSError:
        return [b"%s=%s" % entry for entry in os.environb.items()]
