"""Registry of sessions that were started with AGENT_HOOKS_LOG, and the log file of each.

What follows from a call is written when the call's environment is gone. Sessions are listed by a keyed hash.
"""

import hmac
import os
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from hookonce.base import paths
from hookonce.base.jsontext import dump, load
from hookonce.store.integrity import keys

_MAX_FILE_BYTES = 1 << 18  # bytes; of a longer list the newer half stays
_SESSION_HASH_CHARS = 32  # characters by which a session is known; its name stands nowhere
Value = TypeVar("Value")


def sessions_file() -> Path:
    """The registry file: one JSON line per session."""
    return paths.data_dir() / "agent-hooks-sessions"


def remember_log(agent: str, session: str, log_path: str) -> None:
    """Register the log file of a session; the last one counts."""
    session_hash = _session_hash(agent, session)
    if _load_logs(sessions_file()).get(session_hash) == log_path:
        return
    paths.make_private_dir(sessions_file().parent)
    handle = os.open(sessions_file(), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "a+b", buffering=0) as file:
        flock(handle, LOCK_EX)
        if os.fstat(handle).st_size > _MAX_FILE_BYTES:
            file.seek(0)
            newer_half = file.read()[-_MAX_FILE_BYTES // 2 :].partition(b"\n")[2]
            os.ftruncate(handle, 0)
            file.write(newer_half)
        file.write(dump([session_hash, log_path]) + b"\n")


def log_of_session(agent: str, session: str | None) -> str | None:
    """The log file of a session, if it named one."""
    logs = _load_logs(sessions_file())
    return logs.get(_session_hash(agent, session)) if logs and session is not None else None


def _session_hash(agent: str, session: str) -> str:
    name = f"{agent}\0{session}".encode(errors="replace")
    return hmac.digest(keys.load_digest_key(), name, "sha256").hex()[:_SESSION_HASH_CHARS]


def cached_file(absent: Value) -> Callable[[Callable[[Path], Value]], Callable[[Path], Value]]:
    """Decorator of a parser: a file is parsed again only when it has changed; `absent` if there is none."""

    def decorate(parse: Callable[[Path], Value]) -> Callable[[Path], Value]:
        parse_cached = lru_cache(maxsize=8)(lambda path, _stamp: parse(path))

        def load_file(path: Path) -> Value:
            try:
                stat = path.stat()
            except OSError:
                return absent
            return parse_cached(path, (stat.st_ino, stat.st_mtime_ns, stat.st_size))

        return load_file

    return decorate


@cached_file(dict[str, str]())
def _load_logs(path: Path) -> dict[str, str]:
    logs = dict[str, str]()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            session_hash, log_path = load(line)
            logs[str(session_hash)] = str(log_path)
        except (ValueError, TypeError):
            continue  # what somebody was killed in writing
    return logs
