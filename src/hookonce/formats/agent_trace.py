"""Agent Trace 0.1.0: which lines an agent wrote. Written from file writes, and never read back.

Its own schema wants two numbers in `version`, its text and examples three; the text is followed.
"""

from collections.abc import Iterator
from typing import Any

from hookonce import ids, times
from hookonce.canon.events import FILE_FATES
from hookonce.formats._files import file_events
from hookonce.formats._model import qualified
from hookonce.formats._place import to_uri
from hookonce.formats._read import given
from hookonce.formats._rest import KEY, is_repeat
from hookonce.formats._text import measured
from hookonce.model import Event, Format, Gap, Object, Problem, Record

VERSION = "0.1.0"
_CHANGES = frozenset({"file_changed", *(kind for kind, _, _ in FILE_FATES)})
_LONGEST_MODEL = 250
_FIELDS = {
    "record": frozenset({"version", "id", "timestamp", "vcs", "tool", "files", "metadata"}),
    "tool": frozenset({"name", "version"}),
    "file": frozenset({"path", "conversations"}),
    "conversation": frozenset({"url", "contributor", "ranges", "related"}),
    "contributor": frozenset({"type", "model_id"}),
    "range": frozenset({"start_line", "end_line", "content_hash", "contributor"}),
}
_INNER: dict[str, dict[str, str]] = {
    "record": {"tool": "tool", "files": "file"},
    "tool": {},
    "file": {"conversations": "conversation"},
    "conversation": {"contributor": "contributor", "ranges": "range"},
    "contributor": {},
    "range": {"contributor": "contributor"},
}
_OLDER = {
    ("contributor", "model"): "an older spelling of model_id",
    ("tool", "session_id"): "the session belongs in metadata",
}


def write(record: Record) -> list[Object]:
    """One trace record for all files that the event tells of; none where it tells of none."""
    event = record.event
    if is_repeat(event):
        return []
    changes = [event] if event.type in _CHANGES and _path(event) else file_events(event)
    if not changes:
        return []
    return [
        {
            "version": VERSION,
            "id": ids.derive(event.id, "agent-trace", "0"),
            "timestamp": _timestamp(event.time),
            "tool": {"name": event.agent, "version": event.agent_version or "unknown"},
            "files": [_file(event, change) for change in changes],
            "metadata": _metadata(event),
        }
    ]


def _path(event: Event) -> str | None:
    path = event.data.get("path")
    return path if type(path) is str and path else None


def _timestamp(text: str) -> str:
    """The same moment in UTC, which is all that the format takes."""
    moment = None if text.endswith("Z") else times.parse(text)
    return text if moment is None else times.text_of(moment)


def _file(event: Event, change: Event) -> Object:
    conversation: Object = {"contributor": _contributor(event), "ranges": _ranges(event, change)}
    transcript = event.data.get("transcript_path")
    if type(transcript) is str and transcript:
        conversation = {"url": to_uri(transcript), **conversation}
    return {"path": _relative(_path(change) or "", event.cwd), "conversations": [conversation]}


def _contributor(event: Event) -> Object:
    """A file watcher sees that a file changed and not by whom; a tool call is the agent's own."""
    watched = event.tool is None and event.origin is None and event.derived_from is None
    if watched and "tool_call_id" not in event.data:
        return {"type": "unknown"}
    model = event.model and qualified(event.model)
    return {"type": "ai", "model_id": model} if model and len(model) <= _LONGEST_MODEL else {"type": "ai"}


def _ranges(event: Event, change: Event) -> list[Object]:
    first, last = change.data.get("start_line"), change.data.get("end_line")
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        return []
    content = event.tool.input.get("content") if event.tool is not None else None
    mark = {} if content is None else {"content_hash": measured(content)[0]}
    return [{"start_line": first, "end_line": last, **mark}]


def _relative(path: str, cwd: str | None) -> str:
    """The path from the working directory, which is as near to the repository's root as an event knows."""
    root = (cwd or "").rstrip("/\\")
    if root and path.startswith((root + "/", root + "\\")):
        path = path[len(root) + 1 :]
        return path if root.startswith("/") else path.replace("\\", "/")
    return path.removeprefix("./") or path


def _metadata(event: Event) -> Object:
    call = event.data.get("tool_call_id") if event.tool is None else event.tool.call_id
    ours = {"event": event.id, "type": event.type, "turn": event.turn, "tool_call_id": call}
    return given({"session_id": event.session, KEY: given(ours)})


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What the schema cannot say; fields that it does not know are a matter of strictness."""
    problems: list[Problem] = []
    doubts: list[Problem] = []
    notes: list[Problem] = []
    for level, part, where in _parts(doc):
        unknown = sorted(part.keys() - _FIELDS[level])
        doubts += [(f"{where}.{key}", _OLDER.get((level, key), "unknown field")) for key in unknown]
        if level == "range" and _backwards(part):
            problems.append((f"{where}.end_line", "the range ends before it begins"))
        if level == "file" and type(part.get("path")) is str and part["path"].startswith("/"):
            notes.append((f"{where}.path", "the file lies outside of the repository, or its root is not known"))
    return (problems + doubts, notes) if strict else (problems, doubts + notes)


def _backwards(part: Object) -> bool:
    first, last = part.get("start_line"), part.get("end_line")
    return type(first) is int and type(last) is int and last < first


def _parts(part: Any, level: str = "record", where: str = "$") -> Iterator[tuple[str, Object, str]]:
    """Every object that the format describes, with its place."""
    if type(part) is not dict:
        return
    yield level, part, where
    for key, inner in _INNER[level].items():
        found = part.get(key)
        if type(found) is not list:
            yield from _parts(found, inner, f"{where}.{key}")
            continue
        for index, item in enumerate(found):
            yield from _parts(item, inner, f"{where}.{key}[{index}]")


# What a trace of lines says nothing about.
_LEFT_OUT = (
    "$.event.turn",
    "$.event.subagent",
    "$.event.parent_session",
    "$.event.received",
    "$.event.prompt",
    "$.event.usage",
    "$.event.mode",
    "$.event.user",
    "$.event.actor",
    "$.event.caused_by",
    "$.event.tool.native",
    "$.event.tool.native_input",
    "$.event.tool.call_id",
    "$.event.tool.mcp_server",
    "$.event.tool.result.exit_code",
    "$.event.tool.result.error",
    "$.event.tool.result.duration_ms",
    "$.event.tool.result.output",
    "$.decision",
    "$.risk",
    "$.runs",
)

FORMAT = Format(
    name="agent-trace",
    title="Agent Trace",
    versions=(VERSION,),
    mime="application/vnd.agent-trace.record+json",
    write=write,
    is_mine=lambda doc: "files" in doc and "timestamp" in doc,
    check=check,
    lacks=frozenset({"decision", "risk", "runs", "user"}),
    gaps=(
        *(Gap(where=where, strategy="left out") for where in _LEFT_OUT),
        Gap(where="$.event.type", strategy="narrowed", note="only writes of files have a place"),
        Gap(
            where="$.files[].path",
            strategy="narrowed",
            note="paths begin at the working directory, not at the repository",
        ),
        Gap(where="$.files[].conversations[].ranges", strategy="narrowed", note="an edit tells no line numbers"),
        Gap(where="$.vcs", strategy="assumed", note="a hook is not told the revision"),
        Gap(where="$.tool.version", strategy="assumed", note="unknown where the agent does not tell its version"),
        Gap(where="$", strategy="write only", note="Agent Trace is never read back"),
    ),
)
