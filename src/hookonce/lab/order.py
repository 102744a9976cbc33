"""The order in which events came: a list for each agent and sub-agent, because those work at the same time."""

from collections.abc import Iterable

from hookonce import times
from hookonce.model import Object


def once(events: Iterable[Object]) -> list[Object]:
    """The events as they came, each once, however many hooks have heard it; none that hookonce made of another.

    Some agents do not wait for their first hook. When it happened they know best, if they tell.
    """
    found = {event["id"]: event for event in events if "derived_from" not in event}
    told = all(event.get("time_source") == "agent" for event in found.values())
    return sorted(found.values(), key=lambda event: times.seconds(str(event.get("time" if told else "received"))) or 0)


def label(native: str, tool: str | None) -> str:
    """An event and its tool, in short."""
    return native if tool is None else f"{native} {tool}"


def threads(named: Iterable[tuple[Object, str]]) -> list[list[str]]:
    """The labels of events, apart for each session and sub-agent, in the order of their first ones.

    What belongs to nobody is the main agent's.
    """
    found: dict[object, list[str]] = {}
    for event, told in named:
        who = (event.get("subagent") or {}).get("id") or event.get("session")
        found.setdefault(who or next(iter(found), None), []).append(told)
    return list(found.values())
