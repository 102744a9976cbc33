"""Record filters: options of every command that queries the store, and the message for an empty result."""

from argparse import ArgumentParser, Namespace
from sqlite3 import Connection
from typing import Any

from hookonce.cli._ui.arguments import parse_count, parse_time, resolve_time
from hookonce.cli._ui.messages import warn
from hookonce.inspect import query_args
from hookonce.store.local_days import load_local_filter
from hookonce.store.query import NO_VALUE, RecordFilter, escape_glob, resolve_session
from hookonce.store.rollup import RollupFilter
from hookonce.store.spool import files
from hookonce.store.status import find_write_obstacle, load_store_summary


def no_records_message(otherwise: str) -> str:
    """Say that nothing is recorded yet, or why nothing can be; `otherwise` where records exist."""
    record_summary = load_store_summary()
    if record_summary.records or record_summary.waiting or record_summary.problem:
        return otherwise
    if (problem := find_write_obstacle()) is not None:
        return f"nothing is recorded: {problem}"
    if files.lost_record_count():
        return "nothing is recorded, although agents have called hookonce. Next: hookonce doctor"
    return "nothing is recorded yet. Next: hookonce install; when it is installed, hookonce status"


_TIME: dict[str, Any] = {"metavar": "TIME", "type": parse_time}
_FILTER_OPTIONS: dict[str, dict[str, Any]] = {
    "agent": {"metavar": "NAME", "help": "only events of this agent"},
    "session": {"metavar": "ID", "help": "only this session; the beginning of its id is enough"},
    "type": {"metavar": "EVENT", "help": "only this canonical event, such as before_tool_execute; * matches anything"},
    "tool": {"metavar": "NAME", "help": "only this canonical tool, such as shell or mcp:github/*"},
    "decision": {"choices": ("allow", "ask", "deny", NO_VALUE), "help": "only events with this decision"},
    "project": {"metavar": "GLOB", "help": "only folders that match this pattern"},
    "path": {"metavar": "GLOB", "help": "only files that match this pattern, such as 'src/*.py'"},
    "text": {"metavar": "TEXT", "help": "only events that contain exactly this text"},
    "since": _TIME | {"help": "from 2026-02-23 or 2026-02-23T10:15:30 here, 2026-02-23T10:15:30Z, or 10m, 2h, 3d ago"},
    "until": _TIME | {"help": "only before this time"},
    "last": {"metavar": "N", "type": parse_count, "help": "only the newest N; default: 50 on a terminal, else all"},
}
FILTER_NAMES = frozenset(_FILTER_OPTIONS)
TERMINAL_ROWS = 50


def add_filter_options(parser: ArgumentParser, *names: str) -> None:
    """Add the filter options of these names, or all of them."""
    for name in names or _FILTER_OPTIONS:
        parser.add_argument(f"--{name}", **_FILTER_OPTIONS[name])


def build_query(options: Namespace, connection: Connection, last: int | None, *, follow: bool = False) -> RecordFilter:
    """Build the store query of the options; with `follow` what they name may not exist yet."""
    values: dict[str, Any] = vars(options)
    agent_name, session = query_args.agent_filter(values.get("agent"), connection), values.get("session")
    if session is not None:
        session = f"{escape_glob(session)}*" if follow else resolve_session(connection, session, agent_name)
    same_values: Any = {name: values.get(name) for name in ("project", "path", "text")}
    same_values |= {name: resolve_time(values.get(name), utc=options.utc) for name in ("since", "until")}
    return RecordFilter(
        agent=agent_name,
        session=session,
        type=query_args.event_filter(values.get("type")),
        outcome=values.get("decision"),
        tool=query_args.tool_filter(values.get("tool"), connection, live=follow),
        last=last if options.last is None else options.last,
        **same_values,
    )


def empty_message(options: Namespace, noun: str) -> str:
    """Message for an empty result: no match, or nothing recorded at all."""
    message = f"there is no such {noun}"
    has_filter = any(vars(options).get(name) is not None for name in FILTER_NAMES)
    return message if has_filter else no_records_message(message)


def build_span(options: Namespace, connection: Connection) -> RollupFilter:
    """Build the time span and agent of a summary: local days, or those of UTC."""
    agent = query_args.agent_filter(options.agent, connection)
    since, until = (resolve_time(time, utc=options.utc) for time in (options.since, options.until))
    if options.utc:
        return RollupFilter(since=since, until=until, agent=agent)
    span = load_local_filter(connection, since, until, agent)
    if not span.is_local:
        warn("the days of this machine do not begin at a quarter of an hour of UTC; days of UTC are shown instead")
    return span


def days_note(utc_days: list[str]) -> str:
    """The note for days that an older version has counted; empty if there are none."""
    if not utc_days:
        return ""
    span = utc_days[0] if len(utc_days) == 1 else f"{len(utc_days)} days from {utc_days[0]} to {utc_days[-1]}"
    return (
        f"{span}: counted by an older version, and therefore by days of UTC. "
        "Next: hookonce stats --rebuild counts again what is still recorded of them"
    )
