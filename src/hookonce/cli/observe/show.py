"""hookonce show: timeline of one session."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator

from hookonce import formats
from hookonce.base import settings
from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag, format_duration, format_time
from hookonce.cli._ui.messages import pluralize, print_json, print_result, warn, warn_of_unwritten
from hookonce.cli._ui.tables import StreamingTable
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect import query_args
from hookonce.inspect.sessions import Timeline, TimelineStep, build_timeline, describe_step, elapsed_seconds
from hookonce.inspect.store_access import open_store
from hookonce.inspect.summary import describe_usage
from hookonce.inspect.turn_documents import TURN_FORMATS, write_turns
from hookonce.inspect.turns import PriceLookup, Turn, build_turns, load_session
from hookonce.model import Digest, Stored
from hookonce.sessions.attribution import public_user
from hookonce.sessions.derive.summary import SessionCall
from hookonce.sessions.derive.token_usage import token_count
from hookonce.store.privacy.addresses import mask_addresses
from hookonce.store.privacy.redact import LEVELS, Level, redact
from hookonce.store.query import RecordFilter, find_records, resolve_session, session_agent

_EXAMPLES = """A turn begins with a prompt and ends before the next one; turn 0 is what came before the first. It ended
by a response, a stop that was refused, a refused prompt, an interruption, the session's end or abort, or the next
prompt; unfinished if nothing of that is known. A cost with + lacks models without a price.

examples:
  hookonce show 01a1dde4
  hookonce show 01a1dde4 --json
  hookonce show 01a1dde4 --turns
  hookonce show 01a1dde4 --turns --format otel --sign
  hookonce show 01a1dde4 --agent codex"""
_DATE_CHARS = 11  # characters of a time, before those that change within a day
_MS_PER_S = 1000
_MICROS = 1_000_000


def configure(parser: ArgumentParser) -> None:
    """The options of `show`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("session", metavar="SESSION", help="the beginning of its name is enough")
    filters.add_filter_options(parser, "agent")
    add_flag(parser, "--turns", "prompt by prompt: what each came to, and how it ended")
    parser.add_argument("--format", choices=TURN_FORMATS, help="with --turns: each turn as a trace, or with its events")
    parser.add_argument("--privacy", choices=LEVELS, help="with --format; default: minimal")
    add_flag(parser, "--sign", "with --format: sign each trace or event with the key of this machine")
    add_flag(parser, "--json", "one JSON object; with --turns one for each turn")


def run(options: Namespace) -> None:
    """Tell a session from its beginning: prompts, calls and what became of them, refusals, files."""
    if not options.turns and (options.format or options.privacy or options.sign):
        raise UsageError(
            "--format, --privacy and --sign go with --turns; hookonce events --session SESSION --format tells events"
        )
    if options.privacy and not options.format:
        raise UsageError("--privacy goes with --format: what is kept is shown as it is kept")
    if options.sign and not options.format:
        raise UsageError("--sign goes with --format, such as --format agent-hooks")
    with open_store(warn) as connection:
        agent = query_args.agent_filter(options.agent, connection)
        name = resolve_session(connection, options.session, agent)
        query = RecordFilter(agent=agent or session_agent(connection, name), session=name)
        if options.format:
            _write_turns(load_session(connection, query.agent, name), options)
            return
        if options.turns:
            records, sources, find_price = load_session(connection, query.agent, name)
            turns = build_turns(map(mask_addresses, records) if options.json else records, sources, find_price)
            _print_turns(turns, name, is_json=options.json)
            return
        records = find_records(connection, query)
        timeline = build_timeline(map(mask_addresses, records) if options.json else records)
    if not timeline.steps:
        raise HookonceError(f"nothing of the session {name} is kept any more")
    print_result(options, timeline, _print_timeline)


def _write_turns(session: tuple[Iterator[Stored], frozenset[str], PriceLookup], options: Namespace) -> None:
    records, sources, find_price = session
    unwritten_types = Counter[str]()
    level: Level = options.privacy or "minimal"
    configured_id = settings.load().user
    redacted_records = (
        redact(record, level, native=False, user=public_user(record.event.user, configured_id)) for record in records
    )
    for document in write_turns(
        redacted_records, sources, find_price, options.format, unwritten_types, signs=options.sign
    ):
        print_json(document)
    warn_of_unwritten(unwritten_types, formats.load(options.format).title)


