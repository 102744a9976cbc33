"""A record as it may be kept: marked with what makes calls alike, then redacted, both with keys of this machine."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hookonce.config import capture, settings
from hookonce.guard.likeness import marked
from hookonce.model import Record, Stored
from hookonce.store import agent_hooks_sessions, keys, log
from hookonce.store.redact import redact


def stored(record: Record) -> Stored:
    """What is written of a record, wherever it goes."""
    key = keys.hiding()
    return redact(replace(record, event=marked(record.event, key)), settings.privacy(), key)


def logged(record: Stored, environment: Mapping[str, str]) -> None:
    """Note that a session wants its records in a log of Agent Hooks; what is of no session is written there at once."""
    named = environment.get(capture.VARIABLE)
    if not named or not settings.agent_hooks_log():
        return
    from hookonce.store import agent_hooks_log

    event = record.event
    if event.session is None:
        agent_hooks_log.write(record, environment)
    else:
        agent_hooks_sessions.remember(event.agent, event.session, named)


def captured(records: Sequence[Stored]) -> None:
    """Add records that are being kept to the logs of Agent Hooks; nothing is loaded for that where there is none."""
    if not records or not (capture.is_ruled() or agent_hooks_sessions.is_there()):
        return
    from hookonce.store import agent_hooks_log

    try:
        agent_hooks_log.keep(records)
    except Exception as problem:  # noqa: BLE001  a log keeps nothing out of the record
        log.write(f"agent hooks: {log.trace(problem)}")
