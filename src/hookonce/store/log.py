"""Our own log: what nobody who waits for an answer may be told."""

import os
from contextlib import suppress

from hookonce import times
from hookonce.config import paths

_UNSEEN = "(left out, because nobody could look for secrets in it)"
_FULL = 4 << 20  # bytes after which a new log begins, and the one before the last is forgotten


def write(text: str, said: bytes = b"") -> None:
    """Add a line, and perhaps what a hook has said; a log that cannot be written stops nothing."""
    with suppress(Exception):  # whatever is wrong here, somebody waits for something more important
        text, said = _masked(text), _masked(said.decode(errors="replace")).encode()
        place = paths.log()
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "ab", buffering=0) as log:
            if os.fstat(handle).st_size > _FULL:
                place.replace(place.with_suffix(".log.1"))
            log.write(f"{times.now()} {text}\n".encode(errors="replace") + (said and said.rstrip(b"\n") + b"\n"))


def _masked(text: str) -> str:
    """A text without the secrets in it."""
    if not text:
        return text
    try:
        from hookonce.guard.secrets import masked

        return masked(text)[0]
    except Exception:  # noqa: BLE001  what cannot be looked at is not written
        return _UNSEEN
