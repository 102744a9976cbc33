"""Precedence of token usage sources, so that each model call of a session counts once.

A transcript knows every call, a model event those that we are asked about, an agent that stops those of its
turn, the end of a session all of them. The best source counts alone. What only the call of a sub-agent tells is
added, except to sources that know of it anyway.
"""

from collections.abc import Iterable

from hookonce.model import Event

TRANSCRIPT, MODEL, STOP, RESPONSE, END, CALL = "transcript", "model", "stop", "response", "end", "call"
SINGLE_CALL_SOURCES = frozenset({TRANSCRIPT, MODEL})  # who tells of one call of the model at a time
_PRECEDENCE = (TRANSCRIPT, MODEL, STOP, RESPONSE, END)  # of those who tell of the same calls, the first that does
_SOURCES_WITH_SUBAGENTS = frozenset({TRANSCRIPT, END})  # who tells of sub-agents too
_SOURCE_BY_EVENT = {
    "after_model": MODEL,
    "agent_stop": STOP,
    "agent_response": RESPONSE,
    "session_end": END,
    "after_tool_execute": CALL,
    "tool_use_failure": CALL,
}


def usage_source_of(event: Event) -> str | None:
    """The usage source that an event is; None if it is of a type that never has usage."""
    return TRANSCRIPT if is_from_transcript(event) else _SOURCE_BY_EVENT.get(event.type)


def is_from_transcript(event: Event) -> bool:
    """Whether an event was read in a transcript."""
    return event.origin is not None and TRANSCRIPT in event.origin.via


def counting_sources(sources: Iterable[str]) -> frozenset[str]:
    """The sources that count, of those that are present in a session."""
    present_sources = frozenset(sources)
    best = next((source for source in _PRECEDENCE if source in present_sources), None)
    return present_sources & ({best} if best in _SOURCES_WITH_SUBAGENTS else {best, CALL})
