"""A call: who makes it, with which words, in which world, and where we lie."""

import os

from hookonce.twin import house

_OURS = 0o077  # what our own files deny to others, whatever the caller's umask


class Call:
    """What is known of a call before its payload.

    The caller is the shell that has started us for it; that one's environment is the agent's, while ours is what the
    shell has made of it.
    """

    def __init__(self, folder: str, told: list[str], caller: int, words: list[str]) -> None:
        """From what lies beside the client: the interpreter, our build, where the package lies."""
        self.folder, self.caller, self.words = folder, caller, words
        self.python, self.build, self.shelf = told[:3]
        self.umask = os.umask(_OURS)
        self.environment = _environment(caller)
        self.home = house.home(self.variable(b"HOME") or b"")
        self.house = house.find(self.home)

    def variable(self, name: bytes) -> bytes | None:
        """A variable of the caller's."""
        begin = name + b"="
        return next((entry[len(begin) :] for entry in self.environment if entry.startswith(begin)), None)

    def look(self) -> None:
        """Whoever has killed the shell wants no answer any more."""
        if os.getppid() != self.caller:
            os._exit(1)

    def in_house(self, name: str, flags: int = 0) -> int:
        """A file in the house, open."""
        return os.open(f"{self.house}/{name}", flags | os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _environment(process: int) -> list[bytes]:
    """Of a process as it was started, entry by entry; where the system does not tell, our own."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:  # noqa: PTH123  `pathlib` takes longer than all of this
            return file.read().split(b"\0")[:-1]
    except OSError:
        return [b"%s=%s" % entry for entry in os.environb.items()]
