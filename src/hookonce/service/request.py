"""What a client has sent: one call, and the world that it comes from."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from os import fsdecode

from msgspec import Struct

from hookonce import wire


class ClientRequest(Struct, frozen=True, kw_only=True):
    """A request frame, decoded; paths and words as Python's fsdecode gives them."""

    version: bytes
    build: str
    id: str
    argv: list[str]
    environment: Mapping[str, str]
    cwd: str
    umask: int
    stdin: bytes
    namespaces: str


def parse_request(fields: list[bytes]) -> ClientRequest:
    """Parse the fields of a frame; ValueError where they hold no request."""
    version, build, call_id, argv, environment, cwd, umask, stdin, namespaces = fields[:9]
    return ClientRequest(
        version=version,
        build=fsdecode(build),
        id=parse_call_id(call_id),
        argv=[fsdecode(argument) for argument in wire.split_nul(argv)],
        environment=LazyEnvironment(environment),
        cwd=fsdecode(cwd) or "/",
        umask=int(umask or b"-1"),
        stdin=stdin,
        namespaces=fsdecode(namespaces),
    )


def parse_call_id(field: bytes) -> str:
    """Parse the call id; it becomes a file name, so nothing but letters, digits and dashes is accepted."""
    text = field.decode("ascii")
    if not text.replace("-", "").isalnum():
        raise ValueError("an id that is none")
    return text


class LazyEnvironment(Mapping[str, str]):
    """Environment mapping that is parsed on first use."""

    def __init__(self, field: bytes) -> None:
        """Keep the raw field."""
        self._field = field

    @cached_property
    def _variables(self) -> dict[str, str]:
        entries = (entry.partition("=") for entry in fsdecode(self._field).split("\0"))
        return {key: value for key, sign, value in entries if key and sign}

    def __contains__(self, name: object) -> bool:
        return f"{name}=".encode() in self._field and name in self._variables

    def __getitem__(self, name: str) -> str:
        if name not in self:
            raise KeyError(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)
