"""The order in which events came: a list for each agent and sub-agent, because those work at the same time."""

from collections.abc import Iterable

from hookonce import times
from hookonce.model import Object


def deduplicate_events(events: Iterable[Object]) -> list[Object]:
    """Deduplicate events by id in time order; derived events are dropped.

    Some agents do not wait for their first hook: their own times count, if all events have one.
    """
    events_by_id = {event["id"]: event for event in events if "derived_from" not in event}
    has_agent_times = all(event.get("time_source") == "agent" for event in events_by_id.values())
    return sorted(events_by_id.values(), key=lambda event: times.to_seconds(str(event.get("time" if has_agent_times else "received"))) or 0)


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
