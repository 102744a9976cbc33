"""A difference between two versions of an agent, in words."""

from collections.abc import Iterator

from hookonce.cli._words import counted
from hookonce.lab.diff import Difference, Key, Names, Turn, count
from hookonce.lab.order import label

_SIGNS = {"added": "+", "removed": "-", "type": "~"}


def lines(found: Difference) -> Iterator[str]:
    """Everything that differs, grouped, with counts."""
    old, new = (f"{side.agent} {side.version}" for side in (found.old, found.new))
    number = count(found)
    yield f"{old} and {new}: {counted(number, 'difference') if number else 'the same'}"
    yield from _named("events", found.events)
    yield from _named("events of a tool", found.calls)
    yield from _named("tools that the model is offered", found.tools)
    yield from _section("keys of payloads", len(found.keys), _keys(found.keys))
    yield from _section("order of events in the tour", len(found.order), map(_turn, found.order))
    claims = found.claims or []
    yield from _section("claims", len(claims), (f"{one.claim}: {one.old or '-'} → {one.new or '-'}" for one in claims))
    for note in found.notes:
        yield f"note: {note}"


def _section(title: str, number: int, told: Iterator[str]) -> Iterator[str]:
    if number:
        yield f"\n{title} ({number})"
        yield from (f"  {one}" for one in told)


def _named(title: str, names: Names) -> Iterator[str]:
    told = [f"{sign} {', '.join(some)}" for sign, some in (("+", names.added), ("-", names.removed)) if some]
    yield from _section(title, len(names.added) + len(names.removed), iter(told))


def _keys(keys: list[Key]) -> Iterator[str]:
    """The same change of many events in one line."""
    found: dict[str, list[str]] = {}
    for one in keys:
        types = "/".join(one.new or one.old) if one.change != "type" else f"{'/'.join(one.old)} → {'/'.join(one.new)}"
        found.setdefault(f"{_SIGNS[one.change]} {one.path} ({types})", []).append(label(one.event, one.tool))
    yield from (f"{told}: {', '.join(_folded(where))}" for told, where in found.items())


def _folded(labels: list[str]) -> list[str]:
    """Events, each with its tools behind it."""
    found: dict[str, list[str]] = {}
    for one in labels:
        event, _, tool = one.rpartition(" ")
        found.setdefault(event or tool, []).extend([tool] if event else [])
    return [f"{event} of {' '.join(tools)}" if tools else event for event, tools in found.items()]


def _turn(one: Turn) -> str:
    where = "the main agent" if not one.thread else f"sub-agent {one.thread}"
    after = f"after {one.after}" if one.after else "at first"
    return f"{where}, {after}: {', '.join(one.old) or 'nothing'} → {', '.join(one.new) or 'nothing'}"
