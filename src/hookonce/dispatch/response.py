"""Call response: a decision weakened to what the caller can be told, its native reply, and the record of the call."""

from collections.abc import Callable
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import point_of
from hookonce.base import ids
from hookonce.base.terminal_text import escape_data
from hookonce.dispatch import live_formats
from hookonce.dispatch.request.call_request import CallDecision
from hookonce.dispatch.rewrite import apply_rewrite
from hookonce.model import Actor, Decision, Event, Gap, HookRun, Origin, Point, Record, Reply
from hookonce.vocabulary.decision_merge import MAX_CONTEXT_CHARS, merge_decisions, weaken

if TYPE_CHECKING:
    from hookonce.dispatch.dedup import DedupEntries, DedupEntry, DedupStore
    from hookonce.dispatch.request.call_request import CallRequest


_SCRIPT_WINDOW_S = 10  # seconds in which the same content may come through another entry


class CallResponse(Struct, frozen=True, kw_only=True):
    """The native reply, and the record of the call; of an event that is recorded already only reply and id count.

    `publish_record` tells others of the decision, and gives the record what they have told of the same call.
    """

    reply: Reply
    record: Record
    is_duplicate: bool = False
    publish_record: Callable[[Record], Record] | None = None


def effective_point(request: "CallRequest") -> Point:
    """The event's capabilities; a `fatal` ask counts as native while a terminal is there."""
    point = point_of(request.agent, request.native)
    if point.ask != "fatal":
        return point
    from hookonce.base.process_info import has_terminal  # few agents have such an ask

    return replace(point, ask="native") if has_terminal(request.caller_pid) else point


def build_response(request: "CallRequest", call_decision: CallDecision) -> CallResponse:
    """The response for a decision, weakened to what the agent can be told, and its record."""
    decision, event, rewrite_gaps = apply_rewrite(call_decision.decision, request.event)
    if request.notice is not None:
        messages = (decision.system_message, request.notice)
        decision = replace(decision, system_message="\n".join(filter(None, messages)))
    tool, prompt = request.event.tool, request.event.prompt
    original_input = tool.input if tool is not None else {"prompt": prompt} if type(prompt) is str else None
    final, weaken_gaps = weaken(decision, effective_point(request), original_input, _max_context_chars(decision))
    gaps = [*call_decision.gaps, *rewrite_gaps, *weaken_gaps]
    record = Record(event=request.event, decision=final, runs=call_decision.runs, gaps=gaps)
    if request.document is not None:
        record = _complete_record(record, request.document)
    return CallResponse(reply=_native_reply(replace(request, event=event), final), record=record)


def script_response(request: "CallRequest", call_decision: CallDecision, store: "DedupStore") -> CallResponse:
    """The response of a script in the agent's own configuration, and the record of the call, which others share."""
    entry, is_end = None, request.event.type == "session_end"  # whose entries are of another kind
    if request.arguments.run is None or is_end:
        return build_response(request, call_decision)
    from hookonce.dispatch.dedup import PageBusyError  # most calls are no scripts

    with suppress(PageBusyError):  # then it has a record of its own
        entry = _join_scripts(request, call_decision, store)
    if entry is None:
        return build_response(request, call_decision)
    event = replace(request.event, id=entry.first_id, origin=Origin(via=list(entry.ids)))
    response = build_response(replace(request, event=event), call_decision)
    others = [part for part in (entry.decided, *entry.scripts) if part is not None and part != call_decision]
    return replace(response, record=_merge_parts(response.record, others))


def add_scripts(record: Record, entry: "DedupEntry | None") -> Record:
    """The record with the runs of scripts which were called for the same call."""
    return record if entry is None or not entry.scripts else _merge_parts(record, entry.scripts)


