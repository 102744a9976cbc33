"""Agent Hooks log: every record as a line in a file that the user has named.

A file is named by `output` of the wildcard configuration, or by AGENT_HOOKS_LOG where a setting allows it; never
by a project. Only files that hookonce has created itself are written: whoever sets a variable must not write to
others.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fcntl import LOCK_EX, flock
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from hookonce.base import paths, settings
from hookonce.base.jsontext import dump, load
from hookonce.base.settings import AGENT_HOOKS_LOG_VARIABLE, AGENT_HOOKS_RULES_FILE
from hookonce.formats.agent_hooks import envelope
from hookonce.model import Json, Stored
from hookonce.secrets import log
from hookonce.store import agent_hooks_sessions as sessions
from hookonce.store.privacy.addresses import mask_addresses

_ANY_EVENT = "*"
_OPEN_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_TAIL_BYTES = 1 << 20  # in which lines stand that were written, but not committed to the store

RecordLines = tuple[str, bytes]  # the id of a record, and its lines


def append_record(record: Stored, environment: Mapping[str, str]) -> int:
    """Append a record without a session to the log that this environment names; returns the number of logs."""
    log_path = environment.get(AGENT_HOOKS_LOG_VARIABLE)
    return _append_to_logs([record], lambda _: [log_path] if log_path and settings.load().agent_hooks_log else [])


def append_records(records: Sequence[Stored]) -> int:
    """Append records to every log that wants them; failures go to our own log, once each.

    Called before the records are committed, and again if that fails: a record that stands at the end of a file
    already is not written again.
    """
    is_env_allowed = settings.load().agent_hooks_log

    def log_paths(record: Stored) -> Iterator[str]:
        if is_env_allowed and (log_path := sessions.log_of_session(record.event.agent, record.event.session)):
            yield log_path
        yield from _rule_outputs(envelope.event_type_of(record.event))

    return _append_to_logs(records, log_paths)


def _append_to_logs(records: Sequence[Stored], log_paths_of: Callable[[Stored], Iterable[str]]) -> int:
    batches: dict[str, list[RecordLines]] = {}
    for record in records:
        log_paths = set(log_paths_of(record))
        documents = envelope.write(mask_addresses(record)) if log_paths else []
        lines = b"".join(dump(document) + b"\n" for document in documents)
        for log_path in log_paths if lines else ():
            batches.setdefault(log_path, []).append((record.event.id, lines))
    return sum(_append_batch(log_path, batches[log_path]) for log_path in sorted(batches))


def _rule_outputs(event_type: str) -> Iterator[str]:
    for folder in (paths.config_dir(), settings.SYSTEM):
        file = folder / AGENT_HOOKS_RULES_FILE
        if folder != settings.SYSTEM or settings.is_writable_by_owner_only(file, folder):
            yield from (output for event, output in _load_rules(file) if event in {_ANY_EVENT, event_type})


@sessions.cached_file(tuple[tuple[str, str], ...]())
def _load_rules(file: Path) -> tuple[tuple[str, str], ...]:
    """Which events go where; `hooks` is one rule or a list of them."""
    try:
        document: Json = load(file.read_text(encoding="utf-8"))
        hooks = document["hooks"]
        rules = [hooks] if type(hooks) is dict else hooks
        return tuple((str(rule["event"]), str(Path(rule["output"]).expanduser())) for rule in rules)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as problem:
        log.write(f"{file} is no wildcard configuration: {problem!r}")
        return ()


def _append_batch(log_path: str, batch: list[RecordLines]) -> bool:
    try:
        with os.fdopen(_open_log(log_path), "rb") as file:
            return _write_whole_lines(file.fileno(), batch)
    except (OSError, ValueError) as problem:
        _report_once(log_path, str(problem.strerror if isinstance(problem, OSError) else problem))
    return False


def _write_whole_lines(handle: int, batch: list[RecordLines]) -> bool:
    """All of it or nothing: half a line would spoil the next one too."""
    flock(handle, LOCK_EX)
    size = os.fstat(handle).st_size
    tail = os.pread(handle, _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    if tail and not tail.endswith(b"\n"):  # somebody was killed in writing it
        size -= len(tail) - (tail.rfind(b"\n") + 1)
        os.ftruncate(handle, size)
    lines = b"".join(text for event_id, text in batch if dump({"event_id": event_id})[1:-1] not in tail)
    if os.write(handle, lines) == len(lines):
        return True
    os.ftruncate(handle, size)
    raise OSError(None, "the disk is full")


def _open_log(log_path: str) -> int:
    if not os.path.isabs(log_path):  # noqa: PTH117  asked for every record
        raise ValueError("the name has to begin with /")
    try:
        handle = os.open(log_path, _OPEN_FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _open_own_log(log_path)
    with suppress(OSError):  # a file that is not listed is not written to again
        _register_file(_file_identity(handle, log_path))
    return handle


def _open_own_log(log_path: str) -> int:
    handle = os.open(log_path, _OPEN_FLAGS)
    stat = os.fstat(handle)
    is_own = S_ISREG(stat.st_mode) and stat.st_uid == os.getuid() and stat.st_nlink == 1
    if is_own and _file_identity(handle, log_path) in _load_registry(_registry_file()):
        return handle
    os.close(handle)
    raise OSError(None, "the file was there before us; remove it, or name another")


def _file_identity(handle: int, log_path: str) -> str:
    stat = os.fstat(handle)
    return f"{stat.st_dev} {stat.st_ino} {log_path!r}"


def _registry_file() -> Path:
    return paths.data_dir() / "agent-hooks-logs"


def _register_file(identity: str) -> None:
    paths.make_private_dir(_registry_file().parent)
    handle = os.open(_registry_file(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "ab", buffering=0) as file:
        file.write(f"{identity}\n".encode())


@sessions.cached_file(frozenset[str]())
def _load_registry(file: Path) -> frozenset[str]:
    return frozenset(file.read_text(encoding="utf-8").splitlines())


@lru_cache(maxsize=64)
def _report_once(log_path: str, reason: str) -> None:
    log.write(f"{log_path!r} is not written as a log of Agent Hooks: {reason}")
