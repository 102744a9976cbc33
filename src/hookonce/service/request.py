"""What a client has sent: one call, and the world that it comes from."""

from os import fsdecode

from msgspec import Struct

from hookonce import wire

STATUS = b"status"  # in the place of the protocol's version: a question about the daemon itself


class Request(Struct, frozen=True, kw_only=True):
    """A frame taken apart; what the system calls things is kept as Python names them."""

    version: bytes
    build: str
    id: str
    words: list[str]
    environment: dict[str, str]
    cwd: str
    umask: int
    stdin: bytes
    namespaces: str


def read(frame: bytes) -> Request:
    """The request in a whole frame; a ValueError where there is none."""
    version, build, name, words, environment, cwd, umask, stdin, namespaces = wire.fields(frame)[:9]
    return Request(
        version=version,
        build=fsdecode(build),
        id=_name(name),
        words=[fsdecode(word) for word in wire.words(words)],
        environment=_variables(environment),
        cwd=fsdecode(cwd) or "/",
        umask=int(umask or b"-1"),
        stdin=stdin,
        namespaces=fsdecode(namespaces),
    )


def _name(name: bytes) -> str:
    """The id of the call; it becomes the name of a file, and must be nothing else."""
    text = name.decode("ascii")
    if not text.replace("-", "").isalnum():
        raise ValueError("an id that is none")
    return text


def _variables(field: bytes) -> dict[str, str]:
    found = (entry.partition("=") for entry in fsdecode(field).split("\0"))
    return {key: value for key, sign, value in found if sign}
