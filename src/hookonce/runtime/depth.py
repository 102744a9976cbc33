"""How deep hooks start agents that start hooks: believed only of a handler of ours that is really above us."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from time import CLOCK_BOOTTIME, clock_gettime

from hookonce.runtime.folder import at, create

DEPTH, PARENT, HOOK_DIR = "HOOKONCE_DEPTH", "HOOKONCE_PARENT", "HOOKONCE_HOOK_DIR"
DEEPEST = 3
_OLDEST = 20.0  # seconds


def depth_of(environment: Mapping[str, str], caller: int = 0) -> int:
    """The depth that a running handler above a process has, by default above us.

    What a repository sets in the environment counts for nothing.
    """
    mark = environment.get(PARENT, "")
    if not mark.isalnum():
        return 0
    try:
        pid, depth = map(int, at("handlers", mark).read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return 0
    return depth if pid in set(_ancestors(caller or os.getpid())) else 0


def begin(depth: int) -> str:
    """A mark for handlers that we are about to start: they are below this process."""
    mark = token_hex(8)
    create(at("handlers", mark), f"{os.getpid()} {depth}".encode())
    return mark


def end(mark: str) -> None:
    """The handlers are done."""
    at("handlers", mark).unlink(missing_ok=True)


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1 and (known := stat_of(pid)) is not None:
        pid = int(known[1])
        yield pid


def age_of(pid: int) -> float:
    """Seconds since a client began; none where the system does not tell, or it is gone.

    Our own give up before the longest of them; what is older is no client of ours, but somebody who speaks like one.
    """
    known = stat_of(pid) if pid else None
    if known is None:
        return 0.0
    age = clock_gettime(CLOCK_BOOTTIME) - int(known[19]) / os.sysconf("SC_CLK_TCK")
    return min(max(age, 0.0), _OLDEST)


def stat_of(pid: int) -> list[str] | None:
    """What the system knows of a process, beginning with its state and its parent; nothing of one that is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
