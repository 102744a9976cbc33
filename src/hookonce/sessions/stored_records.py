"""Stored records: likeness marks, user, redaction, all with keys of this machine; logs of Agent Hooks
and of the module kernel.
"""

from collections.abc import Mapping, Sequence

from msgspec.json import encode
from msgspec.structs import replace

from hookonce.base import settings, times
from hookonce.model import Decision, Event, Gap, Object, Record, Stored
from hookonce.secrets import log
from hookonce.store.spool import files


def redact_record(record: Record) -> Stored:
    """Redact a record: the form in which this machine keeps it."""
    from hookonce.sessions.attribution import user_of  # whoever answers a call does without all of these
    from hookonce.store.integrity import keys
    from hookonce.store.privacy.redact import redact
    from hookonce.vocabulary.call_fingerprint import add_fingerprint

    key, current = keys.load_digest_key(), settings.load()
    user = user_of(record.event, current.privacy, key, current.user)
    record = replace(record, event=add_fingerprint(record.event, key))
    return redact(record, current.privacy, key, user=user, keeps_addresses=True)


PLACEHOLDER_GAP = Gap(where="$.event", capability="record", strategy="later", effect="observes")


def build_placeholder(record: Record) -> Stored:
    """What is kept of a call before its answer: that it happened, when, and the outcome; no text of anybody."""
    event, decision, now = record.event, record.decision, times.now()
    placeholder = Event(
        id=event.id,
        schema=event.schema,
        type=event.type,
        agent=event.agent,
        time=event.received or now,
        time_source="received",
        received=event.received or now,
    )
    outcome = None if decision is None else Decision(outcome=decision.outcome, proceed=decision.proceed)
    return Stored(event=placeholder, decision=outcome, gaps=[PLACEHOLDER_GAP], level="minimal")


def record_kernel_event(event: Object) -> None:
    """Write an event of the module kernel into its log and into the store; nothing raw reaches either."""
    if not settings.load().record:
        return
    from hookonce.formats.amplifier import envelope  # most records are no kernel's
    from hookonce.store import kernel_log
    from hookonce.store.privacy.addresses import mask_addresses

    record = redact_record(envelope.read(event))
    files.append(record)
    documents = map(envelope.kernel_document, envelope.write(mask_addresses(record)))
    kernel_log.append(b"".join(encode(document, order="sorted") + b"\n" for document in documents))


def note_session_log(record: Stored, environment: Mapping[str, str]) -> None:
    """Remember that a session wants a log of Agent Hooks; a record without a session is written there at once."""
    log_path = environment.get(settings.AGENT_HOOKS_LOG_VARIABLE)
    if not log_path or not settings.load().agent_hooks_log:
        return
    from hookonce.store import agent_hooks_log, agent_hooks_sessions

    event = record.event
    if event.session is None:
        agent_hooks_log.append_record(record, environment)
    else:
        agent_hooks_sessions.remember_log(event.agent, event.session, log_path)


def append_session_logs(records: Sequence[Stored]) -> None:
    """Append stored records to the logs of Agent Hooks; nothing is imported for that where there is none."""
    from hookonce.store import agent_hooks_sessions

    if not records or not (settings.has_agent_hooks_rules() or agent_hooks_sessions.sessions_file().exists()):
        return
    from hookonce.store import agent_hooks_log

    try:
        agent_hooks_log.append_records(records)
    except Exception as problem:  # noqa: BLE001  a log keeps nothing out of the record
        log.write(f"agent hooks: {log.format_trace(problem)}")
