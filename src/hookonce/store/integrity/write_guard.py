"""Write guard: nothing is written into a database whose structure is not ours, and what was found there stays known.

A trigger can drop or change what is written and be gone a moment later. So every write transaction looks at the
structure first; what is wrong is noted beside the head file, outside of the database, for the audit. What was to be
written stays in the spool.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection

from hookonce.base import times
from hookonce.errors import HookonceError
from hookonce.store.schema import find_schema_faults, read_version, transaction

FAULTS_FILE = "structure-faults"
_MAX_FAULTS_BYTES = 1 << 16
_NEXT_STEP = "Nothing is written there, and nothing is lost: records wait in the spool. Next: hookonce audit verify"


class StoreTamperError(HookonceError):
    """The database was changed by somebody else, in a way that could keep records out."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}. {_NEXT_STEP}")
        self.fault = fault


@contextmanager
def guarded_transaction(connection: Connection) -> Iterator[None]:
    """Write transaction in a database of our structure; StoreTamperError, and nothing written, for any other."""
    try:
        with transaction(connection):
            _require_own_schema(connection)
            yield
    except StoreTamperError as problem:
        _note_fault(connection, problem.fault)
        raise


def _require_own_schema(connection: Connection) -> None:
    read_version(connection)  # of a newer hookonce: nobody has tampered with it
    fault = next(find_schema_faults(connection), None)
    if fault is not None:
        raise StoreTamperError(fault)


def _note_fault(connection: Connection, fault: str) -> None:
    """Once for each fault; where it cannot be noted, whoever is told of the error still knows."""
    database_path = connection.execute("PRAGMA database_list").fetchone()[2]
    if not database_path:  # one in memory
        return
    faults_path, text = Path(database_path).with_name(FAULTS_FILE), " ".join(fault.split())
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(faults_path, flags, 0o600), "ab") as file:
            is_known = any(line.endswith(f" {text}") for line in load_faults(faults_path))
            if not is_known and file.tell() < _MAX_FAULTS_BYTES:
                file.write(f"{times.now()} {text}\n".encode(errors="backslashreplace"))


def load_faults(head_path: Path) -> list[str]:
    """Times and faults that were noted beside a head file."""
    try:
        return head_path.with_name(FAULTS_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
