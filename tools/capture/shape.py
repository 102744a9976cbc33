"""Payload shape and event order, by which captures are compared: JSON paths with types, never values."""

import re
from collections.abc import Iterable

from hookonce.base import times
from hookonce.model import Json, Object

Shape = dict[str, frozenset[str]]

_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
_PLAIN = re.compile(r"[A-Za-z_$][\w$-]*")
_VARIABLE_KEY = re.compile(r"[/\\\s]|\d{4}|[0-9a-fA-F]{8}-|\d+$")  # paths, times, ids and numbers: keys of a map


def shape_of(value: Json) -> Shape:
    """Shape of one payload."""
    types_by_path: dict[str, set[str]] = {}
    _collect_types(value, "$", types_by_path)
    return {path: frozenset(types) for path, types in types_by_path.items()}


def join_shapes(shapes: Iterable[Shape]) -> Shape:
    """Union of shapes."""
    joint_shape: Shape = {}
    for shape in shapes:
        for path, types in shape.items():
            joint_shape[path] = joint_shape.get(path, frozenset()) | types
    return joint_shape


def _collect_types(value: Json, path: str, types_by_path: dict[str, set[str]]) -> None:
    types_by_path.setdefault(path, set()).add(_TYPES.get(type(value), "number"))
    if type(value) is dict:
        for key, item in value.items():
            _collect_types(item, path + _path_step(key), types_by_path)
    elif type(value) is list:
        for item in value:
            _collect_types(item, f"{path}[]", types_by_path)


def _path_step(key: str) -> str:
    """A key in a path; of a map whose keys are values, such as file names, they all are one."""
    if _VARIABLE_KEY.search(key):
        return ".*"
    return f".{key}" if _PLAIN.fullmatch(key) else f'["{key}"]'


def deduplicate_events(events: Iterable[Object]) -> list[Object]:
    """Deduplicate events by id in time order; derived events are dropped.

    Some agents do not wait for their first hook: their own times count, if all events have one.
    """
    events_by_id = {event["id"]: event for event in events if "derived_from" not in event}
    has_agent_times = all(event.get("time_source") == "agent" for event in events_by_id.values())
    return sorted(
        events_by_id.values(),
        key=lambda event: times.to_seconds(str(event.get("time" if has_agent_times else "received"))) or 0,
    )


def event_label(native: str, tool: str | None) -> str:
    """Label of an event and its tool."""
    return native if tool is None else f"{native} {tool}"


def group_by_thread(labelled_events: Iterable[tuple[Object, str]]) -> list[list[str]]:
    """Group event labels by session and sub-agent, in the order of their first events.

    What belongs to nobody is the main agent's.
    """
    labels_by_thread: dict[object, list[str]] = {}
    for event, event_text in labelled_events:
        thread_id = (event.get("subagent") or {}).get("id") or event.get("session")
        labels_by_thread.setdefault(thread_id or next(iter(labels_by_thread), None), []).append(event_text)
    return list(labels_by_thread.values())
