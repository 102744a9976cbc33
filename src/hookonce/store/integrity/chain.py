"""Hash chain of rows: each row hashes its number, the row before and its body, and carries an HMAC."""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from msgspec import ValidationError

from hookonce.base.jsontext import dump
from hookonce.store.entry import decode_entry, index_columns

GENESIS_HASH = bytes(32)  # what stands before the first row
_SEQ_BYTES = 8


def digest_body(body: bytes) -> bytes:
    """SHA-256 of a body; stays when the body is erased."""
    return sha256(body).digest()


def hash_row(seq: int, previous_hash: bytes, body_digest: bytes) -> bytes:
    """The hash of a row."""
    return sha256(seq.to_bytes(_SEQ_BYTES, "big") + previous_hash + body_digest).digest()


def row_mac(key: bytes, row_hash: bytes) -> bytes:
    """HMAC of a row's hash; only this machine's key makes it."""
    return hmac.digest(key, row_hash, "sha256")


INDEX_COLUMNS = (
    *("id", "time", "received", "type", "agent", "session"),
    *("subagent", "tool", "outcome", "model", "project", "path"),
)
SELECT_ROWS = f"SELECT seq, {', '.join(INDEX_COLUMNS)}, body, erased, hash, mac FROM events"  # noqa: S608  our own words
_FOREIGN_ROW = "the row was written by somebody without this machine's key"
_BODY_CHANGED = "the body is not what was written, or another row stood before it"
_MALFORMED_ROW = "what stands there is no row of ours"
_UNREADABLE_BODY = "the record cannot be read by this hookonce, so that its columns cannot be compared with it"


def find_row_fault(row: Sequence[Any], previous_hash: bytes | None, key: bytes | None) -> str | None:
    """What is wrong with a row's link, MAC or index columns, or None; a missing hash or key is not checked."""
    try:
        return _compare_row(row, previous_hash, key)
    except (TypeError, ValueError, OverflowError):
        return _MALFORMED_ROW


def _compare_row(row: Sequence[Any], previous_hash: bytes | None, key: bytes | None) -> str | None:
    seq, *column_values, body, is_erased, stored_hash, mac = row
    if is_erased not in {0, 1} or type(stored_hash) is not bytes or type(mac) is not bytes:
        return _MALFORMED_ROW
    if key is not None:
        expected_mac = erased_row_mac(key, stored_hash, column_values) if is_erased else row_mac(key, stored_hash)
        if mac != expected_mac:
            return _FOREIGN_ROW
    body_digest = body if is_erased else digest_body(body)
    if previous_hash is not None and hash_row(seq, previous_hash, body_digest) != stored_hash:
        return _BODY_CHANGED
    return None if is_erased else _find_column_mismatch(body, column_values)


def _find_column_mismatch(body: bytes, column_values: Sequence[Any]) -> str | None:
    """Queries are answered by the columns: they must say what the body says."""
    try:
        expected_values = index_columns(decode_entry(body).record)
    except (ValueError, ValidationError, RecursionError):  # a newer one may have written it
        return _UNREADABLE_BODY
    columns = zip(INDEX_COLUMNS, expected_values, column_values, strict=True)
    mismatches = [name for name, expected, value in columns if expected != value]
    return f"{', '.join(mismatches)}: the column says something else than the body" if mismatches else None


def erased_row_mac(key: bytes, stored_hash: bytes, column_values: Sequence[Any]) -> bytes:
    """HMAC of an erased row: covers its hash and the columns that are left."""
    return row_mac(key, b"erased " + stored_hash + dump(list(column_values)))
