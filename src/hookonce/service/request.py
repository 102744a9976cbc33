"""What a client has sent: one call, and the world that it comes from."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from os import fsdecode

from msgspec import Struct

from hookonce import wire


class Request(Struct, frozen=True, kw_only=True):
    """A frame taken apart; what the system calls things is kept as Python names them."""

    version: bytes
    build: str
    id: str
    words: list[str]
    environment: Mapping[str, str]
    cwd: str
    umask: int
    stdin: bytes
    namespaces: str


def read(fields: list[bytes]) -> Request:
    """The request in the fields of a frame; a ValueError where there is none."""
    version, build, name, words, environment, cwd, umask, stdin, namespaces = fields[:9]
    return Request(
        version=version,
        build=fsdecode(build),
        id=name_of(name),
        words=[fsdecode(word) for word in wire.words(words)],
        environment=Variables(environment),
        cwd=fsdecode(cwd) or "/",
        umask=int(umask or b"-1"),
        stdin=stdin,
        namespaces=fsdecode(namespaces),
    )


def name_of(name: bytes) -> str:
    """The id of the call; it becomes the name of a file, and must be nothing else."""
    text = name.decode("ascii")
    if not text.replace("-", "").isalnum():
        raise ValueError("an id that is none")
    return text


class Variables(Mapping[str, str]):
    """An environment, taken apart when somebody needs more than one word of it."""

    def __init__(self, field: bytes) -> None:
        """As it came."""
        self._field = field

    @cached_property
    def _all(self) -> dict[str, str]:
        found = (entry.partition("=") for entry in fsdecode(self._field).split("\0"))
        return {key: value for key, sign, value in found if key and sign}

    def __contains__(self, name: object) -> bool:
        return f"{name}=".encode() in self._field and name in self._all

    def __getitem__(self, name: str) -> str:
        if name not in self:
            raise KeyError(name)
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)
