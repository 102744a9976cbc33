"""hookonce events: list, follow and query recorded events as table, JSON, CSV or an open format."""

import csv
import sys
from argparse import Namespace
from collections.abc import Callable

from hookonce import formats
from hookonce.cli._lines import StreamingTable
from hookonce.cli._when import format_time
from hookonce.cli._words import pluralize
from hookonce.errors import UsageError
from hookonce.formats import canonical
from hookonce.journeys.told import summarize_record
from hookonce.model import Format, Stored
from hookonce.store.entry import decode_entry
from hookonce.store.query import EventRow
from hookonce.store.redact import Level
from hookonce.texts import dump

CSV_COLUMNS = ("time", "agent", "session", "subagent", "type", "tool", "what", "decision", "reason", "project", "id")
_SESSION_CHARS = 13  # characters: of a name that begins with a time, those that two sessions rarely share

RowWriter = Callable[[EventRow], None]
Flush = Callable[[], None]


def choose_writer(options: Namespace) -> tuple[RowWriter, Flush]:
    """Choose the row writer of the output options, and what flushes it."""
    if options.format is not None:
        return _format_writer(options)
    if options.json:
        return _record_writer(lambda record: sys.stdout.buffer.write(dump(canonical.write(record)[0]) + b"\n"))
    if options.csv:
        return _csv_writer()
    lines = StreamingTable("time (UTC)", "agent", "session", "type", "tool", "decision", "what")
    return _record_writer(lambda record: _write_table_row(lines, record), lines.flush)


def _record_writer(write_record: Callable[[Stored], object], flush: Flush = lambda: None) -> tuple[RowWriter, Flush]:
    """Rows as records; those that nobody can read are counted."""
    unreadable = []

    def write_row(row: EventRow) -> None:
        try:
            record = decode_entry(row.body).record
        except ValueError:
            unreadable.append(row.seq)
        else:
            write_record(record)

    def finish() -> None:
        flush()
        if unreadable:
            numbers = f"{pluralize(len(unreadable), 'record')} (the first is number {unreadable[0]})"
            print(f"hookonce: {numbers} cannot be read; hookonce audit verify says more", file=sys.stderr)
            unreadable.clear()

    return write_row, finish


def _write_table_row(lines: StreamingTable, record: Stored) -> None:
    event, decision = record.event, record.decision
    outcome = (decision.outcome if decision is not None else None) or ""
    tool = event.tool.name if event.tool is not None else ""
    session = (event.session or "")[:_SESSION_CHARS]
    summary = summarize_record(record)
    lines.add_row(format_time(event.time), event.agent, session, event.type, tool, outcome, summary, is_alarm=outcome == "deny")


def _csv_writer() -> tuple[RowWriter, Flush]:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    return _record_writer(lambda record: writer.writerow(_csv_cells(record)))


def _csv_cells(record: Stored) -> list[str | None]:
    event, decision = record.event, record.decision
    return [
        event.time,
        event.agent,
        event.session,
        event.subagent.id if event.subagent is not None else None,
        event.type,
        event.tool.name if event.tool is not None else None,
        summarize_record(record, reason=False),
        decision.outcome if decision is not None else None,
        decision.reason if decision is not None else None,
        event.cwd,
        event.id,
    ]


def _format_writer(options: Namespace) -> tuple[RowWriter, Flush]:
    from hookonce.journeys.lines import StreamLine
    from hookonce.journeys.translate import LineFault, TranslationPlan, Translation

    target, variant = _parse_target(options.format)
    level: Level = options.privacy or ("full" if target is canonical.FORMAT else "minimal")
    translation = Translation(TranslationPlan(source=canonical.FORMAT, target=target, variant=variant, level=level))

    def write_row(row: EventRow) -> None:
        for outcome in translation.json_lines([StreamLine(row.seq, row.body)]):
            if isinstance(outcome, LineFault):
                print(f"hookonce: record {outcome.line}: {outcome.message}", file=sys.stderr)
            else:
                sys.stdout.buffer.write(outcome)

    def finish() -> None:
        if left_out := translation.unwritten_types:
            counts_by_type = ", ".join(f"{kind} {count}" for kind, count in left_out.most_common())
            event_count = pluralize(left_out.total(), "event")
            print(f"hookonce: {event_count} left out, {target.title} has no place for: {counts_by_type}", file=sys.stderr)
            left_out.clear()

    return write_row, finish


def _parse_target(text: str) -> tuple[Format, str]:
    name, _, variant = text.partition("@")
    target = formats.load(name)
    if variant and variant not in target.variants:
        raise UsageError(f"{name} has no variant {variant!r}")
    return target, variant
