"""The keys of this machine: one that marks rows, one that hides texts, and those that sign. Made when first needed."""

import os
import secrets
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hookonce import times
from hookonce.config import paths
from hookonce.errors import HookonceError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_LENGTH = 32
_SIGNS = "sign-"
_PUBLIC = ".pub"
_SINCE = "since-"  # and the number of a key that signs: a file with the time at which it was made
_OTHERS = 0o077


class Named(Struct, frozen=True):
    """A key that signs, or has signed: its name, since when it is there, and whether it is the one that signs now."""

    name: str
    since: str
    signs: bool


def folder() -> Path:
    """Where they lie: in no project, and nobody else may look."""
    return paths.data() / "keys"


def marking() -> bytes:
    """What marks rows."""
    return _kept(_named(paths.data(), "mark"))


def is_marking() -> bool:
    """Whether the key that marks rows is there; whoever only looks makes none."""
    return (folder() / "mark").exists()


def hiding() -> bytes:
    """What texts are hashed with, so that nobody can try likely ones."""
    return _kept(_named(paths.data(), "hash"))


@lru_cache(maxsize=16)
def _named(data: Path, name: str) -> Path:
    """Asked with every record, and dear to put together."""
    return data / "keys" / name


def exposed() -> list[Path]:
    """The keys, and the folder around them, that others than their owner may read or write."""
    found = [folder(), *folder().glob("*")] if folder().exists() else []
    return [path for path in found if path.suffix != _PUBLIC and path.stat().st_mode & _OTHERS]


def _kept(path: Path) -> bytes:
    return _read(path) or _made(path)


@lru_cache(maxsize=16)
def _known(path: Path, _stamp: tuple[int, int]) -> bytes:
    found = path.read_bytes()
    if len(found) != _LENGTH:
        raise HookonceError(f"the key {path} is damaged; put it back from a copy, or remove it and begin a new record")
    return found


def _read(path: Path) -> bytes | None:
    try:
        stat = path.stat()
        return _known(path, (stat.st_ino, stat.st_mtime_ns))
    except FileNotFoundError:
        return None


def _made(path: Path) -> bytes:
    """A new key; where somebody else was faster, theirs."""
    _place(path, secrets.token_bytes(_LENGTH))
    return _read(path) or _made(path)


def _place(path: Path, content: bytes) -> None:
    """A whole file under that name, unless there is one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, content)
        os.fsync(handle)
        os.link(scratch, path)
    except FileExistsError:
        pass
    finally:
        os.close(handle)
        scratch.unlink()


def signing() -> "tuple[str, Ed25519PrivateKey]":
    """The newest key that signs, and its name; the first is made when it is needed."""
    while True:
        known = _signing_files()
        raw = _read(known[-1] if known else rotate())
        if raw is not None:  # else somebody has just begun another
            return _private(raw)


def rotate() -> Path:
    """Begin to sign with a new key. Of the old ones only what checks their signatures stays: nobody signs with them."""
    old = _signing_files()
    numbers = [int(path.stem.removeprefix(_SIGNS)) for path in folder().glob(f"{_SIGNS}*")]
    path = folder() / f"{_SIGNS}{max(numbers, default=0) + 1:04d}"
    _kept(path)
    for one in (*old, path):
        _dated(one)
    for one in old:
        raw = _read(one)
        if raw is not None:
            _place(one.with_suffix(_PUBLIC), _private(raw)[1].public_key().public_bytes_raw())
            one.unlink(missing_ok=True)
    return path


def _dated(path: Path) -> None:
    """Note since when a key is there, once and for all: of the file itself only what is written last is known."""
    with suppress(FileNotFoundError):  # somebody else has just begun another, and noted this one
        _place(_note(path), _age(path).encode())


def _note(path: Path) -> Path:
    return path.with_name(f"{_SINCE}{path.stem.removeprefix(_SIGNS)}")


def _since(path: Path) -> str:
    try:
        return _note(path).read_text(encoding="ascii")
    except (FileNotFoundError, ValueError):
        return _age(path)


def _age(path: Path) -> str:
    return times.from_seconds(int(path.stat().st_mtime)) or times.EPOCH


def _signing_files() -> list[Path]:
    return sorted(path for path in folder().glob(f"{_SIGNS}*") if path.suffix == "")


def _private(raw: bytes) -> "tuple[str, Ed25519PrivateKey]":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(raw)
    return name_of(key.public_key()), key


def name_of(key: "Ed25519PublicKey") -> str:
    """How a key is named in what it has signed."""
    return sha256(key.public_bytes_raw()).hexdigest()[:16]


def public() -> "dict[str, Ed25519PublicKey]":
    """All keys that have ever signed here, by name, oldest first."""
    return {name_of(key): key for _, key in _public_files()}


def signers() -> list[Named]:
    """The same, as they are shown."""
    return [Named(name_of(key), _since(path), path.suffix != _PUBLIC) for path, key in _public_files()]


def _public_files() -> "list[tuple[Path, Ed25519PublicKey]]":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    found = []
    for path in sorted(folder().glob(f"{_SIGNS}*")):
        raw = _read(path)
        if raw is not None:
            key = Ed25519PublicKey.from_public_bytes(raw) if path.suffix == _PUBLIC else _private(raw)[1].public_key()
            found.append((path, key))
    return found
