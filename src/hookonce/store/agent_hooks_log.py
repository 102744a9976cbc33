"""One setting captures everything: every record as a line of Agent Hooks in a file that the user has named.

Two things name one: `output` of the wildcard configuration, and AGENT_HOOKS_LOG where a setting allows it. A project
names none, and a file that we have not begun ourselves is left alone: whoever sets a variable must not write to it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from hookonce.config import paths, settings
from hookonce.config.capture import FILE, VARIABLE
from hookonce.formats import agent_hooks
from hookonce.model import Json, Stored
from hookonce.store import log
from hookonce.texts import dump, load

_EVERYTHING = "*"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class _NotOurs(OSError):
    """A file that is there already and was not begun by us."""


def write(record: Stored, environment: Mapping[str, str]) -> int:
    """Add a record to every log that wants it; to how many. What goes wrong is told in our own log, once."""
    wanted = set(_wanted(agent_hooks.name_of(record.event), environment))
    lines = b"".join(dump(document) + b"\n" for document in agent_hooks.write(record)) if wanted else b""
    return sum(_added(place, lines) for place in sorted(wanted)) if lines else 0


def _wanted(kind: str, environment: Mapping[str, str]) -> Iterator[str]:
    named = environment.get(VARIABLE)
    if named and settings.agent_hooks_log():
        yield named
    for folder in (paths.configuration(), settings.SYSTEM):
        file = folder / FILE
        if folder != settings.SYSTEM or settings.is_owners(file, folder):
            yield from (output for event, output in _rules(file) if event in {_EVERYTHING, kind})


def _rules(file: Path) -> tuple[tuple[str, str], ...]:
    try:
        stat = file.stat()
    except OSError:
        return ()
    return _read(file, (stat.st_ino, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=8)
def _read(file: Path, _stamp: tuple[int, int, int]) -> tuple[tuple[str, str], ...]:
    """Which events go where; `hooks` is one rule or a list of them."""
    try:
        document: Json = load(file.read_text(encoding="utf-8"))
        hooks = document["hooks"]
        rules = [hooks] if type(hooks) is dict else hooks
        return tuple((str(rule["event"]), str(Path(rule["output"]).expanduser())) for rule in rules)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as problem:
        log.write(f"{file} is no wildcard configuration: {problem!r}")
        return ()


def _added(place: str, lines: bytes) -> bool:
    try:
        handle = _opened(place)
        try:
            return _whole(handle, lines)
        finally:
            os.close(handle)
    except OSError as problem:
        _tell(place, str(problem.strerror))
    except ValueError as problem:
        _tell(place, str(problem))
    return False


def _whole(handle: int, lines: bytes) -> bool:
    """All of it or nothing: half a line would spoil the next one too."""
    flock(handle, LOCK_EX)
    size = os.fstat(handle).st_size
    if os.write(handle, lines) == len(lines):
        return True
    os.ftruncate(handle, size)
    raise OSError(None, "the disk is full")


def _opened(place: str) -> int:
    if not os.path.isabs(place):  # noqa: PTH117  asked for every record
        raise ValueError("the name has to begin with /")
    try:
        handle = os.open(place, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _ours(place)
    with suppress(OSError):  # a file that is not listed is not written to again
        _note(_mark(handle, place))
    return handle


def _ours(place: str) -> int:
    handle = os.open(place, _FLAGS)
    stat = os.fstat(handle)
    if S_ISREG(stat.st_mode) and stat.st_uid == os.getuid() and stat.st_nlink == 1 and _mark(handle, place) in _begun():
        return handle
    os.close(handle)
    raise _NotOurs(None, "the file was there before us; remove it, or name another")


def _mark(handle: int, place: str) -> str:
    stat = os.fstat(handle)
    return f"{stat.st_dev} {stat.st_ino} {place!r}"


def _list() -> Path:
    return paths.data() / "agent-hooks-logs"


def _note(mark: str) -> None:
    _list().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(_list(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "ab", buffering=0) as file:
        file.write(f"{mark}\n".encode())


def _begun() -> frozenset[str]:
    try:
        stat = _list().stat()
    except OSError:
        return frozenset()
    return _lines(_list(), (stat.st_ino, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=4)
def _lines(file: Path, _stamp: tuple[int, int, int]) -> frozenset[str]:
    return frozenset(file.read_text(encoding="utf-8").splitlines())


@lru_cache(maxsize=64)
def _tell(place: str, why: str) -> None:
    log.write(f"{place!r} is not written as a log of Agent Hooks: {why}")
