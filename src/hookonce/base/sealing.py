"""Sealed files: bytes on disk that only this account can read, and only with the text that they are bound to.

What processes tell one another in the runtime directory quotes hooks and agents, and such a file may outlive its
use when its writer is killed. So it is encrypted: with a stream of SHAKE-256 over a key that lies with our data
(`keys/seal`), a text that the reader has to know too, such as the content of a call, and a nonce. Without the key,
as after `purge`, nobody can read it; with another text it reads as nothing.
"""

import os
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b, shake_256
from pathlib import Path
from typing import Any

from hookonce.base import paths
from hookonce.base.runtime_dir import create_exclusive

_MARK = b"\0"  # with which no text begins
_NONCE_BYTES, _TAG_BYTES, _KEY_BYTES = 16, 16, 32


def seal(text: str, data: bytes) -> bytes:
    """Seal data, bound to a text."""
    nonce, key = os.urandom(_NONCE_BYTES), _bound_key(text)
    return _MARK + nonce + _tag(key, nonce, data) + _apply_stream(key, nonce, data)


def is_sealed(data: bytes) -> bool:
    """Whether data was sealed, by whomever."""
    return data.startswith(_MARK)


def unseal(text: str, ciphertext: bytes) -> bytes:
    """The data; ValueError if it was sealed with another text or key, or is cut."""
    key, ciphertext = _bound_key(text), ciphertext.removeprefix(_MARK)
    nonce, tag = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:][:_TAG_BYTES]
    data = _apply_stream(key, nonce, ciphertext[_NONCE_BYTES + _TAG_BYTES :])
    if tag != _tag(key, nonce, data):
        raise ValueError("this was sealed for somebody else")
    return data


_last_values: dict[str, tuple[bytes, Any]] = {}  # the one that was sealed last


def seal_value(text: str, data: bytes, value: Any) -> bytes:
    """Seal the data of a value, which is remembered until the next one is sealed."""
    ciphertext = seal(text, data)
    _last_values.clear()
    _last_values[text] = (ciphertext, value)
    return ciphertext


def recall_value(text: str, ciphertext: bytes) -> Any:
    """The value of what was sealed here last, with this text; None for everything else, which has to be read."""
    last = _last_values.get(text)
    return last[1] if last is not None and last[0] == ciphertext else None


def _apply_stream(key: bytes, nonce: bytes, data: bytes) -> bytes:
    stream = shake_256(key + nonce).digest(len(data))
    return (int.from_bytes(data) ^ int.from_bytes(stream)).to_bytes(len(data))


def _tag(key: bytes, nonce: bytes, data: bytes) -> bytes:
    return blake2b(nonce + data, key=key, digest_size=_TAG_BYTES).digest()


def _bound_key(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), key=_load_key(), digest_size=_KEY_BYTES).digest()


def _load_key() -> bytes:
    """The key of this account; where no data can be kept there is none, and the text alone seals."""
    path = f"{paths.data_dir()}/keys/seal"
    try:
        key_stat = os.stat(path)  # noqa: PTH116  as text; somebody waits
        return _read_key(path, key_stat.st_ino, key_stat.st_mtime_ns)
    except OSError:
        with suppress(OSError):
            return _create_key(path)
    return bytes(_KEY_BYTES)


@lru_cache(maxsize=4)
def _read_key(path: str, _inode: int, _mtime_ns: int) -> bytes:
    return Path(path).read_bytes()[:_KEY_BYTES]


def _create_key(path: str) -> bytes:
    paths.data_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        Path(path).parent.mkdir(mode=0o700)
    create_exclusive(path, os.urandom(_KEY_BYTES))
    return Path(path).read_bytes()[:_KEY_BYTES]
