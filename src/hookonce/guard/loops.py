"""Retry and loop detection (retry.*): repeated failing calls, and rounds of the same calls and results."""

from collections.abc import Sequence

from msgspec import Struct

from hookonce import times

MIN_LOOP_ROUNDS = 4  # times before it is called a loop
MIN_ROUNDS_WITHOUT_RESULT = 8  # and where nobody has told what the calls came to
MAX_LOOP_CALLS = 4  # calls that may make up one round
LOOP_WINDOW_CALLS = 64  # calls that are remembered


class CallFingerprint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished call as fingerprints of its input and result, which are equal where these are alike.

    `session_tokens` is the usage of the session by then. Without `result_fingerprint` the outcome was not reported.
    """

    subagent: str | None = None
    action: str
    input_fingerprint: int
    result_fingerprint: int | None = None
    ok: bool | None = None
    time: str
    session_tokens: int | None = None


class CallLoop(Struct, frozen=True, kw_only=True):
    """A loop: number of rounds, last call, tokens and time since it began, calls per round."""

    iteration_count: int
    action_name: str
    tokens_consumed: int | None
    elapsed_ms: int | None
    period: int


def find_loop(window: Sequence[CallFingerprint]) -> CallLoop | None:
    """The loop that the last call belongs to, the shortest period first; other sub-agents' calls do not count."""
    acts = [act for act in window if act.subagent == window[-1].subagent]
    for period in range(1, MAX_LOOP_CALLS + 1):
        rounds = _count_rounds(acts, period)
        if rounds >= (MIN_LOOP_ROUNDS if all(act.result_fingerprint is not None for act in acts[-period:]) else MIN_ROUNDS_WITHOUT_RESULT):
            return _build_loop(acts, period, rounds)
    return None


def _count_rounds(acts: Sequence[CallFingerprint], period: int) -> int:
    if len(acts) < period:
        return 0
    match_count = 0
    while match_count + period < len(acts) and _is_same_outcome(acts[-1 - match_count], acts[-1 - match_count - period]):
        match_count += 1
    return match_count // period + 1


def _is_same_outcome(first: CallFingerprint, second: CallFingerprint) -> bool:
    return (first.action, first.input_fingerprint, first.result_fingerprint) == (second.action, second.input_fingerprint, second.result_fingerprint)


def _build_loop(acts: Sequence[CallFingerprint], period: int, rounds: int) -> CallLoop:
    first, last = acts[-period * rounds], acts[-1]
    return CallLoop(
        iteration_count=rounds,
        action_name=last.action,
        tokens_consumed=None if first.session_tokens is None or last.session_tokens is None else max(last.session_tokens - first.session_tokens, 0),
        elapsed_ms=elapsed_ms(first.time, last.time),
        period=period,
    )


def elapsed_ms(first: str, last: str) -> int | None:
    """Milliseconds from one time to another; None if one is invalid, 0 if the clock was set back."""
    start, end = times.to_seconds(first), times.to_seconds(last)
    return None if start is None or end is None else max(round((end - start) * 1000), 0)
