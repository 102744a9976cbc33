"""Our own log: what nobody who waits for an answer may be told."""

import os
from contextlib import suppress
from traceback import format_tb

from hookonce import times
from hookonce.config import paths, settings
from hookonce.errors import HookonceError

_UNSEEN = "(left out, because nobody could look for secrets in it)"
_FULL = 4 << 20  # bytes after which a new log begins, and the one before the last is forgotten


def write(text: str, said: bytes = b"") -> None:
    """Add a line, and perhaps what a hook has said; a log that cannot be written stops nothing."""
    with suppress(Exception):  # whatever is wrong here, somebody waits for something more important
        text, said = _masked(text), _masked(said.decode(errors="replace")).encode(errors="replace")
        place = paths.log()
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "ab", buffering=0) as log:
            if os.fstat(handle).st_size > _FULL:
                place.replace(place.with_suffix(".log.1"))
            log.write(f"{times.now()} {text}\n".encode(errors="replace") + (said and said.rstrip(b"\n") + b"\n"))


def beginning(said: bytes, most: int) -> bytes:
    """As much of what was said as is written, cut where no secret is."""
    if len(said) <= most:
        return said
    from hookonce.guard.secrets import beginning as whole

    return whole(said[: most * 2].decode(errors="replace"), most).encode(errors="replace")


def words(problem: BaseException) -> str:
    """What an error says, where it may be kept: others than ours quote whatever they could not understand."""
    if isinstance(problem, HookonceError | OSError) or settings.privacy() == "full":
        return str(problem)
    return type(problem).__name__


def trace(problem: BaseException) -> str:
    """An error with its way through our code, below those from which it came; of each the words that may be kept."""
    parts: list[str] = []
    while problem.__cause__ is not None or (problem.__context__ is not None and not problem.__suppress_context__):
        parts.insert(0, _one(problem))
        problem = problem.__cause__ or problem.__context__ or problem
        if len(parts) > _DEEPEST:
            break
    return "\n".join([_one(problem), *parts])


_DEEPEST = 8  # errors from which an error came


def _one(problem: BaseException) -> str:
    name, told = type(problem).__name__, words(problem)
    return "".join(format_tb(problem.__traceback__)) + (name if told == name else f"{name}: {told}")


def _masked(text: str) -> str:
    """A text without the secrets in it."""
    if not text:
        return text
    try:
        from hookonce.guard.secrets import masked

        return masked(text)[0]
    except Exception:  # noqa: BLE001  what cannot be looked at is not written
        return _UNSEEN
