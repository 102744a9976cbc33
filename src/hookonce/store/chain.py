"""The chain: each row holds a hash over its number, the row before and its body, and a mark of this machine's key."""

import hmac
from hashlib import sha256

FIRST = bytes(32)  # what stands before the first row
_NUMBER = 8  # bytes


def digest(body: bytes) -> bytes:
    """How a body is known when it is gone."""
    return sha256(body).digest()


def link(seq: int, before: bytes, body_digest: bytes) -> bytes:
    """The hash of a row."""
    return sha256(seq.to_bytes(_NUMBER, "big") + before + body_digest).digest()


def mark(key: bytes, row_hash: bytes) -> bytes:
    """What only somebody with this machine's key can write beside a hash."""
    return hmac.digest(key, row_hash, "sha256")
