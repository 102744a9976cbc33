"""Echoes: events that say nothing which another event has not said."""

from hookonce.model import Event


def is_further(event: Event) -> bool:
    """Whether we have made the event ourselves."""
    return event.derived_from is not None and event.data.get("derived") is True


def is_echo(event: Event) -> bool:
    """Whether the event says nothing new: made by us, or told by its agent once more in other words."""
    return event.data.get("repeat") is True or is_further(event)
