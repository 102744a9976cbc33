"""hookonce show: timeline of one session."""

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from sqlite3 import Connection

from hookonce import formats
from hookonce.base import settings
from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag, format_duration
from hookonce.cli._ui.layout import Column, shorten_path
from hookonce.cli._ui.local_time import DayClock, add_utc_option, format_time, zone_name
from hookonce.cli._ui.messages import pluralize, print_json, print_result, warn, warn_of_unwritten
from hookonce.cli._ui.tables import ALARM, StreamingTable, print_words, terminal_width
from hookonce.cli.observe.event_table import format_folded
from hookonce.dispatch.derived_hooks import HOOK_RUNS_EVENT
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect import query_args
from hookonce.inspect.sessions import Timeline, TimelineStep, build_timeline, describe_step, elapsed_seconds
from hookonce.inspect.store_access import open_store
from hookonce.inspect.summary import describe_usage, is_minor
from hookonce.inspect.turn_documents import TURN_FORMATS, write_turns
from hookonce.inspect.turns import PriceLookup, Turn, build_turns, load_session
from hookonce.model import Digest, Stored
from hookonce.sessions.attribution import public_user
from hookonce.sessions.derive.summary import SessionCall
from hookonce.sessions.derive.token_usage import token_count
from hookonce.store.privacy.addresses import mask_addresses
from hookonce.store.privacy.redact import LEVELS, Level, redact
from hookonce.store.query import RecordFilter, find_records, newest_session, resolve_session, session_agent

_EXAMPLES = """A turn begins with a prompt and ends before the next one; turn 0 is what came before the first.
"ended by" is a response, a refused stop, a refused prompt, an interruption, the end or abort of the session, or the
next prompt; unfinished if the end is not known. A cost with + leaves out models without a price.

The duration of a call is the one that the agent reports, else the time between its first and its last event, without
the time of hooks.

examples:
  hookonce show
  hookonce show 01a1dde4
  hookonce show 01a1dde4 --json
  hookonce show 01a1dde4 --turns
  hookonce show 01a1dde4 --turns --format otel --sign
  hookonce show 01a1dde4 --agent codex"""
_MS_PER_S = 1000
_MICROS = 1_000_000
_INDENT_CHARS, _MIN_PATH_CHARS = 2, 16


def configure(parser: ArgumentParser) -> None:
    """The options of `show`."""
    parser.epilog = _EXAMPLES
    session_help = "the id of a session; its beginning is enough; default: the newest session"
    parser.add_argument("session", metavar="SESSION", nargs="?", help=session_help)
    filters.add_filter_options(parser, "agent")
    add_flag(parser, "--turns", "one row for each turn: its calls, files, tokens, cost and end")
    parser.add_argument(
        "--format", choices=TURN_FORMATS, help="with --turns: print each turn in this format, as a trace or as events"
    )
    parser.add_argument("--privacy", choices=LEVELS, help="with --format: privacy level; default: minimal")
    add_flag(parser, "--sign", "with --format: sign each trace or event with this machine's key")
    add_utc_option(parser)
    add_flag(parser, "--all", "show every event, also those without details")
    add_flag(parser, "--json", "print JSON; with --turns one object per turn")


def run(options: Namespace) -> None:
    """Tell a session from its beginning: prompts, calls and what became of them, refusals, files."""
    if not options.turns and (options.format or options.privacy or options.sign):
        raise UsageError(
            "--format, --privacy and --sign need --turns; hookonce events --session SESSION --format prints events"
        )
    if options.privacy and not options.format:
        raise UsageError("--privacy needs --format; without it, records are shown as they are stored")
    if options.sign and not options.format:
        raise UsageError("--sign needs --format, such as --format agent-hooks")
    with open_store(warn) as connection:
        agent = query_args.agent_filter(options.agent, connection)
        agent, name = _find_session(connection, options.session, agent)
        query = RecordFilter(agent=agent, session=name)
        if options.format:
            _write_turns(load_session(connection, query.agent, name), options)
            return
        if options.turns:
            records, sources, find_price = load_session(connection, query.agent, name)
            turns = build_turns(map(mask_addresses, records) if options.json else records, sources, find_price)
            _print_turns(turns, name, options)
            return
        records = find_records(connection, query)
        timeline = build_timeline(map(mask_addresses, records) if options.json else records)
    if not timeline.steps:
        raise HookonceError(f"the events of session {name} were removed from the record")
    print_result(options, timeline, partial(_print_timeline, utc=options.utc, shows_all=options.all))


