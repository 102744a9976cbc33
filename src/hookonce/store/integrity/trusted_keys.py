"""Public keys of other machines, which somebody has said to trust, by the names that they were given."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct
from msgspec.json import encode

from hookonce.base import paths, times
from hookonce.base.files import PRIVATE_MODE, decode_own_file, replace_file
from hookonce.base.regex import lazy_pattern
from hookonce.errors import HookonceError
from hookonce.store.integrity import keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_NAME = lazy_pattern(r"[\w][\w.@-]{0,63}")


class TrustedKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key of another machine: the name that it has here, the key as a text, its fingerprint, and since when."""

    name: str
    key: str
    fingerprint: str
    since: str


def trusted_keys_file() -> Path:
    """The file with the keys, which only its owner can write."""
    return paths.data_dir() / "trusted-keys.json"


def load_trusted_keys() -> list[TrustedKey]:
    """All trusted keys in the order in which they were added; a file that cannot be read is an error."""
    file = trusted_keys_file()
    try:
        status = file.stat()
        return list(_read_keys(file, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)))
    except FileNotFoundError:
        return []
    except (OSError, DecodeError) as problem:
        raise HookonceError(f"{file} cannot be read: {problem}; remove it and add the keys again") from None


@lru_cache(maxsize=1)
def _read_keys(file: Path, version: tuple[int, ...]) -> list[TrustedKey]:
    """The keys in a version of the file; an import asks for them with every signed line."""
    key_list: list[TrustedKey] = decode_own_file(file, file.read_bytes(), list[TrustedKey])
    return key_list


def find_name(key: "Ed25519PublicKey") -> str | None:
    """The name of a trusted key; None if nobody has said to trust it."""
    text = keys.public_key_text(key)
    return next((known_key.name for known_key in load_trusted_keys() if known_key.key == text), None)


def build_trusted_key(name: str, text: str) -> TrustedKey:
    """The entry for a key, not yet kept; an error that says why it cannot be one."""
    if _NAME.fullmatch(name) is None:
        raise HookonceError(f"{name!r} is not a valid name for a key; use up to 64 letters, digits, dots, dashes and @")
    try:
        key = keys.parse_public_key(text.strip())
    except ValueError as problem:
        hint = "hookonce keys show prints it on the other machine"
        raise HookonceError(f"this is not a public key: {problem}; {hint}") from None
    if keys.key_name(key) in keys.load_public_keys():
        raise HookonceError("that is a key of this machine, which it trusts anyway")
    fields = {"key": keys.public_key_text(key), "fingerprint": keys.fingerprint(key), "since": times.now()}
    trusted_key = TrustedKey(name=name, **fields)
    _require_new(trusted_key)
    return trusted_key


def _require_new(trusted_key: TrustedKey) -> None:
    for known_key in load_trusted_keys():
        if known_key.name == trusted_key.name or known_key.key == trusted_key.key:
            reason = f"there is a key {known_key.name} already, {known_key.fingerprint}"
            raise HookonceError(f"{reason}; hookonce keys remove {known_key.name} removes it")


def add_trusted_key(trusted_key: TrustedKey) -> None:
    """Trust a key from now on; an error if its name or the key itself is there already."""
    with _lock_keys():
        _require_new(trusted_key)
        _write_keys([*load_trusted_keys(), trusted_key])


def find_trusted_key(name: str) -> TrustedKey:
    """The trusted key of that name; an error that tells which there are."""
    key_by_name = {key.name: key for key in load_trusted_keys()}
    if name not in key_by_name:
        names = ", ".join(key_by_name)
        raise HookonceError(f"no trusted key is called {name}; " + (f"there are {names}" if names else "there is none"))
    return key_by_name[name]


def remove_trusted_key(name: str) -> None:
    """Trust the key of that name no more."""
    with _lock_keys():
        _write_keys([key for key in load_trusted_keys() if key.name != name])


@contextmanager
def _lock_keys() -> Iterator[None]:
    """Lock on the keys' folder: the file itself is another one after each change."""
    paths.make_private_dir(paths.data_dir())
    folder_fd = os.open(paths.data_dir(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flock(folder_fd, LOCK_EX)
        yield
    finally:
        os.close(folder_fd)


def _write_keys(key_list: list[TrustedKey]) -> None:
    replace_file(trusted_keys_file(), encode(key_list), mode=PRIVATE_MODE)
