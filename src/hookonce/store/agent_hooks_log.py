"""One setting captures everything: every record as a line of Agent Hooks in a file that the user has named.

Two things name one: `output` of the wildcard configuration, and AGENT_HOOKS_LOG where a setting allows it. A project
names none, and a file that we have not begun ourselves is left alone: whoever sets a variable must not write to it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from hookonce.config import paths, settings
from hookonce.config.capture import FILE, VARIABLE
from hookonce.formats import agent_hooks
from hookonce.model import Json, Stored
from hookonce.store import agent_hooks_sessions as sessions
from hookonce.store import log
from hookonce.texts import dump, load

_EVERYTHING = "*"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_END = 1 << 20  # bytes at the end of a file, in which what was written and not kept stands, if somebody was killed

Part = tuple[str, bytes]  # the id of a record, and its lines


class _NotOurs(OSError):
    """A file that is there already and was not begun by us."""


def write(record: Stored, environment: Mapping[str, str]) -> int:
    """Add a record that nobody will find again by its session to the log that this environment names; to how many."""
    named = environment.get(VARIABLE)
    return _written([record], lambda _: [named] if named and settings.agent_hooks_log() else [])


def keep(records: Sequence[Stored]) -> int:
    """Add records that are being kept to every log that wants them; what goes wrong is told in our own log, once.

    Whoever keeps them says so before they are kept for good, and again if that fails: a record that stands at the end
    of a file already is not written again.
    """
    allowed = settings.agent_hooks_log()

    def wanted(one: Stored) -> Iterator[str]:
        named = sessions.place_of(one.event.agent, one.event.session) if allowed else None
        yield from [named] if named else []
        yield from _ruled(agent_hooks.name_of(one.event))

    return _written(records, wanted)


def _written(records: Sequence[Stored], places: Callable[[Stored], Iterable[str]]) -> int:
    parts: dict[str, list[Part]] = {}
    for record in records:
        wanted = set(places(record))
        lines = b"".join(dump(document) + b"\n" for document in agent_hooks.write(record)) if wanted else b""
        for place in wanted if lines else ():
            parts.setdefault(place, []).append((record.event.id, lines))
    return sum(_added(place, parts[place]) for place in sorted(parts))


def _ruled(kind: str) -> Iterator[str]:
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


def _added(place: str, parts: list[Part]) -> bool:
    try:
        handle = _opened(place)
        try:
            return _whole(handle, parts)
        finally:
            os.close(handle)
    except OSError as problem:
        _tell(place, str(problem.strerror))
    except ValueError as problem:
        _tell(place, str(problem))
    return False


def _whole(handle: int, parts: list[Part]) -> bool:
    """All of it or nothing: half a line would spoil the next one too."""
    flock(handle, LOCK_EX)
    size = os.fstat(handle).st_size
    end = os.pread(handle, _END, max(0, size - _END))
    if end and not end.endswith(b"\n"):  # somebody was killed in writing it
        size -= len(end) - (end.rfind(b"\n") + 1)
        os.ftruncate(handle, size)
    lines = b"".join(text for name, text in parts if dump({"event_id": name})[1:-1] not in end)
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
