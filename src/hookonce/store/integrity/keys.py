"""Keys of this machine: HMAC keys of rows and of hashed texts, Ed25519 signing keys. Created when needed."""

import os
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hookonce.base import paths, times
from hookonce.errors import HookonceError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_ALGORITHM = "ed25519"
_KEY_BYTES = 32
_NAME_CHARS = 16
_SIGNING_PREFIX = "sign-"
_PUBLIC_SUFFIX = ".pub"
_SINCE_PREFIX = "since-"  # and the number of a key that signs: a file with the time at which it was made
_OTHERS_MODE = 0o077


class SigningKeyInfo(Struct, frozen=True):
    """A signing key: its name, since when it exists, and whether it still signs."""

    name: str
    since: str
    signs: bool


def keys_dir() -> Path:
    """The folder of the keys, mode 0700."""
    return paths.data_dir() / "keys"


def load_mac_key() -> bytes:
    """The HMAC key of rows."""
    return _load_or_create(_key_path(paths.data_dir(), "mark"))


def has_mac_key() -> bool:
    """Whether the HMAC key of rows exists; readers create none."""
    return (keys_dir() / "mark").exists()


def load_digest_key() -> bytes:
    """The HMAC key of texts that privacy hashes, so that nobody can try likely ones."""
    return _load_or_create(_key_path(paths.data_dir(), "hash"))


@lru_cache(maxsize=16)
def _key_path(data: Path, name: str) -> Path:
    """Cached: needed for every record."""
    return data / "keys" / name


def find_exposed_paths() -> list[Path]:
    """Private keys, and their folder, that others than the owner may read or write."""
    key_paths = [keys_dir(), *keys_dir().glob("*")] if keys_dir().exists() else []
    return [path for path in key_paths if path.suffix != _PUBLIC_SUFFIX and path.stat().st_mode & _OTHERS_MODE]


def _load_or_create(path: Path) -> bytes:
    """Where another process was faster, its key."""
    while (key := _read_key(path)) is None:
        _create_file(path, os.urandom(_KEY_BYTES))
    return key


@lru_cache(maxsize=16)
def _read_cached(path: Path, _stamp: tuple[int, int]) -> bytes:
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise HookonceError(f"the key {path} is damaged; put it back from a copy, or remove it and begin a new record")
    return key


def _read_key(path: Path) -> bytes | None:
    try:
        stat = path.stat()
        return _read_cached(path, (stat.st_ino, stat.st_mtime_ns))
    except FileNotFoundError:
        return None


def _create_file(path: Path, content: bytes) -> None:
    """Creates the file atomically, unless it exists."""
    paths.make_private_dir(path.parent)
    scratch = path.with_name(f".{path.name}-{os.urandom(8).hex()}")
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


def load_signing_key() -> "tuple[str, Ed25519PrivateKey]":
    """Name and private key of the newest signing key; the first is created when needed."""
    while True:
        key_files = _list_signing_files()
        raw = _read_key(key_files[-1] if key_files else rotate_signing_key())
        if raw is not None:  # else somebody has just begun another
            return _load_private_key(raw)


def rotate_signing_key() -> Path:
    """Begin a new signing key; of the old ones only the public half is kept."""
    old_files = _list_signing_files()
    numbers = [int(path.stem.removeprefix(_SIGNING_PREFIX)) for path in keys_dir().glob(f"{_SIGNING_PREFIX}*")]
    path = keys_dir() / f"{_SIGNING_PREFIX}{max(numbers, default=0) + 1:04d}"
    _load_or_create(path)
    for key_file in (*old_files, path):  # once only: the file itself knows no more than its last change
        with suppress(FileNotFoundError):  # somebody else has just begun another, and noted this one
            _create_file(_since_file(key_file), _modification_time(key_file).encode())
    for key_file in old_files:
        raw = _read_key(key_file)
        if raw is not None:
            public_key = _load_private_key(raw)[1].public_key()
            _create_file(key_file.with_suffix(_PUBLIC_SUFFIX), public_key.public_bytes_raw())
            key_file.unlink(missing_ok=True)
    return path


def _since_file(path: Path) -> Path:
    return path.with_name(f"{_SINCE_PREFIX}{path.stem.removeprefix(_SIGNING_PREFIX)}")


def _load_since(path: Path) -> str:
    try:
        return _since_file(path).read_text(encoding="ascii")
    except (FileNotFoundError, ValueError):
        return _modification_time(path)


def _modification_time(path: Path) -> str:
    return times.from_seconds(int(path.stat().st_mtime)) or times.EPOCH_TEXT


def _list_signing_files() -> list[Path]:
    return sorted(path for path in keys_dir().glob(f"{_SIGNING_PREFIX}*") if path.suffix == "")


def _load_private_key(raw: bytes) -> "tuple[str, Ed25519PrivateKey]":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(raw)
    return key_name(key.public_key()), key


def key_name(key: "Ed25519PublicKey") -> str:
    """The name of a key in what it has signed."""
    return fingerprint(key)[:_NAME_CHARS]


def fingerprint(key: "Ed25519PublicKey") -> str:
    """The whole of what a key's name is the beginning of, for people who compare."""
    return sha256(key.public_bytes_raw()).hexdigest()


def public_key_text(key: "Ed25519PublicKey") -> str:
    """A public key as a text that can be handed to somebody else."""
    from base64 import b64encode

    return f"{_ALGORITHM}:{b64encode(key.public_bytes_raw()).decode()}"


def parse_public_key(text: str) -> "Ed25519PublicKey":
    """The public key of such a text; ValueError if it is none."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    algorithm, _, encoded_key = text.partition(":")
    if algorithm != _ALGORITHM:
        raise ValueError(f"expected {_ALGORITHM}: and the key in base64")
    from base64 import b64decode

    return Ed25519PublicKey.from_public_bytes(b64decode(encoded_key, validate=True))


def load_public_keys() -> "dict[str, Ed25519PublicKey]":
    """Public halves of all signing keys by name, oldest first."""
    return {key_name(key): key for _, key in _list_public_keys()}


def list_signing_keys() -> list[SigningKeyInfo]:
    """All signing keys, oldest first."""
    pairs = _list_public_keys()
    return [SigningKeyInfo(key_name(key), _load_since(path), path.suffix != _PUBLIC_SUFFIX) for path, key in pairs]


def _list_public_keys() -> "list[tuple[Path, Ed25519PublicKey]]":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    public_keys = []
    for path in sorted(keys_dir().glob(f"{_SIGNING_PREFIX}*")):
        raw = _read_key(path)
        if raw is not None:
            is_public = path.suffix == _PUBLIC_SUFFIX
            key = Ed25519PublicKey.from_public_bytes(raw) if is_public else _load_private_key(raw)[1].public_key()
            public_keys.append((path, key))
    return public_keys


def is_valid_signature(text: bytes, name: str, signature: bytes, public_keys: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether the key of that name has signed a text."""
    from cryptography.exceptions import InvalidSignature

    key = public_keys.get(name)
    if key is None:
        return False
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True
