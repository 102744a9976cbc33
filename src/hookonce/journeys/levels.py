"""The conformance that a stream of valid documents reaches."""

from collections.abc import Callable

from hookonce.model import Object

_LIFECYCLE = frozenset({"session.start", "prompt.submit", "tool.start", "tool.end", "session.end"})


DocumentTrait = tuple[str, bool]


def trait_of(document: Object) -> DocumentTrait:
    """What of a document counts for a level: its type, and whether it tells where the transcript is."""
    kind, data = document.get("type"), document.get("data")
    return kind if type(kind) is str else "", type(data) is dict and bool(data.get("transcript_path"))


def conformance_level(kind: str | None, traits: set[DocumentTrait], *, whole: bool) -> str | None:
    """The conformance that documents with these traits reach, or None; `whole` when none of them had a problem."""
    judge = CONFORMANCE_LEVELS.get(kind or "")
    return None if judge is None or not traits else judge(traits, whole)


def _openhook_level(traits: set[DocumentTrait], whole: bool) -> str | None:  # noqa: FBT001  one table, one signature
    """Level 1 needs a session's end, level 2 the whole lifecycle and the transcript; file writes are told apart."""
    kinds = {kind for kind, _ in traits}
    if "session.end" not in kinds or not whole:
        return None
    has_transcript = ("session.end", False) not in traits
    level = "OpenHook level 2" if kinds >= _LIFECYCLE and has_transcript else "OpenHook level 1"
    return f"{level} with artifact events" if "file.write" in kinds else level


def _validity_level(title: str) -> Callable[[set[DocumentTrait], bool], str | None]:
    return lambda _, whole: f"{title}, valid" if whole else None


CONFORMANCE_LEVELS: dict[str, Callable[[set[DocumentTrait], bool], str | None]] = {
    "openhook": _openhook_level,
    "agent-hooks": _validity_level("Agent Hooks 0.1.0"),
    "amplifier": _validity_level("Amplifier Event v1"),
    "cloudevents": _validity_level("CloudEvents 1.0"),
    "otel": _validity_level("OTLP/JSON"),
    "ocsf": _validity_level("OCSF"),
    "agent-trace": _validity_level("Agent Trace 0.1.0"),
    "canonical": _validity_level("hookonce record"),
}
