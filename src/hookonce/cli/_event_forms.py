"""How events are printed: as our own records, in an open format, as values with commas, or for the eye."""

import csv
import sys
from argparse import Namespace
from collections.abc import Callable

from hookonce import formats
from hookonce.cli._lines import Lines
from hookonce.cli._when import short
from hookonce.cli._words import counted
from hookonce.errors import UsageError
from hookonce.formats import canonical
from hookonce.journeys.told import told
from hookonce.model import Format, Stored
from hookonce.store.entry import read
from hookonce.store.query import Row
from hookonce.store.redact import Level
from hookonce.texts import dump

COLUMNS = ("time", "agent", "session", "subagent", "type", "tool", "what", "decision", "reason", "project", "id")
_SESSION = 13  # characters: of a name that begins with a time, those that two sessions rarely share

Put = Callable[[Row], None]
End = Callable[[], None]


def form(options: Namespace) -> tuple[Put, End]:
    """What to do with each row, and when there are no more for now."""
    if options.format is not None:
        return _translated(options)
    if options.json:
        return _each(lambda record: sys.stdout.buffer.write(dump(canonical.write(record)[0]) + b"\n"))
    if options.csv:
        return _values()
    lines = Lines("time (UTC)", "agent", "session", "type", "tool", "decision", "what")
    return _each(lambda record: _line(lines, record), lines.flush)


def _each(show: Callable[[Stored], object], end: End = lambda: None) -> tuple[Put, End]:
    """Rows as records; those that nobody can read are counted."""
    unread = []

    def put(row: Row) -> None:
        try:
            record = read(row.body).record
        except ValueError:
            unread.append(row.seq)
        else:
            show(record)

    def done() -> None:
        end()
        if unread:
            numbers = f"{counted(len(unread), 'record')} (the first is number {unread[0]})"
            print(f"hookonce: {numbers} cannot be read; hookonce audit verify says more", file=sys.stderr)
            unread.clear()

    return put, done


def _line(lines: Lines, record: Stored) -> None:
    event, decision = record.event, record.decision
    outcome = (decision.outcome if decision is not None else None) or ""
    tool = event.tool.name if event.tool is not None else ""
    name = (event.session or "")[:_SESSION]
    what = told(record)
    lines.row(short(event.time), event.agent, name, event.type, tool, outcome, what, loud=outcome == "deny")


def _values() -> tuple[Put, End]:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    return _each(lambda record: writer.writerow(_cells(record)))


def _cells(record: Stored) -> list[str | None]:
    event, decision = record.event, record.decision
    return [
        event.time,
        event.agent,
        event.session,
        event.subagent.id if event.subagent is not None else None,
        event.type,
        event.tool.name if event.tool is not None else None,
        told(record, reason=False),
        decision.outcome if decision is not None else None,
        decision.reason if decision is not None else None,
        event.cwd,
        event.id,
    ]


def _translated(options: Namespace) -> tuple[Put, End]:
    from hookonce.journeys.lines import Line
    from hookonce.journeys.translate import Fault, Plan, Translation

    target, variant = _target(options.format)
    level: Level = options.privacy or ("full" if target is canonical.FORMAT else "minimal")
    walk = Translation(Plan(source=canonical.FORMAT, target=target, variant=variant, level=level))

    def put(row: Row) -> None:
        for outcome in walk.texts([Line(row.seq, row.body)]):
            if isinstance(outcome, Fault):
                print(f"hookonce: record {outcome.line}: {outcome.message}", file=sys.stderr)
            else:
                sys.stdout.buffer.write(outcome)

    def end() -> None:
        if left := walk.left_out:
            kinds = ", ".join(f"{kind} {count}" for kind, count in left.most_common())
            lost = counted(left.total(), "event")
            print(f"hookonce: {lost} left out, {target.title} has no place for: {kinds}", file=sys.stderr)
            left.clear()

    return put, end


def _target(text: str) -> tuple[Format, str]:
    name, _, variant = text.partition("@")
    target = formats.load(name)
    if variant and variant not in target.variants:
        raise UsageError(f"{name} has no variant {variant!r}")
    return target, variant