def _join_scripts(request: "CallRequest", call_decision: CallDecision, store: "DedupStore") -> "DedupEntry":
    from hashlib import sha256

    from hookonce.dispatch import dedup  # as above

    event, call = request.event, request.arguments
    name = f"{request.agent.name}/run/{sha256((call.run or '').encode(errors='surrogatepass')).hexdigest()[:8]}"

    def join(entries: "DedupEntries") -> "DedupEntries":
        window_s = dedup.CALL_ID_WINDOW_S if event.tool is not None and event.tool.call_id else _SCRIPT_WINDOW_S
        entries = [entry for entry in entries if not dedup.is_stale(entry, window_s)]
        match = next((entry for entry in entries if name not in entry.ids), None)
        if match is None:
            return [*entries, dedup.DedupEntry({name: event.id}, dedup.NO_PID, time(), scripts=[call_decision])]
        own = replace(match, ids=match.ids | {name: event.id}, scripts=[*match.scripts, call_decision])
        return [own if entry is match else entry for entry in entries]

    return next(entry for entry in store(dedup.dedup_key(event), join) if event.id in entry.ids.values())


def _merge_parts(record: Record, parts: list[CallDecision]) -> Record:
    own = [record.decision] if record.decision is not None else []
    decision = merge_decisions([*own, *(part.decision for part in parts)])
    runs = [*record.runs, *(run for part in parts for run in part.runs)]
    return replace(
        record, decision=decision, runs=runs, gaps=[*record.gaps, *(gap for part in parts for gap in part.gaps)]
    )


def _complete_record(record: Record, document: Record) -> Record:
    """The record with what its document says: gaps, risk, and its decision where we have no opinion."""
    is_silent = record.decision is None or not _has_opinion(record.decision)
    decision = document.decision if is_silent and document.decision is not None else record.decision
    note = "hooks that ran elsewhere stand in the document only"
    foreign_runs = [Gap(where="$.runs", capability="runs", strategy="left out", note=note)] if document.runs else []
    gaps = [*document.gaps, *foreign_runs, *record.gaps]
    return replace(record, decision=decision, risk=document.risk, gaps=gaps)


def _max_context_chars(decision: Decision) -> int:
    if decision.context is None:
        return MAX_CONTEXT_CHARS
    from hookonce.base import settings  # few answers have a context

    return settings.load().require().context_limit or MAX_CONTEXT_CHARS


def _native_reply(request: "CallRequest", decision: Decision) -> Reply:
    """The native reply for a weakened decision; its event has the new input already."""
    agent, tool, new_input = request.agent, request.event.tool, decision.updated_input
    if agent.reply is None or not _has_opinion(decision):
        return Reply(stdout=agent.config.silence)
    if new_input is not None and tool is not None:
        new_input = tool.native_input
    if new_input is not None and request.document is not None:
        new_input = live_formats.replace_input(request.document.event, request.event, new_input)
    reply = agent.reply(request.native, decision, new_input)
    if reply.stderr.isprintable():
        return reply
    return replace(reply, stderr=escape_data(reply.stderr))  # agents show it on a terminal as it is


def _has_opinion(decision: Decision) -> bool:
    return replace(decision, by=None, reason=decision.reason if decision.outcome else None) != Decision()


_ERROR_EVENT = "error_occurred"
_CONTENT_FIELDS = ("tool", "prompt", "model", "usage", "origin", "native")


def hook_error_records(record: Record, first_index: int = 0) -> list[Record]:
    """An `error_occurred` record for each hook of a call that failed, derived from the call's own."""
    failures = ((index, run) for index, run in enumerate(record.runs, first_index) if run.failure is not None)
    return [Record(event=_error_event(record.event, run, index)) for index, run in failures]


def _error_event(event: Event, run: HookRun, index: int) -> Event:
    """The same moment of the same session, without the call's contents."""
    data = {"error_type": "HookError", "error": run.failure, "origin_event": event.type}
    error_id, contents = ids.derive_id(event.id, _ERROR_EVENT, str(index)), dict.fromkeys(_CONTENT_FIELDS)
    identity = {"id": error_id, "type": _ERROR_EVENT, "derived_from": event.id, "actor": Actor(type="system")}
    return replace(event, **identity, **contents, data=data | {"hook": run.hook, "index": index})
