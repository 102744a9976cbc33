"""Gemini CLI config codec, which Qwen Code shares: groups whose entries have names, and settings among the events.

Two flat list shapes were published as well. Gemini CLI reads neither; we do, so that such files can be repaired.
"""

from hookonce.model import Gap, Json, Object

_FLAT_LIST_GAP = Gap(
    where="$.hooks",
    capability="event",
    strategy="read",
    effect="observes",
    note="a list of hooks is a shape that was published and that no Gemini CLI reads",
)


def group_flat_entries(entries: list[Json]) -> tuple[Object, list[Gap]]:
    """The entries of a flat list under their events, as the agent wants them."""
    events: Object = {}
    gaps = [_FLAT_LIST_GAP]
    for number, entry in enumerate(entries):
        native = entry.get("trigger", entry.get("hookName")) if type(entry) is dict else None
        if type(native) is not str:
            note = f"$.hooks[{number}] names no event"
            gaps.append(Gap(where=f"$.hooks[{number}]", strategy="kept out", effect="lost", note=note))
        else:
            events.setdefault(native, []).append(_group_of_entry(entry))
    return events, gaps


def _group_of_entry(entry: Object) -> Object:
    matcher_value = entry.get("matcher")
    matcher = entry.get("toolMatcher", matcher_value.get("toolName") if type(matcher_value) is dict else matcher_value)
    inner = {"type": "command", "command": entry.get("command")}
    if (timeout := entry.get("timeoutMs", entry.get("timeout"))) is not None:
        inner["timeout"] = timeout
    return ({"matcher": matcher} if type(matcher) is str else {}) | {"hooks": [inner]}
