"""Loops: the same call, or the same few calls in turn, with the same result, again and again."""

from collections.abc import Sequence

from msgspec import Struct

from hookonce import times

LEAST = 4  # times before it is called a loop
UNSEEN = 8  # and where nobody has told what the calls came to
LONGEST = 4  # calls that may make up one round
WINDOW = 64  # calls that are remembered


class Act(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call that is over: what it was given and came to, as numbers that are equal where these are alike.

    `spent` is how many tokens the session had used by then. Without `outcome` nobody has told what became of it.
    """

    who: str | None = None
    action: str
    given: int
    outcome: int | None = None
    ok: bool | None = None
    time: str
    spent: int | None = None


class Loop(Struct, frozen=True, kw_only=True):
    """What goes round: how often at least, which call, and what it has cost since it began."""

    iteration_count: int
    action_name: str
    tokens_consumed: int | None
    elapsed_ms: int | None
    period: int


def find(window: Sequence[Act]) -> Loop | None:
    """The loop in which the last call stands, the shortest round first; other sub-agents' calls do not count."""
    acts = [act for act in window if act.who == window[-1].who]
    for period in range(1, LONGEST + 1):
        rounds = _rounds(acts, period)
        if rounds >= (LEAST if all(act.outcome is not None for act in acts[-period:]) else UNSEEN):
            return _loop(acts, period, rounds)
    return None


def _rounds(acts: Sequence[Act], period: int) -> int:
    """How many times the last round has been gone."""
    if len(acts) < period:
        return 0
    same = 0
    while same + period < len(acts) and _alike(acts[-1 - same], acts[-1 - same - period]):
        same += 1
    return same // period + 1


def _alike(one: Act, other: Act) -> bool:
    return (one.action, one.given, one.outcome) == (other.action, other.given, other.outcome)


def _loop(acts: Sequence[Act], period: int, rounds: int) -> Loop:
    first, last = acts[-period * rounds], acts[-1]
    return Loop(
        iteration_count=rounds,
        action_name=last.action,
        tokens_consumed=None if first.spent is None or last.spent is None else max(last.spent - first.spent, 0),
        elapsed_ms=elapsed(first.time, last.time),
        period=period,
    )


def elapsed(first: str, last: str) -> int | None:
    """Milliseconds from one time to another; None where one of them is none, 0 where the clock was set back."""
    start, end = times.seconds(first), times.seconds(last)
    return None if start is None or end is None else max(round((end - start) * 1000), 0)
