"""Echoes: events that say nothing which another event has not said."""

from hookonce.model import Event


def is_derived(event: Event) -> bool:
    """Whether hookonce derived the event itself."""
    return event.derived_from is not None and event.data.get("derived") is True


def is_redundant(event: Event) -> bool:
    """Whether the event says nothing new: derived by us, or told by its agent once more in other words."""
    return event.data.get("repeat") is True or is_derived(event)