def _find_session(connection: Connection, session: str | None, agent: str | None) -> tuple[str | None, str]:
    """Agent and name of the session that was asked for, else of the newest."""
    if session is not None:
        name = resolve_session(connection, session, agent)
        return agent or session_agent(connection, name), name
    newest = newest_session(connection, agent)
    if newest is None:
        raise HookonceError(filters.no_records_message("no session is recorded yet"))
    return newest


def _write_turns(session: tuple[Iterator[Stored], frozenset[str], PriceLookup], options: Namespace) -> None:
    records, sources, find_price = session
    unwritten_types = Counter[str]()
    level: Level = options.privacy or "minimal"
    configured_id = settings.load().user
    output_records = (
        redact(record, level, native=False, user=public_user(record.event.user, configured_id)) for record in records
    )
    for document in write_turns(
        output_records, sources, find_price, options.format, unwritten_types, signs=options.sign
    ):
        print_json(document)
    warn_of_unwritten(unwritten_types, formats.load(options.format).title)


def _print_turns(turns: Iterable[Turn], name: str, options: Namespace) -> None:
    lines = StreamingTable(
        Column("turn", right=True),
        Column(f"time ({zone_name(utc=options.utc)})", worth=3),
        Column("took", min_chars=10),
        Column("calls", min_chars=9),
        Column("files", worth=1, right=True),
        Column("tokens", worth=2, right=True),
        Column("cost", right=True),
        Column("ended by"),
        Column("prompt", min_chars=20, max_lines=3),
    )
    is_empty, clock, is_terminal = True, DayClock(utc=options.utc), sys.stdout.isatty()
    for turn in turns:
        is_empty = False
        if options.json:
            print_json(turn)
            continue
        day, time = clock.split_time(turn.first)
        if is_terminal and day is not None:
            lines.add_line(day)
        shown_time = time if is_terminal else format_time(turn.first, utc=options.utc)
        lines.add_row(*_turn_cells(turn, shown_time), style=ALARM if turn.refusals else "")
    lines.flush()
    if is_empty:
        raise HookonceError(f"the events of session {name} were removed from the record")


def _turn_cells(turn: Turn, time: str) -> tuple[str, ...]:
    counts = {"failed": turn.failures, "refused": turn.refusals, "asked": turn.asks}
    calls = [f"{count} {word}" for word, count in counts.items() if count]
    prompt = turn.prompt
    text = f"{prompt.length} characters" if isinstance(prompt, Digest) else prompt or ""
    return (
        str(turn.number),
        time,
        format_duration(None if turn.duration_ms is None else turn.duration_ms / _MS_PER_S),
        f"{turn.calls} ({', '.join(calls)})" if calls else str(turn.calls),
        str(len(turn.files)),
        "" if (count := token_count(turn.usage)) is None else f"{count:,}",
        ""
        if turn.cost_micros is None
        else f"${turn.cost_micros / _MICROS:.4f}{'+' if turn.models_without_price else ''}",
        turn.end.replace("_", " "),
        text,
    )


