"""The conformance that a stream of valid documents reaches."""

from collections.abc import Callable

from hookonce.model import Object

_LIFECYCLE = frozenset({"session.start", "prompt.submit", "tool.start", "tool.end", "session.end"})


Trait = tuple[str, bool]


def trait(document: Object) -> Trait:
    """What of a document counts for a level: its type, and whether it tells where the transcript is."""
    kind, data = document.get("type"), document.get("data")
    return kind if type(kind) is str else "", type(data) is dict and bool(data.get("transcript_path"))


def level_of(kind: str | None, traits: set[Trait], *, whole: bool) -> str | None:
    """What documents with these traits conform to, or None; `whole` when none of them had a problem."""
    judge = LEVELS.get(kind or "")
    return None if judge is None or not traits else judge(traits, whole)


def _openhook(traits: set[Trait], whole: bool) -> str | None:  # noqa: FBT001  one table, one signature
    """Level 1 needs a session's end, level 2 the whole lifecycle and the transcript; file writes are told apart."""
    kinds = {kind for kind, _ in traits}
    if "session.end" not in kinds or not whole:
        return None
    told = ("session.end", False) not in traits
    level = "OpenHook level 2" if kinds >= _LIFECYCLE and told else "OpenHook level 1"
    return f"{level} with artifact events" if "file.write" in kinds else level


def _valid(title: str) -> Callable[[set[Trait], bool], str | None]:
    return lambda _, whole: f"{title}, valid" if whole else None


LEVELS: dict[str, Callable[[set[Trait], bool], str | None]] = {
    "openhook": _openhook,
    "agent-hooks": _valid("Agent Hooks 0.1.0"),
    "amplifier": _valid("Amplifier Event v1"),
    "cloudevents": _valid("CloudEvents 1.0"),
    "otel": _valid("OTLP/JSON"),
    "ocsf": _valid("OCSF"),
    "agent-trace": _valid("Agent Trace 0.1.0"),
    "canonical": _valid("hookonce record"),
}
