"""Record of a call: written before its answer, or, where the rest can follow, a placeholder of it (ADR 0016)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial

from msgspec.structs import replace

from hookonce.base import settings
from hookonce.dispatch import dedup, intake
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.response import CallResponse, hook_error_records
from hookonce.model import Gap, Record
from hookonce.secrets import log
from hookonce.sessions.stored_records import build_placeholder, note_session_log, redact_record
from hookonce.store.spool import files
from hookonce.vocabulary.events import is_document

OBSERVER_CAPABILITY = "observer"  # of the gap that names a hook which runs after the answer
_SESSION_END, _VENDOR_PREFIX = "session_end", "vendor."


def name_observers(response: CallResponse, names: Sequence[str]) -> CallResponse:
    """The response whose record names hooks that run after the answer; how they went is in records that follow."""
    note = "{} runs after the answer; a record that follows tells how it went, unless the daemon was killed"
    fields = {"where": "$.runs", "capability": OBSERVER_CAPABILITY, "strategy": "later", "effect": "observes"}
    gaps = [Gap(**fields, note=note.format(name)) for name in names]
    return replace(response, record=replace(response.record, gaps=[*response.record.gaps, *gaps]))


def record_response(call_id: str, response: CallResponse, raw: bytes, call_context: CallContext) -> None:
    """Record an answered call; its answer is saved where others may have the same call."""
    if response.is_duplicate:
        call_context.on_duplicate(response.record.event.id)
        return
    publish = cache(partial(_publish_record, response))
    call_context.after_answer(publish)  # whatever becomes of the record
    may_be_noted = not (is_document(response.record.event) and call_context.runs_hooks)
    if response.record.event.id != call_id and may_be_noted and settings.load().record:
        call_context.spool.forget(call_id)  # it came through another entry first: one record stays, under its id
    if not _defer_record(response.record, publish, call_id, len(raw), call_context):
        _append_records(publish, call_context)
    is_claimed = call_context.saves_answer and call_context.runs_hooks
    if is_claimed and (response.record.runs or dedup.has_claim(call_id)):
        dedup.save_answer(call_id, response.reply, raw)
    call_context.after_answer(partial(_report_record, publish, call_context))


def _publish_record(response: CallResponse) -> Record:
    """The record of a response, once others were told of it; where they cannot be, as it is."""
    try:
        return response.record if response.publish_record is None else response.publish_record(response.record)
    except Exception as problem:  # noqa: BLE001  they decide themselves, then
        log.write(f"on record: {log.format_trace(problem)}")
        return response.record


def _report_record(publish: Callable[[], Record], call_context: CallContext) -> None:
    record = publish()
    call_context.on_record(record)
    intake.report_gaps(record)


def _defer_record(
    record: Record, publish: Callable[[], Record], call_id: str, size: int, call_context: CallContext
) -> bool:
    """Have the record of a decided call written when nobody waits; whether it will be.

    Not of an event of a tool, whose id is looked up, or of one without a canonical name, which is somebody's text. What
    came through another entry first, and the end of a session, is noted already.
    """
    event = record.event
    is_kept = (call_context.current_settings or settings.load()).record
    if is_document(event) or event.type.startswith(_VENDOR_PREFIX) or not is_kept:
        return False
    is_noted = event.id != call_id or event.type == _SESSION_END
    placeholder = None if is_noted else build_placeholder(record)
    return call_context.defer_record(placeholder, size, partial(_append_records, publish, call_context))


def _append_records(publish: Callable[[], Record], call_context: CallContext) -> None:
    record = publish()
    for each in (record, *hook_error_records(record)):
        append_record(each, call_context)


def append_record(record: Record, call_context: CallContext) -> None:
    """Append a record to the spool; one that cannot be written is counted, and costs nobody the answer."""
    if not settings.load().record:
        return
    try:
        stored_record = redact_record(record)
        call_context.spool.append(stored_record)
        note_session_log(stored_record, call_context.environment)
    except Exception as problem:  # noqa: BLE001  as above
        files.count_lost_record()
        with suppress(Exception):
            log.write(f"on record: {log.format_trace(problem)}")
