"""The head outside of the database: how far the record went when it was last written, so that a cut end is noticed."""

import hmac
import os
from pathlib import Path

from msgspec import Struct

from hookonce.config import paths
from hookonce.store import chain, keys

_FORM = "{:016d} {} {:016d} "


class Head(Struct, frozen=True):
    """The number and hash of the last row, and how many rows there ever were."""

    seq: int
    hash: bytes
    count: int


def file() -> Path:
    """Beside the database, and not in it."""
    return paths.data() / "head"


def note(head: Head, path: Path | None = None) -> None:
    """Write down how far the record goes; always as many bytes, so that a full disk has room for them."""
    text = _FORM.format(head.seq, head.hash.hex(), head.count).encode()
    mark = hmac.digest(keys.marking(), text, "sha256").hex().encode()
    handle = os.open(path or file(), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(handle, text + mark + b"\n", 0)
    finally:
        os.close(handle)


def noted(path: Path | None = None) -> Head | None:
    """What was written down last; None if nothing was, ValueError if somebody else wrote it."""
    try:
        line = (path or file()).read_bytes()
    except FileNotFoundError:
        return None
    text, mark = line[: len(_FORM.format(0, chain.FIRST.hex(), 0))], line.strip()[-64:]
    if not hmac.compare_digest(mark, hmac.digest(keys.marking(), text, "sha256").hex().encode()):
        raise ValueError("the head file was not written by this machine's hookonce")
    seq, row, count = text.split()
    return Head(int(seq), bytes.fromhex(row.decode()), int(count))
