"""hookonce stats: event counts by day, agent, tool and decision; hook durations."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.local_time import add_utc_option, day_zone_name
from hookonce.cli._ui.messages import pluralize, print_result, show_progress, show_status, warn
from hookonce.cli._ui.tables import max_list_rows, print_table, print_words
from hookonce.errors import UsageError
from hookonce.inspect.stats import NamedCount, Stats, build_stats
from hookonce.inspect.store_access import ingest_spool, open_store
from hookonce.store.maintenance.rebuild import rebuild_summaries
from hookonce.store.writer import Writer

_EXAMPLES = """examples:
  hookonce stats --since 3d
  hookonce stats --agent codex --json
  hookonce stats --rebuild"""
_HOOK_TIMES_NOTE = (
    'Times are how long a hook ran, from its start to its end. The columns with "within" come from a histogram and may '
    "be up to 25 % too high."
)
_BAR_CHARS = 30  # characters of the longest bar


def configure(parser: ArgumentParser) -> None:
    """The options of `stats`."""
    parser.epilog = _EXAMPLES
    filters.add_filter_options(parser, "agent", "since", "until")
    add_utc_option(parser)
    add_flag(parser, "--rebuild", "count all events again, and replace the stored counts")
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> None:
    """Show how much of what happened, by whole days, and what hooks cost."""
    if options.rebuild:
        _run_rebuild(options)
        return
    with open_store(warn) as connection:
        span = filters.build_span(options, connection)
        totals = build_stats(connection, span, day_zone_name(is_local=span.is_local))
    print_result(options, totals, _print_stats)


def _run_rebuild(options: Namespace) -> None:
    if options.agent or options.since or options.until or options.utc:
        raise UsageError("--rebuild counts all events; the only other option it takes is --json")
    ingest_spool(warn)
    with Writer() as writer:
        count = rebuild_summaries(
            writer, lambda count, total: show_status(f"counting again: {100 * count // total} %") if total else None
        )
    show_progress("")
    print_result(options, {"counted": count}, lambda _: print(f"{pluralize(count, 'event')} counted again"))


def _print_stats(totals: Stats) -> None:
    if not totals.events:
        print(filters.no_records_message("no event matches"))
    _print_agents(totals)
    tallies = {"event": totals.types, "tool": totals.tools, "decision": totals.decisions}
    for title, counts in (tallies | {f"day ({totals.zone})": totals.days}).items():
        _print_counts(title, counts)
    if note := filters.days_note(totals.utc_days):
        print_words(f"{note}\n")
    if totals.tokens is not None:
        token_text = f"{totals.tokens['input_tokens']:,} in, {totals.tokens['output_tokens']:,} out"
        print(f"tokens: {token_text}; hookonce cost estimates what they cost\n")
    if totals.hooks:
        _print_hooks(totals)
    elif totals.hooks is None:
        print("times of hooks are not counted per agent; hookonce stats without --agent shows them")
    if totals.lost_records:
        print(f"{pluralize(totals.lost_records, 'record')} could not be written")


def _print_agents(totals: Stats) -> None:
    """All counts of each agent in a row."""
    if not totals.agents:
        return
    titles = ("events", "tool calls", "refused", "asked")
    columns = [Column("agent", shape="line", min_chars=13), *(Column(title, right=True) for title in titles)]
    counts = [(agent.events, agent.calls, agent.refusals, agent.asks) for agent in totals.agents]
    rows = [(agent.name, *map("{:,}".format, row)) for agent, row in zip(totals.agents, counts, strict=True)]
    all_agents = [("all", *map("{:,}".format, map(sum, zip(*counts, strict=True))))] if len(rows) > 1 else []
    print_table(columns, rows + all_agents)
    print()


def _print_counts(title: str, counts: list[NamedCount]) -> None:
    """A list with bars; of a long one, what matters most: the largest, or the last days."""
    if not counts:
        return
    visible_counts = counts[-max_list_rows() :] if title.startswith("day") else counts[: max_list_rows()]
    largest = max(count.events for count in visible_counts)
    bars = ["█" * max(1, _BAR_CHARS * count.events // largest) for count in visible_counts]
    rows = [(count.name, f"{count.events:,}", bar) for count, bar in zip(visible_counts, bars, strict=True)]
    columns = (Column(title, shape="line", min_chars=20), Column("events", right=True), Column("", shape="line"))
    print_table(columns, rows)
    hidden_count = len(counts) - len(visible_counts)
    print(f"and {hidden_count} more (--json lists all)\n" if hidden_count else "")


def _print_hooks(totals: Stats) -> None:
    rows = []
    for hook in totals.hooks or ():
        times = (f"{ms:,.1f}" for ms in (hook.p50_ms, hook.p95_ms, hook.mean_ms))
        counts = (f"{count:,}" for count in (hook.failures, hook.refusals, hook.tokens))
        rows.append((hook.hook, f"{hook.runs:,}", *times, *counts))
    columns = (
        Column("runs", right=True),
        Column("half within (ms)", right=True),
        Column("95 % within (ms)", right=True),
        Column("mean (ms)", worth=1, right=True),
        Column("failed", right=True),
        Column("refused", right=True),
        Column("tokens added", worth=2, right=True),
    )
    print_table((Column("hook", shape="line", min_chars=16), *columns), rows)
    print_words(_HOOK_TIMES_NOTE)
    print()
