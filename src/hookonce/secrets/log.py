"""Log file of hookonce, with secrets masked and rotation by size, for errors that must not reach a caller."""

import os
from contextlib import suppress

from hookonce.base import paths, settings, times
from hookonce.base.terminal_text import escape_unprintable
from hookonce.errors import HookonceError

_UNMASKABLE_NOTE = "(left out, because it could not be searched for secrets)"
_ROTATE_BYTES = 4 << 20  # bytes after which a new log begins, and the one before the last is forgotten


def write(text: str, output: bytes = b"") -> None:
    """Append a line, and optionally a hook's output; failures are ignored."""
    with suppress(Exception):  # whatever is wrong here, somebody waits for something more important
        log_path = paths.log_path()
        paths.make_private_dir(log_path.parent)
        handle = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "ab", buffering=0) as log_file:
            if os.fstat(handle).st_size > _ROTATE_BYTES:
                log_path.replace(log_path.with_suffix(".log.1"))
            log_file.write(format_entry(text, output))


def format_entry(text: str, output: bytes = b"") -> bytes:
    """Format an entry, with secrets masked; only its first line begins at the margin, whoever wrote what it tells."""
    lines = [line for part in (text, output.decode(errors="replace")) for line in _mask_text(part).rstrip().split("\n")]
    first, *others = (escape_unprintable(line.rstrip("\r").expandtabs()) for line in lines)
    return "".join(
        f"{line}\n" for line in (f"{times.now()} {first}", *(f"    | {line}" for line in others if line))
    ).encode()


def truncate_output(output: bytes, limit: int) -> bytes:
    """Truncate output without cutting through a secret."""
    if len(output) <= limit:
        return output
    from hookonce.secrets.detect import truncate_text as whole

    return whole(output[: limit * 2].decode(errors="replace"), limit).encode(errors="replace")


def safe_message(problem: BaseException) -> str:
    """The message of an error where privacy allows it, else its type: other libraries quote their input."""
    if isinstance(problem, HookonceError | OSError) or settings.load().privacy == "full":
        return str(problem)
    return type(problem).__name__


def format_trace(problem: BaseException) -> str:
    """Traceback of an error and its causes, with `safe_message` of each."""
    parts: list[str] = []
    while problem.__cause__ is not None or (problem.__context__ is not None and not problem.__suppress_context__):
        parts.insert(0, _format_error(problem))
        problem = problem.__cause__ or problem.__context__ or problem
        if len(parts) > _MAX_CAUSES:
            break
    return "\n".join([_format_error(problem), *parts])


_MAX_CAUSES = 8  # errors from which an error came


def _format_error(problem: BaseException) -> str:
    from traceback import format_tb  # most processes have nothing to tell

    name, message = type(problem).__name__, safe_message(problem)
    return "".join(format_tb(problem.__traceback__)) + (name if message == name else f"{name}: {message}")


def _mask_text(text: str) -> str:
    if not text:
        return text
    try:
        from hookonce.secrets.detect import mask_secrets

        return mask_secrets(text)[0]
    except Exception:  # noqa: BLE001  what cannot be looked at is not written
        return _UNMASKABLE_NOTE
