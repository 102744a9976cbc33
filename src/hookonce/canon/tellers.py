"""Tellers: who tells what the model calls of a session have used, and which of them count, so that each call does once.

A transcript knows every call, a model event those that we are asked about, an agent that stops those of its turn, the
end of a session all of them. Whoever knows best counts alone. What only the call of a sub-agent tells is added, except
to those who know of it anyway.
"""

from collections.abc import Iterable

from hookonce.model import Event

TRANSCRIPT, MODEL, STOP, RESPONSE, END, CALL = "transcript", "model", "stop", "response", "end", "call"
SINGLE = frozenset({TRANSCRIPT, MODEL})  # who tells of one call of the model at a time
_BEST = (TRANSCRIPT, MODEL, STOP, RESPONSE, END)  # of those who tell of the same calls, the first that does
_ALL = frozenset({TRANSCRIPT, END})  # who tells of sub-agents too
_TELLERS = {
    "after_model": MODEL,
    "agent_stop": STOP,
    "agent_response": RESPONSE,
    "session_end": END,
    "after_tool_execute": CALL,
    "tool_use_failure": CALL,
}


def teller(event: Event) -> str | None:
    """As whom an event tells; None if it is one of those that never do."""
    return TRANSCRIPT if from_transcript(event) else _TELLERS.get(event.type)


def from_transcript(event: Event) -> bool:
    """Whether an event was read in a transcript."""
    return event.origin is not None and TRANSCRIPT in event.origin.via


def counting(known: Iterable[str]) -> frozenset[str]:
    """Those who count, of those who have told anything in a session."""
    told = frozenset(known)
    best = next((one for one in _BEST if one in told), None)
    return told & ({best} if best in _ALL else {best, CALL})
