"""Which sessions were begun with AGENT_HOOKS_LOG: what follows from a call is kept when its environment is gone."""

import hmac
import os
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path

from hookonce.config import paths
from hookonce.store import keys
from hookonce.texts import dump, load

_MOST = 1 << 18  # bytes; of a longer list the newer half stays
_MARK = 32  # characters by which a session is known; its name stands nowhere
_NONE: dict[str, str] = {}


def file() -> Path:
    """A line for each session and the file that it named."""
    return paths.data() / "agent-hooks-sessions"


def remember(agent: str, session: str, place: str) -> None:
    """What this session tells is wanted there; of several places the last one counts."""
    mark = _mark(agent, session)
    if _known().get(mark) == place:
        return
    file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file(), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "a+b", buffering=0) as listed:
        flock(handle, LOCK_EX)
        if os.fstat(handle).st_size > _MOST:
            listed.seek(0)
            newer = listed.read()[-_MOST // 2 :].partition(b"\n")[2]
            os.ftruncate(handle, 0)
            listed.write(newer)
        listed.write(dump([mark, place]) + b"\n")


def place_of(agent: str, session: str | None) -> str | None:
    """The file that a session named, if it named one."""
    known = _known()
    return known.get(_mark(agent, session)) if known and session is not None else None


def is_there() -> bool:
    """Whether any session may have named one."""
    return os.access(file(), os.F_OK)


def _mark(agent: str, session: str) -> str:
    return hmac.digest(keys.hiding(), f"{agent}\0{session}".encode(errors="replace"), "sha256").hex()[:_MARK]


def _known() -> dict[str, str]:
    try:
        stat = file().stat()
    except OSError:
        return _NONE
    return _read(file(), (stat.st_ino, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=4)
def _read(path: Path, _stamp: tuple[int, int, int]) -> dict[str, str]:
    found = dict[str, str]()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            mark, place = load(line)
            found[str(mark)] = str(place)
        except (ValueError, TypeError):
            continue  # what somebody was killed in writing
    return found
