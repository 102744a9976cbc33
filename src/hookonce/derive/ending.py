"""Ends that nobody tells: a session whose process is gone, or that has rested for half an hour.

Some agents have no word for the end, some say it only in some ways of running, and one says it a minute late.
"""

from hookonce.derive.further import derive_record
from hookonce.derive.spending import Spending, total_usage
from hookonce.derive.turns import TurnState
from hookonce.guard.loops import elapsed_ms
from hookonce.model import Object, Record

IDLE_TIMEOUT_MS = 30 * 60 * 1000  # milliseconds
END_GRACE_MS = 90 * 1000  # in which an agent that tells its ends may still do so


def derive_end(
    turns: TurnState, spending: Spending, *, now: str, is_process_gone: bool | None, reports_end: bool, has_open_call: bool = False
) -> Record | None:
    """The implicit end of a session, or None; `is_process_gone` is None where the process is unknown.

    `reports_end`: its agent has an event for it, which may come late. `has_open_call`: while the process lives, that
    is no rest, however long it takes. Mid-turn it is an abort. The record stays the same until something happens in
    the session.
    """
    last = turns.last
    if last is None or not turns.has_begun or turns.has_ended:
        return None
    idle_ms = elapsed_ms(last.received or last.time, now) or 0  # by our own clock, where it has come to us
    if is_process_gone and (idle_ms >= END_GRACE_MS or not reports_end):
        event_type, reason = ("session_abort", "aborted") if turns.is_working else ("session_end", "exit")
    elif idle_ms >= IDLE_TIMEOUT_MS and not (has_open_call and is_process_gone is False):
        event_type, reason = "session_end", "idle_timeout"
    else:
        return None
    return derive_record(last, event_type, {"reason": reason} | session_totals(turns, last.time), usage=total_usage(spending), subagent=None)


def session_totals(turns: TurnState, end: str) -> Object:
    """Number of actions and duration of a session."""
    duration_ms = None if turns.first is None else elapsed_ms(turns.first, end)
    return {"total_actions": turns.actions} | ({} if duration_ms is None else {"duration_ms": duration_ms})