def _print_turns(turns: Iterable[Turn], name: str, *, is_json: bool) -> None:
    lines = StreamingTable("turn", "time (UTC)", "took", "calls", "files", "tokens", "cost", "ended by", "prompt")
    is_empty = True
    for turn in turns:
        is_empty = False
        if is_json:
            print_json(turn)
        else:
            lines.add_row(*_turn_cells(turn), is_alarm=bool(turn.refusals))
    lines.flush()
    if is_empty:
        raise HookonceError(f"nothing of the session {name} is kept any more")


def _turn_cells(turn: Turn) -> tuple[str, ...]:
    calls = [f"{turn.failures} failed"] if turn.failures else []
    calls += [f"{turn.refusals} refused"] if turn.refusals else []
    prompt = turn.prompt
    text = f"{prompt.length} characters" if isinstance(prompt, Digest) else prompt or ""
    return (
        str(turn.number),
        format_time(turn.first),
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


def _print_timeline(timeline: Timeline) -> None:
    place = f" in {timeline.project}" if timeline.project else ""
    print(escape_unprintable(f"{timeline.agent} {timeline.session}{place}"))
    print(_summary_line(timeline))
    lines = StreamingTable("time (UTC)", "", "", "what")
    day = ""
    for step in timeline.steps:
        if step.time[:_DATE_CHARS] != day:
            day = step.time[:_DATE_CHARS]
            lines.add_row(format_time(step.time)[: _DATE_CHARS - 1], "", "", "")
        lines.add_row(format_time(step.time)[_DATE_CHARS:], *_step_cells(step), is_alarm=step.decision == "deny")
    lines.flush()
    files = []
    for path, file in timeline.files.items():
        line_counts = f", +{file.added} -{file.removed} lines" if file.added or file.removed else ""
        files.append(f"{path} ({pluralize(file.writes, 'write')}{line_counts})")
    subagents = [
        f"{name}{f' ({child.type})' if child.type else ''}: {pluralize(child.calls, 'call')}"
        for name, child in timeline.subagents.items()
    ]
    for title, rows in (("files", files), ("sub-agents", subagents)):
        if rows:
            print(f"\n{title}:", *(f"  {escape_unprintable(row)}" for row in rows), sep="\n")


def _summary_line(timeline: Timeline) -> str:
    seconds = elapsed_seconds(timeline.first, timeline.last) if timeline.first and timeline.last else None
    parts = [
        f"{format_time(timeline.first or '')} to {format_time(timeline.last or '')} UTC",
        format_duration(seconds),
        pluralize(timeline.turns, "turn"),
        f"{pluralize(timeline.calls, 'call')} ({timeline.failed} failed, {timeline.refused} refused)",
        ", ".join(timeline.models),
        describe_usage(timeline.usage),
        _compaction_text(timeline),
        f"ended: {timeline.ended}" if timeline.ended else "no end is known",
    ]
    return escape_unprintable(" · ".join(part for part in parts if part))


def _compaction_text(timeline: Timeline) -> str:
    limit = timeline.compaction_limit
    return "compacts at an unknown size" if limit is None else f"compacts at {limit:,} tokens"


def _step_cells(step: TimelineStep) -> tuple[str, str, str]:
    """How it went, which tool, and what; sub-agents are set in."""
    indent = "│ " * step.depth
    reason = f" · because {step.reason}" if step.reason else ""
    if step.tool is None or step.call is None:
        text = f"{describe_step(step)}: {step.what}" if step.what else describe_step(step)
        return _outcome_mark(step), "", f"{indent}{text}{reason}"
    return _outcome_mark(step), step.tool, f"{indent}{step.what}{reason}{_end_text(step.call)}"


def _outcome_mark(step: TimelineStep) -> str:
    if step.decision in {"deny", "ask"}:
        return "no" if step.decision == "deny" else "ask"
    if step.call is None:
        return ""
    return {True: "ok", False: "fail", None: "?"}[step.call.ok]


def _end_text(call: SessionCall) -> str:
    if call.end is None:
        return ""
    ran_text = " · ran all the same" if call.refused else ""
    duration_text = f" · {format_duration(call.duration_ms / _MS_PER_S)}" if call.duration_ms is not None else ""
    return ran_text + duration_text + (" (paired by guess)" if call.guessed else "")
