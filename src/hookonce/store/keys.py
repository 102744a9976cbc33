"""The keys of this machine: one that marks rows, one that hides texts, and those that sign. Made when first needed."""

import os
import secrets
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from hookonce.config import paths
from hookonce.errors import HookonceError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_LENGTH = 32
_SIGNS = "sign-"


def folder() -> Path:
    """Where they lie: in no project, and nobody else may look."""
    return paths.data() / "keys"


def marking() -> bytes:
    """What marks rows."""
    return _kept(folder() / "mark")


def hiding() -> bytes:
    """What texts are hashed with, so that nobody can try likely ones."""
    return _kept(folder() / "hash")


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
    except FileNotFoundError:
        return None
    return _known(path, (stat.st_ino, stat.st_mtime_ns))


def _made(path: Path) -> bytes:
    """A new key; where somebody else was faster, theirs."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, secrets.token_bytes(_LENGTH))
        os.fsync(handle)
        os.link(scratch, path)
    except FileExistsError:
        pass
    finally:
        os.close(handle)
        scratch.unlink()
    return _read(path) or _made(path)


def signing() -> "tuple[str, Ed25519PrivateKey]":
    """The newest key that signs, and its name; the first is made when it is needed."""
    known = _signing_files()
    return _private(known[-1] if known else rotate())


def rotate() -> Path:
    """Begin to sign with a new key; the old ones stay, because what they have signed has to be checked."""
    number = len(_signing_files()) + 1
    path = folder() / f"{_SIGNS}{number:04d}"
    _kept(path)
    return path


def _signing_files() -> list[Path]:
    return sorted(path for path in folder().glob(f"{_SIGNS}*") if path.suffix == "")


def _private(path: Path) -> "tuple[str, Ed25519PrivateKey]":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(_kept(path))
    return name_of(key.public_key()), key


def name_of(key: "Ed25519PublicKey") -> str:
    """How a key is named in what it has signed."""
    return sha256(key.public_bytes_raw()).hexdigest()[:16]


def public() -> "dict[str, Ed25519PublicKey]":
    """All keys that have ever signed here, by name."""
    return {name: key.public_key() for name, key in map(_private, _signing_files())}
