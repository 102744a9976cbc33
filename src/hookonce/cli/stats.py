"""hookonce stats."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _filters
from hookonce.cli._nothing import nothing_at_all
from hookonce.cli._progress import tell
from hookonce.cli._table import clipped, most, show, table
from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.errors import UsageError
from hookonce.journeys.looking import looking, take_up
from hookonce.journeys.stats import Count, Stats, stats
from hookonce.store.rebuild import rebuild
from hookonce.store.writer import Writer
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce stats --since 3d
  hookonce stats --agent codex --json
  hookonce stats --rebuild"""
_BAR = 30  # characters of the longest bar


def configure(parser: ArgumentParser) -> None:
    """The options of `stats`."""
    parser.epilog = _EXAMPLES
    _filters.configure(parser, "agent", "since", "until")
    parser.add_argument("--rebuild", action="store_true", help="count all events again, and replace the summaries")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: Namespace) -> int:
    """Show how much of what happened, by whole days, and what hooks cost."""
    if options.rebuild:
        return _rebuild(options)
    with looking(warn) as connection:
        found = stats(connection, _filters.span(options, connection))
    if options.json:
        sys.stdout.buffer.write(dump(found) + b"\n")
    else:
        _show(found)
    return 0


def _rebuild(options: Namespace) -> int:
    if options.agent or options.since or options.until:
        raise UsageError("--rebuild counts everything; it takes no other option than --json")
    take_up(warn)
    with Writer() as writer:
        count = rebuild(writer, _progress)
    tell("")
    if options.json:
        sys.stdout.buffer.write(dump({"counted": count}) + b"\n")
    else:
        print(f"{counted(count, 'event')} counted again")
    return 0


def _progress(done: int, everything: int) -> None:
    if sys.stderr.isatty() and everything:
        tell(f"counting again: {100 * done // everything} %")


def _show(found: Stats) -> None:
    if not found.events:
        print(nothing_at_all("there is no such event"))
    for title, counts in (
        ("agent", found.agents),
        ("event", found.types),
        ("tool", found.tools),
        ("decision", found.decisions),
        ("day (UTC)", found.days),
    ):
        _counts(title, counts)
    if found.tokens is not None:
        told = f"{found.tokens['input_tokens']:,} in, {found.tokens['output_tokens']:,} out"
        print(f"tokens: {told}; hookonce cost says what they were worth\n")
    if found.hooks:
        _hooks(found)
    elif found.hooks is None:
        print("what hooks cost is not counted by agent; hookonce stats shows it for all")
    if found.lost_records:
        print(f"{counted(found.lost_records, 'record')} could not be written")


def _counts(title: str, counts: list[Count]) -> None:
    """A list with bars; of a long one, what matters most: the largest, or the last days."""
    if not counts:
        return
    shown = counts[-most() :] if title.startswith("day") else counts[: most()]
    made = table(title, "events", "")
    made.columns[1].justify = "right"
    largest = max(one.events for one in shown)
    for one in shown:
        made.add_row(one.name, f"{one.events:,}", clipped("█" * max(1, _BAR * one.events // largest)))
    show(made)
    more = len(counts) - len(shown)
    print(f"and {more} more (--json lists all)\n" if more else "")


def _hooks(found: Stats) -> None:
    made = table("hook", "runs", "p50 ms", "p95 ms", "mean ms", "failures", "refusals", "tokens injected")
    for column in made.columns[1:]:
        column.justify = "right"
    for one in found.hooks or ():
        times = (f"{ms:,.1f}" for ms in (one.p50_ms, one.p95_ms, one.mean_ms))
        made.add_row(one.hook, f"{one.runs:,}", *times, *(f"{n:,}" for n in (one.failures, one.refusals, one.tokens)))
    show(made)
    print("p50 and p95 are at most a quarter too high: they come from summaries\n")
