"""Context usage after each model call, where the size at which the agent compacts is known; compactions."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.times import elapsed_ms
from hookonce.model import Event, Record
from hookonce.sessions.derive.derived_record import derive_record
from hookonce.sessions.derive.token_usage import token_count

_PERCENT = 100
_WINDOW_FIELDS = ("context_limit", "context_window_size")


class ContextWindow(Struct, frozen=True, kw_only=True):
    """The main agent's context: its last known size, and the reported compaction, before which it was another one.

    `window` is the size of the model's window, if the agent has reported it.
    """

    window: int | None = None
    used_tokens: int | None = None
    begin_event: str | None = None
    end_event: str | None = None
    compacted_at: str | None = None


def reported_window(event: Event) -> int | None:
    """The window of the model, where the agent reports it."""
    return next(filter(None, (_token_count_of(event.data.get(name)) for name in _WINDOW_FIELDS)), None)


def update_context(context: ContextWindow, record: Record, limit: int | None) -> tuple[ContextWindow, list[Record]]:
    """The context after a record, and derived records; `limit` is the size at which the agent compacts, if known."""
    event = record.event
    if event.subagent is not None:
        return context, []
    context = replace(context, window=reported_window(event) or context.window)
    if event.type == "before_compact":
        return replace(context, begin_event=event.id, end_event=None, compacted_at=event.time), []
    if event.type == "after_compact":
        remaining_tokens = _token_count_of(event.data.get("tokens_after"))
        times = {"end_event": event.id, "compacted_at": event.time}
        return ContextWindow(window=context.window, used_tokens=remaining_tokens, **times), []
    used_tokens = _context_tokens(event, context.window)
    if used_tokens is None or used_tokens == context.used_tokens:
        return context, []
    records = []
    if limit:
        data = {
            "tokens_used": used_tokens,
            "tokens_limit": limit,
            "percentage_used": min(max(round(_PERCENT * used_tokens / limit, 1), 0), _PERCENT),
            "tokens_remaining": max(limit - used_tokens, 0),
        }
        records = [derive_record(event, "context_until_compaction", data, usage=None)]
    is_late = context.compacted_at is not None and (elapsed_ms(context.compacted_at, event.time) or 0) == 0
    return replace(context if is_late else ContextWindow(window=context.window), used_tokens=used_tokens), records


def complete_compaction(context: ContextWindow, event: Event) -> Event:
    """A compaction event with the size before it where only the session knows that."""
    if event.type not in {"before_compact", "after_compact"} or event.subagent is not None:
        return event
    names = ("tokens_before", "context_tokens", "tokens_after", "tokens_removed")
    before, in_context, after, tokens_removed = (_token_count_of(event.data.get(name)) for name in names)
    before = before or in_context or context.used_tokens
    if before is None:
        return event
    more_data = {"tokens_before": before}
    if after is not None and tokens_removed is None:
        more_data["tokens_removed"] = max(before - after, 0)
    return replace(event, data=event.data | more_data)


def complete_transcript_compaction(context: ContextWindow, event: Event) -> Event:
    """A compaction that was read in a transcript, so that it is reported once.

    If the agent has reported its end, this only completes that event and is left out of formats. If it has reported
    its start, this is the end of it; else the event stands alone.
    """
    event = complete_compaction(context, replace(event, type="after_compact", data=event.data | {"derived": True}))
    if context.end_event is not None:
        return replace(event, derived_from=context.end_event, data=event.data | {"repeat": True})
    return event if context.begin_event is None else replace(event, caused_by=context.begin_event)


def _context_tokens(event: Event, window: int | None) -> int | None:
    """As the agent counts them, or what went through the model in its last call."""
    context_tokens, share = _token_count_of(event.data.get("context_tokens")), event.data.get("context_usage")
    if context_tokens is not None:
        return context_tokens
    if type(share) is float and window and 0 <= share <= 1:
        return round(share * window)
    return token_count(event.usage) if event.type == "after_model" else None


def _token_count_of(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
