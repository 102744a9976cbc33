"""Checks of the record: whether the store can be read and written, what was lost, and a daemon that was killed."""

from collections.abc import Iterator

from hookonce.base.terminal_text import pluralize
from hookonce.client.daemon_endpoints import describe_orphan, query_status
from hookonce.diagnose.diagnosis import Diagnosis
from hookonce.store import database, status
from hookonce.store.integrity.head_file import head_file
from hookonce.store.integrity.write_guard import load_faults
from hookonce.store.maintenance.quarantine import find_damage
from hookonce.store.schema import SPOOL_NOTE

_DOCTOR_HINT = ". Next: hookonce doctor"  # what others say of us


def check_daemon() -> Iterator[Diagnosis]:
    """The socket that a killed daemon has left behind, and calls from sandboxes that it could not answer."""
    if (message := describe_orphan()) is not None:
        yield Diagnosis(kind="daemon", message=message)
    if count := (query_status() or {}).get("sandboxed"):
        calls = (
            f"{count} call{'s' * (count != 1)} came from a sandbox with other namespaces or rights than the daemon's"
        )
        effect = "their hooks ran in that sandbox, each time in a new process, which takes about 0.1 s longer"
        yield Diagnosis(kind="sandbox", message=f"since the daemon was started, {calls}: {effect}")


def check_record() -> Iterator[Diagnosis]:
    """A store that is damaged or cannot be written, spool files that were put aside, and records that were lost."""
    yield from (Diagnosis(kind="record", message=message) for message in _record_problems())


def _record_problems() -> Iterator[str]:
    summary, damage = status.load_store_summary(), find_damage()
    if damage is not None:
        yield f"{database.database_file()} is damaged ({damage}); {SPOOL_NOTE}. Next: hookonce audit set-aside"
    else:
        problem = summary.problem
        yield from status.find_record_troubles() if not problem else [problem.removesuffix(_DOCTOR_HINT)]
        if not problem and (fault := ((query_status() or {}).get("store") or {}).get("problem")) is not None:
            yield f"the daemon cannot write {database.database_file()} ({fault}) and tries again; {SPOOL_NOTE}"
    if noted_faults := load_faults(head_file()):
        change = f"something other than hookonce has changed {database.database_file()} ({noted_faults[-1]})"
        yield f"{change}. Next: hookonce audit verify"
    if (obstacle := status.find_write_obstacle()) is not None:
        yield f"{obstacle}: agents are answered, but their events are lost"
    if summary.damaged:
        yield f"{pluralize(summary.damaged, 'file')} of the spool cannot be read and was set aside"
    if summary.lost:
        yield f"{pluralize(summary.lost, 'record')} could not be written, and hookonce logs may show why"