def _print_timeline(timeline: Timeline, *, utc: bool, shows_all: bool) -> None:
    place = f" in {timeline.project}" if timeline.project else ""
    print_words(escape_unprintable(f"{timeline.agent} {timeline.session}{place}"))
    print_words(_summary_line(timeline, utc=utc))
    columns = (Column("result"), Column("tool", worth=1, leads=True), Column("what", min_chars=30, max_lines=4))
    table, clock = StreamingTable(Column(f"time ({zone_name(utc=utc)})"), *columns), DayClock(utc=utc)
    silent: Counter[str] = Counter()
    is_folding = sys.stdout.isatty() and not shows_all
    steps = [step for step in timeline.steps if shows_all or step.type != HOOK_RUNS_EVENT]  # failures have own steps
    for step, next_step in zip(steps, [*steps[1:], None], strict=True):
        day, time = clock.split_time(step.time)
        if day is not None:
            table.add_line(day)
        if is_folding and _is_silent(step) and (silent or (next_step is not None and _is_silent(next_step))):
            silent[step.type] += 1
            if next_step is None or not _is_silent(next_step):
                table.add_line(format_folded(silent))
                silent.clear()
            continue
        table.add_row(time, *_step_cells(step), style=ALARM if step.decision == "deny" else "")
    table.flush()
    files = []
    for path, file in timeline.files.items():
        line_counts = f", +{file.added} -{file.removed} lines" if file.added or file.removed else ""
        note = f" ({pluralize(file.writes, 'write')}{line_counts})"
        room = terminal_width() - len(note) - _INDENT_CHARS if sys.stdout.isatty() else len(path)
        files.append(f"{shorten_path(path, max(room, _MIN_PATH_CHARS))}{note}")
    subagents = [
        f"{name}{f' ({child.type})' if child.type else ''}: {pluralize(child.calls, 'call')}"
        for name, child in timeline.subagents.items()
    ]
    for title, rows in (("files", files), ("sub-agents", subagents)):
        if rows:
            print(f"\n{title}:", *(f"  {escape_unprintable(row)}" for row in rows), sep="\n")


def _is_silent(step: TimelineStep) -> bool:
    """Whether a step tells no more than that an event came."""
    return is_minor(step.type) and not (step.what or step.tool or step.decision)


def _summary_line(timeline: Timeline, *, utc: bool) -> str:
    seconds = elapsed_seconds(timeline.first, timeline.last) if timeline.first and timeline.last else None
    counts = f"{timeline.failed} failed, {timeline.refused} refused, {timeline.asks} asked"
    parts = [
        f"{format_time(timeline.first or '', utc=utc)} to {_end_time(timeline, utc=utc)} {zone_name(utc=utc)}",
        format_duration(seconds),
        pluralize(timeline.turns, "turn"),
        f"{pluralize(timeline.calls, 'call')} ({counts})",
        ", ".join(timeline.models),
        describe_usage(timeline.usage),
        _compaction_text(timeline),
        f"ended: {timeline.ended}" if timeline.ended else "end not known",
    ]
    return escape_unprintable(" · ".join(part for part in parts if part))


def _end_time(timeline: Timeline, *, utc: bool) -> str:
    """When the session ended; without its day, if that is the one on which it began."""
    (first_day, *_), (last_day, *clock) = (
        format_time(time or "", utc=utc).split() or [""] for time in (timeline.first, timeline.last)
    )
    return " ".join(clock if clock and first_day == last_day else [last_day, *clock])


def _compaction_text(timeline: Timeline) -> str:
    limit = timeline.compaction_limit
    return "compaction size not known" if limit is None else f"compacts at {limit:,} tokens"


def _step_cells(step: TimelineStep) -> tuple[str, str, str]:
    """How it went, which tool, and what; sub-agents are set in."""
    indent = "│ " * step.depth
    reason = f" · because {step.reason}" if step.reason else ""
    if step.tool is None or step.call is None:
        text = f"{describe_step(step)}: {step.what}" if step.what and step.hook is None else step.what
        text = text or describe_step(step)
        return _outcome_mark(step), "", f"{indent}{text}{reason}"
    return _outcome_mark(step), step.tool, f"{indent}{step.what}{reason}{_end_text(step.call)}"


def _outcome_mark(step: TimelineStep) -> str:
    if step.decision in {"deny", "ask"}:
        return "refused" if step.decision == "deny" else "asked"
    if step.call is None:
        return ""
    return {True: "ok", False: "failed", None: "?"}[step.call.ok]


def _end_text(call: SessionCall) -> str:
    if call.end is None:
        return ""
    ran_text = " · ran although it was refused" if call.refused else ""
    duration_text = f" · took {format_duration(call.duration_ms / _MS_PER_S)}" if call.duration_ms is not None else ""
    return ran_text + duration_text + (" (start and end matched by guess)" if call.guessed else "")
