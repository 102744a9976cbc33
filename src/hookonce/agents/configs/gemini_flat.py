"""Two flat shapes in which hooks of Gemini CLI were published. It reads neither; we do, so that they can be mended."""

from hookonce.model import Gap, Json, Object

_GAP = Gap(
    where="$.hooks",
    capability="event",
    strategy="read",
    effect="observes",
    note="a list of hooks is a shape that was published and that no Gemini CLI reads",
)


def grouped(entries: list[Json]) -> tuple[Object, list[Gap]]:
    """The entries of a flat list under their events, as the agent wants them."""
    events: Object = {}
    gaps = [_GAP]
    for number, entry in enumerate(entries):
        native = entry.get("trigger", entry.get("hookName")) if type(entry) is dict else None
        if type(native) is not str:
            note = f"$.hooks[{number}] names no event"
            gaps.append(Gap(where=f"$.hooks[{number}]", strategy="kept out", effect="lost", note=note))
        else:
            events.setdefault(native, []).append(_group(entry))
    return events, gaps


def _group(entry: Object) -> Object:
    told = entry.get("matcher")
    matcher = entry.get("toolMatcher", told.get("toolName") if type(told) is dict else told)
    inner = {"type": "command", "command": entry.get("command")}
    if (timeout := entry.get("timeoutMs", entry.get("timeout"))) is not None:
        inner["timeout"] = timeout
    return ({"matcher": matcher} if type(matcher) is str else {}) | {"hooks": [inner]}
