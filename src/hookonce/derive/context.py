"""Context.*: how full the context is after each call of the model, and what became of it when it was shrunk.

How full is told against the size at which the agent shrinks it. Where nobody knows that size there is no event.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.derive.further import further
from hookonce.derive.spending import tokens
from hookonce.guard.loops import elapsed
from hookonce.model import Event, Object, Record

_WHOLE = 100
_LIMITS = ("context_limit", "context_window_size")


class Context(Struct, frozen=True, kw_only=True):
    """The context of the main agent: its size when last told, and the compaction that its agent has told of.

    `since` is when that was: what a transcript tells of the time before belongs to another context.
    """

    used: int | None = None
    before: str | None = None
    after: str | None = None
    since: str | None = None


def step(context: Context, record: Record, limit: int | None = None) -> tuple[Context, list[Record]]:
    """The context after a record; `limit` is what is known of the model, if the agent does not tell better."""
    event = record.event
    if event.subagent is not None:
        return context, []
    if event.type == "before_compact":
        return replace(context, before=event.id, after=None, since=event.time), []
    if event.type == "after_compact":
        left = _count(event.data.get("tokens_after"))
        return Context(used=left, after=event.id, since=event.time), []
    own = next((found for name in _LIMITS if (found := _count(event.data.get(name)))), None)
    used, limit = _size(event, own), own or limit
    if used is None or used == context.used:
        return context, []
    told = [] if not limit else [further(event, "context_until_compaction", _filling(used, limit), usage=None)]
    is_late = context.since is not None and (elapsed(context.since, event.time) or 0) == 0
    return replace(context, used=used) if is_late else Context(used=used), told


def completed(context: Context, event: Event) -> Event:
    """A compaction that its agent tells of, with the size before it where only the session knows that."""
    if event.type not in {"before_compact", "after_compact"} or event.subagent is not None:
        return event
    told = {name: _count(event.data.get(name)) for name in ("tokens_before", "tokens_after", "tokens_removed")}
    before = told["tokens_before"] or _count(event.data.get("context_tokens")) or context.used
    known: Object = {} if before is None else {"tokens_before": before}
    if before is not None and told["tokens_after"] is not None and told["tokens_removed"] is None:
        known["tokens_removed"] = max(before - told["tokens_after"], 0)
    return replace(event, data=event.data | known) if known else event


def read(context: Context, event: Event) -> Event:
    """A compaction that was read in a transcript, so that it is told once.

    Where the agent has told that it is over, this only completes it: kept under its parent, and left out of formats.
    Where it has told that it begins, this is the end of it; where it has told nothing, the event stands alone.
    """
    event = completed(context, replace(event, type="after_compact", data=event.data | {"derived": True}))
    if context.after is not None:
        return replace(event, derived_from=context.after, data=event.data | {"repeat": True})
    return event if context.before is None else replace(event, caused_by=context.before)


def _size(event: Event, own: int | None) -> int | None:
    """Tokens in the context: as the agent counts them, or what went through the model in its last call."""
    told, share = _count(event.data.get("context_tokens")), event.data.get("context_usage")
    if told is not None:
        return told
    if type(share) is float and own and 0 <= share <= 1:
        return round(share * own)
    return tokens(event.usage) if event.type == "after_model" else None


def _filling(used: int, limit: int) -> Object:
    return {
        "tokens_used": used,
        "tokens_limit": limit,
        "percentage_used": min(max(round(_WHOLE * used / limit, 1), 0), _WHOLE),
        "tokens_remaining": max(limit - used, 0),
    }


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
