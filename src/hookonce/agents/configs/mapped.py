"""Grouped config format: groups with a matcher under their event, as Claude Code and half of the others have."""

from collections.abc import Callable

from hookonce.model import Json, Object

EntryChange = Callable[[Object], Object | None]


def map_entries(events: Json, change: EntryChange) -> Object:
    """The events table with every entry mapped by `change`, None drops an entry; {} where it is no table."""
    if type(events) is not dict:
        return {}
    return {native: _map_groups(groups, change) for native, groups in events.items()}


def _map_groups(groups: Json, change: EntryChange) -> Json:
    return [_map_group(group, change) for group in groups] if type(groups) is list else groups


def _map_group(group: Json, change: EntryChange) -> Json:
    entries = group.get("hooks") if type(group) is dict else None
    if type(entries) is not list:
        return group
    pairs = [(entry, change(entry) if type(entry) is dict else entry) for entry in entries]
    return group | {"hooks": [new for old, new in pairs if new is not None or old is None]}
