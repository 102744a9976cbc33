"""Every entry of a configuration in groups, changed or taken out; whatever is no entry stays as it is."""

from collections.abc import Callable

from hookonce.model import Json, Object

Change = Callable[[Object], Object | None]


def mapped(events: Json, change: Change) -> Object:
    """The events with each of their entries changed; nothing at all where there is no table of events."""
    if type(events) is not dict:
        return {}
    return {native: _groups(groups, change) for native, groups in events.items()}


def _groups(groups: Json, change: Change) -> Json:
    return [_group(group, change) for group in groups] if type(groups) is list else groups


def _group(group: Json, change: Change) -> Json:
    entries = group.get("hooks") if type(group) is dict else None
    if type(entries) is not list:
        return group
    changed = [(entry, change(entry) if type(entry) is dict else entry) for entry in entries]
    return group | {"hooks": [new for old, new in changed if new is not None or old is None]}
