"""Legacy profile of OpenHook for payloads without an envelope: only by `--from openhook@legacy`.

The makers' own libraries turn such payloads into OpenHook by guessing: the source from the keys that are
there, in a fixed order, and every event that they have no name for as the end of the session. That is wrong
for most agents of today, so nobody gets it without asking for it by this name; `--from AGENT` knows better.
What was guessed is named in the gaps, and the payload stays whole in `native`. A payload carries neither an
id nor a time that the profile trusts: both come from the caller.
"""

from hookonce.base.file_uris import from_uri
from hookonce.base.jsontext import as_dict
from hookonce.base.times import EPOCH_TEXT
from hookonce.model import SCHEMA, Event, Gap, Object, Origin, Record, Tool
from hookonce.vocabulary.events import FROM_OPENHOOK
from hookonce.vocabulary.names import AGENT_ALIASES

# The first key that is there decides; `source_tool`, which names the source itself, comes before all.
SOURCE_BY_KEY: tuple[tuple[str, str], ...] = (
    ("conversation_id", "cursor"),
    ("taskId", "cline"),
    ("thread-id", "codex"),
    ("hook_event_name", "copilot"),
    ("sessionId", "claude-code"),
    ("transcriptPath", "claude-code"),
)
SESSION_KEYS = ("sessionId", "session_id", "conversation_id", "taskId", "thread-id")
TRANSCRIPT_KEYS = ("transcriptPath", "transcript_path")
TYPE_BY_NAME: dict[str, str] = {
    "userPromptSubmitted": "prompt.submit",
    "userPromptSubmit": "prompt.submit",
    "preToolUse": "tool.start",
    "postToolUse": "tool.end",
    "sessionEnd": "session.end",
    "stop": "session.end",
}


def read(payload: Object, event_id: str, received: str | None) -> Record:
    """Parse a legacy payload; never refused, since everything means something here."""
    gaps: list[Gap] = []
    source = source_of(payload)
    if payload.get("source_tool") != source:
        gaps.append(Gap(where="$", strategy="guessed", note=f"a legacy payload was taken for one of {source}"))
    event_name = payload.get("hook_event_name")
    kind = TYPE_BY_NAME.get(event_name) if type(event_name) is str else None
    if kind is None:
        kind, is_named = "session.end", type(event_name) is str
        where, label = ("$.hook_event_name", event_name) if is_named else ("$", "an event without a name")
        gaps.append(Gap(where=where, strategy="guessed", note=f"{label} was taken for session.end"))
    transcript = _first(payload, TRANSCRIPT_KEYS, ("transcript", "path"))
    tool, cwd = payload.get("tool_name"), payload.get("cwd")
    event = Event(
        id=event_id,
        schema=SCHEMA,
        type=FROM_OPENHOOK[kind],
        agent=AGENT_ALIASES.get(source, source),
        session=_first(payload, SESSION_KEYS, ("session", "id")),
        time=received or EPOCH_TEXT,
        time_source="received" if received else "none",
        received=received,
        cwd=from_uri(cwd) if type(cwd) is str else None,
        tool=Tool(name=tool, native=tool) if type(tool) is str and kind.startswith("tool.") else None,
        data={"transcript_path": transcript} if transcript else {},
        origin=Origin(format="openhook@legacy"),
        native=payload,
    )
    return Record(event=event, gaps=gaps)


def source_of(payload: Object) -> str:
    """The source that the keys imply, or `unknown`."""
    source_tool = payload.get("source_tool")
    if type(source_tool) is str and source_tool:
        return source_tool
    return next((source for key, source in SOURCE_BY_KEY if key in payload), "unknown")


def _first(payload: Object, keys: tuple[str, ...], nested_key: tuple[str, str]) -> str | None:
    """The first of these keys that holds a text or a number, else the one inside an object."""
    outer, inner = nested_key
    values = [*map(payload.get, keys), as_dict(payload.get(outer)).get(inner)]
    return next((str(value) for value in values if type(value) is int or (type(value) is str and value)), None)
