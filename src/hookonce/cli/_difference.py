"""A difference between two versions of an agent, in words."""

from collections.abc import Iterator

from hookonce.cli._words import pluralize
from hookonce.lab.diff import CaptureDiff, KeyChange, NameChanges, OrderChange, count_changes
from hookonce.lab.order import event_label

_SIGNS = {"added": "+", "removed": "-", "type": "~"}


def diff_lines(diff: CaptureDiff) -> Iterator[str]:
    """Format a capture diff as grouped lines with counts."""
    old, new = (f"{side.agent} {side.version}" for side in (diff.old, diff.new))
    change_count = count_changes(diff)
    yield f"{old} and {new}: {pluralize(change_count, 'difference') if change_count else 'the same'}"
    yield from _name_section("events", diff.events)
    yield from _name_section("events of a tool", diff.calls)
    yield from _name_section("tools that the model is offered", diff.tools)
    yield from _section("keys of payloads", len(diff.keys), _key_lines(diff.keys))
    yield from _section("order of events in the tour", len(diff.order), map(_order_line, diff.order))
    claims = diff.claims or []
    yield from _section("claims", len(claims), (f"{claim.claim}: {claim.old or '-'} → {claim.new or '-'}" for claim in claims))
    for note in diff.notes:
        yield f"note: {note}"


def _section(title: str, count: int, rows: Iterator[str]) -> Iterator[str]:
    if count:
        yield f"\n{title} ({count})"
        yield from (f"  {row}" for row in rows)


def _name_section(title: str, names: NameChanges) -> Iterator[str]:
    rows = [f"{sign} {', '.join(changed_names)}" for sign, changed_names in (("+", names.added), ("-", names.removed)) if changed_names]
    yield from _section(title, len(names.added) + len(names.removed), iter(rows))


def _key_lines(keys: list[KeyChange]) -> Iterator[str]:
    events_by_change: dict[str, list[str]] = {}
    for key in keys:
        types = "/".join(key.new or key.old) if key.change != "type" else f"{'/'.join(key.old)} → {'/'.join(key.new)}"
        events_by_change.setdefault(f"{_SIGNS[key.change]} {key.path} ({types})", []).append(event_label(key.event, key.tool))
    yield from (f"{change}: {', '.join(_group_by_event(labels))}" for change, labels in events_by_change.items())


def _group_by_event(labels: list[str]) -> list[str]:
    tools_by_event: dict[str, list[str]] = {}
    for label_text in labels:
        event, _, tool = label_text.rpartition(" ")
        tools_by_event.setdefault(event or tool, []).extend([tool] if event else [])
    return [f"{event} of {' '.join(tools)}" if tools else event for event, tools in tools_by_event.items()]


def _order_line(change: OrderChange) -> str:
    where = "the main agent" if not change.thread else f"sub-agent {change.thread}"
    after = f"after {change.after}" if change.after else "at first"
    return f"{where}, {after}: {', '.join(change.old) or 'nothing'} → {', '.join(change.new) or 'nothing'}"
