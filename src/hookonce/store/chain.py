"""Hash chain of rows: each row hashes its number, the row before and its body, and carries an HMAC.

`find_row_fault` checks one row: its link to the row before, its MAC, and its index columns against its body.
"""

import hmac
from hashlib import sha256

GENESIS_HASH = bytes(32)  # what stands before the first row
_SEQ_BYTES = 8  # bytes


def digest_body(body: bytes) -> bytes:
    """SHA-256 of a body; stays when the body is erased."""
    return sha256(body).digest()


def hash_row(seq: int, previous_hash: bytes, body_digest: bytes) -> bytes:
    """The hash of a row."""
    return sha256(seq.to_bytes(_SEQ_BYTES, "big") + previous_hash + body_digest).digest()


def row_mac(key: bytes, row_hash: bytes) -> bytes:
    """HMAC of a row's hash; only this machine's key makes it."""
    return hmac.digest(key, row_hash, "sha256")
