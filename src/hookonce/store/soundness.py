"""Whether a row is the one that was written: its link to the row before, its mark, and what stands beside its body."""

from collections.abc import Sequence
from typing import Any

from msgspec import ValidationError

from hookonce.store import chain
from hookonce.store.entry import columns, read
from hookonce.texts import dump

BESIDE = (
    *("id", "time", "received", "type", "agent", "session"),
    *("subagent", "tool", "outcome", "model", "project", "path"),
)
ROWS = f"SELECT seq, {', '.join(BESIDE)}, body, erased, hash, mac FROM events"  # noqa: S608  our own words
_NOT_OURS = "the row was written by somebody without this machine's key"
_CHANGED = "the body is not what was written, or another row stood before it"
_NO_ROW = "what stands there is no row of ours"
_UNREAD = "the record cannot be read by this hookonce, so that its columns cannot be compared with it"


def fault(row: Sequence[Any], before: bytes | None, key: bytes | None) -> str | None:
    """What is wrong with a row; a missing `before` or `key` cannot be compared with."""
    try:
        return _fault(row, before, key)
    except (TypeError, ValueError, OverflowError):
        return _NO_ROW


def _fault(row: Sequence[Any], before: bytes | None, key: bytes | None) -> str | None:
    seq, *beside, body, erased, known, mark = row
    if erased not in {0, 1} or type(known) is not bytes or type(mark) is not bytes:
        return _NO_ROW
    if key is not None and mark != (erased_mark(key, known, beside) if erased else chain.mark(key, known)):
        return _NOT_OURS
    if before is not None and chain.link(seq, before, body if erased else chain.digest(body)) != known:
        return _CHANGED
    return None if erased else _contradiction(body, beside)


def _contradiction(body: bytes, beside: Sequence[Any]) -> str | None:
    """Whether the columns say what the body says: whoever asks for rows is answered by the columns."""
    try:
        meant = columns(read(body).record)
    except (ValueError, ValidationError, RecursionError):  # a newer one may have written it
        return _UNREAD
    wrong = [name for name, one, other in zip(BESIDE, meant, beside, strict=True) if one != other]
    return f"{', '.join(wrong)}: the column says something else than the body" if wrong else None


def erased_mark(key: bytes, known: bytes, beside: Sequence[Any]) -> bytes:
    """The mark of a row whose body is gone: nobody else can take a body away, or change what was left beside it."""
    return chain.mark(key, b"erased " + known + dump(list(beside)))
