"""Ends that nobody tells: a session whose process is gone, or that has rested for half an hour.

Some agents have no word for the end, some say it only in some ways of running, and one says it a minute late.
"""

from hookonce.derive.further import further
from hookonce.derive.spending import Spending, total
from hookonce.derive.turns import Turns
from hookonce.guard.loops import elapsed
from hookonce.model import Object, Record

IDLE = 30 * 60 * 1000  # milliseconds
LATE = 90 * 1000  # in which an agent that tells its ends may still do so


def overdue(
    turns: Turns, spending: Spending, *, now: str, gone: bool | None, tells: bool, waits: bool = False
) -> Record | None:
    """The end of a session that has one by now; `gone` is None where nobody knows about its process.

    `tells` says that its agent has an event for it, `waits` that a call is open: while its process is there, that is no
    rest, however long it takes. Mid-turn it is an abort, else its end. It is the same record however often one asks,
    until something happens in the session.
    """
    last = turns.last
    if last is None or not turns.begun or turns.ended:
        return None
    rested = elapsed(last.received or last.time, now) or 0  # by our own clock, where it has come to us
    if gone and (rested >= LATE or not tells):
        kind, reason = ("session_abort", "aborted") if turns.working else ("session_end", "exit")
    elif rested >= IDLE and not (waits and gone is False):
        kind, reason = "session_end", "idle_timeout"
    else:
        return None
    return further(last, kind, {"reason": reason} | totals(turns, last.time), usage=total(spending), subagent=None)


def totals(turns: Turns, end: str) -> Object:
    """What a session came to by its end."""
    lasted = None if turns.first is None else elapsed(turns.first, end)
    return {"total_actions": turns.actions} | ({} if lasted is None else {"duration_ms": lasted})
