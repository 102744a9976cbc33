"""hookonce status: installation state of agents, daemon, store and alarms."""

import os
import sqlite3
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from msgspec import to_builtins

from hookonce import __version__
from hookonce.agents import load
from hookonce.base import paths, settings
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.local_time import add_utc_option, format_time, zone_name
from hookonce.cli._ui.messages import pluralize, print_json, warn
from hookonce.cli._ui.tables import print_table, print_words
from hookonce.cli.daemon import daemon
from hookonce.configure.agent_trust import distrust_reason
from hookonce.configure.locations import ConfigRoots, current_roots
from hookonce.configure.status import InstallStatus, install_status
from hookonce.configure.version_probe import program_version
from hookonce.configure.wrappers import describe_wrapped_hooks
from hookonce.daemon import control
from hookonce.diagnose.agent_check import BlockedScope, find_blocked_scopes, scope_states
from hookonce.diagnose.checks.agent_silence import AgentSilence, describe_silence, detect_silence
from hookonce.diagnose.diagnosis import Diagnosis
from hookonce.diagnose.self_check import calling_agents, check_manifests, check_settings
from hookonce.dispatch.hook_faults.missed_calls import describe_missed_calls, read_missed_calls
from hookonce.dispatch.hook_faults.table import describe_fault
from hookonce.dispatch.pause import pause_end
from hookonce.errors import HookonceError
from hookonce.inspect.store_access import ingest_spool
from hookonce.model import Object
from hookonce.store import status as store_status
from hookonce.store.spool.files import conflict_count, lost_record_count
from hookonce.store.spool.overlay import last_call_time

_BYTES_PER_MB = 1 << 20
_COLUMNS = (
    Column("agent"),
    Column("version", worth=1),
    Column("user"),
    Column("project"),
    Column("other hooks", right=True),
    Column("hookonce killed"),
    Column("hookonce late"),
)


def configure(parser: ArgumentParser) -> None:
    """The options of `status`."""
    parser.epilog = "examples:\n  hookonce status\n  hookonce status codex --json"
    config_changes.add_change_options(parser, has_changes=False)
    add_utc_option(parser)


def run(options: Namespace) -> None:
    """Show which agents call hookonce, what else they run, and where a killed hook lets things pass."""
    locations, client = current_roots(), str(paths.client_path())
    agents = config_changes.select_agents(options, locations)
    statuses = [install_status(agent, locations, client) for agent in agents]
    pairs = list(zip(agents, statuses, strict=True))
    silences = [detect_silence(agent, status, locations, os.environ) for agent, status in pairs]
    hindrances = [find_blocked_scopes(agent, status, locations, client) for agent, status in pairs]
    with ThreadPoolExecutor() as pool:
        versions = list(pool.map(lambda status: program_version(status.program) if status.program else None, statuses))
    if options.json:
        reasons = [distrust_reason(agent, locations) or None for agent in agents]
        keys = ("version", "no_hooks_because", "silent", "hindered")
        rows = zip(statuses, versions, reasons, silences, hindrances, strict=True)
        _print_json([to_builtins(status) | dict(zip(keys, facts, strict=True)) for status, *facts in rows])
        return
    ingest_spool(warn)
    if (end := pause_end()) is not None:
        time = f"{format_time(end, utc=options.utc)} {zone_name(utc=options.utc)}"
        print_words(f"paused until {time}: no hook runs before that; hookonce resume ends the pause")
    cells = []
    for status, version, blocked_scopes in zip(statuses, versions, hindrances, strict=True):
        states = {"user": "-", "project": "-"} | scope_states(status, blocked_scopes)
        foreign_count = str(len(status.foreign))
        row = (
            status.agent,
            version or "-",
            states["user"],
            states["project"],
            foreign_count,
            status.crash,
            status.late,
        )
        cells.append(row)
    print_table(_COLUMNS, cells)
    print("open: the action is done, as if there were no hook; closed: it is refused")
    print("if one of your own hooks fails, its on_failure decides, and not these columns\n")
    _print_activity(store_status.load_activity(), utc=options.utc)
    for status, blocked_scopes, silence in zip(statuses, hindrances, silences, strict=True):
        _print_details(status, blocked_scopes, silence)
    for finding in [*check_settings(), *_hook_findings(locations)]:
        print_words(f"{finding.kind}: {finding.message}")
    daemon_status = control.query_status()
    if (unanswered_calls := read_missed_calls()) is not None:
        print_words(f"{describe_missed_calls(unanswered_calls)}. Next: hookonce doctor")
    print_words(daemon.format_status(daemon_status))
    _print_record_state(store_status.load_store_summary(), ((daemon_status or {}).get("store") or {}).get("problem"))
    _print_alarms(store_status.load_alarms(), utc=options.utc)


def _print_activity(activity: list[store_status.AgentActivity], *, utc: bool) -> None:
    """What happened and what was decided in the last 24 hours."""
    if not activity:
        print("no agent has called hookonce in the last 24 hours")
        return
    numbers = [Column(title, right=True) for title in ("tool calls", "refused", "asked")]
    columns = [Column("last 24 hours"), *numbers, Column(f"last event ({zone_name(utc=utc)})")]
    rows = []
    for row in activity:
        counts = (f"{count:,}" for count in (row.calls, row.refusals, row.asks))
        rows.append((row.agent, *counts, format_time(row.last, utc=utc)))
    print_table(columns, rows)
    print()


def _print_record_state(summary: store_status.StoreSummary, store_problem: str | None) -> None:
    waiting_note = f", {pluralize(summary.waiting, 'file')} not yet in the database" if summary.waiting else ""
    size = f"{pluralize(summary.records, 'event')}, {summary.size / _BYTES_PER_MB:.1f} MB"
    print_words(summary.problem or f"the record: {size}{waiting_note}")
    if not settings.load().record:
        print_words("the setting record is false: no event is recorded, and no event is derived from the record")
    write_problem = store_status.find_write_obstacle()
    if store_problem is not None and write_problem is None and summary.problem is None:
        state = f"the record cannot be written ({store_problem}); new events wait in the spool"
        print_words(f"{state}. Next: hookonce doctor")
    if write_problem is not None:
        print_words(f"{write_problem}: agents are answered, but their events are lost")
    if summary.damaged:
        print_words(f"{pluralize(summary.damaged, 'file')} of the spool cannot be read and was set aside")
    if conflicts := conflict_count():
        print_words(f"{pluralize(conflicts, 'event')} came with the id of another event. Next: hookonce logs")
    if summary.lost:
        print_words(f"{pluralize(summary.lost, 'record')} could not be written. Next: hookonce doctor")


def _print_alarms(alarms: store_status.Alarms, *, utc: bool) -> None:
    last = alarms.newest
    if last is None:
        return
    parts = [pluralize(alarms.violations, "policy violation")] if alarms.violations else []
    parts += [f"{alarms.suspected} of them suspected"] if alarms.suspected else []
    parts += [pluralize(alarms.loops, "retry loop")] if alarms.loops else []
    time = f"{format_time(last.time, utc=utc)} {zone_name(utc=utc)}"
    print_words(f"ALARM: {', '.join(parts)} in the last 24 hours, the last one of {last.agent} at {time}")
    counts = {store_status.VIOLATION_EVENT: alarms.violations, store_status.LOOP_EVENT: alarms.loops}
    for kind in filter(counts.get, counts):
        print(f"  hookonce events --type {kind} --since 24h")


def _print_details(status: InstallStatus, hindrances: list[BlockedScope], silence: AgentSilence | None) -> None:
    if silence is not None:
        hint = f"hookonce doctor {status.agent} shows what is wrong"
        print_words(f"{status.agent}: {describe_silence(silence)}, and {hint}")
    for scope in status.scopes:
        if scope.missing:
            print_words(
                f"{status.agent}, {scope.scope}: no entry for {', '.join(scope.missing)}; hookonce install adds them"
            )
        if scope.problem:
            print_words(f"{status.agent}, {scope.scope}: {scope.problem}")
    for sentence in describe_wrapped_hooks(status.wrappers):
        print_words(f"{status.agent}: {sentence}; hookonce uninstall --all removes the wrapper")
    for label, fault in ((hook.label, fault) for hook in status.wrappers for fault in hook.faults):
        print_words(f"{status.agent}: {label} {describe_fault(fault)}")
    for loan in status.borrowed:
        print_words(f"{status.agent} also runs {loan.hooks} hooks of {loan.agent}, from {loan.path}")
    for why in dict.fromkeys(why for part in hindrances for why in part.why):
        print_words(f"{status.agent}: {why}")
    is_installed = any(scope.state != "absent" for scope in status.scopes)
    if status.trust and is_installed and not hindrances and not _is_reviewed(status) and not _has_called_here(status):
        print_words(f"{status.agent}: {status.trust}")


def _has_called_here(status: InstallStatus) -> bool:
    """Whether the agent has run our hook in this folder: then whatever it asks for was done."""
    with suppress(sqlite3.Error, OSError, HookonceError):
        return last_call_time(status.agent, str(current_roots().project)) is not None
    return False


def _is_reviewed(status: InstallStatus) -> bool:
    """Whether the agent's user has said all that it asks for: nothing is left to do where only their own hooks are."""
    has_review = load(status.agent).config.review is not None
    return has_review and all(scope.state == "absent" for scope in status.scopes if scope.scope == "project")


def _hook_findings(locations: ConfigRoots) -> Iterator[Diagnosis]:
    return check_manifests(locations.project, calling_agents(locations, str(paths.client_path())))


def _finding_object(finding: Diagnosis) -> dict[str, str | None]:
    return {"kind": finding.kind, "message": finding.message, "path": finding.path}


def _print_json(agent_objects: list[Object]) -> None:
    ingest_spool(warn)
    client = paths.client_path()
    document = {
        "hookonce": __version__,
        "client": {"path": str(client), "there": client.exists()},
        "agents": agent_objects,
        "paused_until": pause_end(),
        "unanswered": read_missed_calls(),
        "lost_records": lost_record_count(),
        "conflicts": conflict_count(),
        "record": store_status.load_store_summary(),
        "alarms": store_status.load_alarms(),
        "activity": store_status.load_activity(),
        "daemon": control.query_status(),
        "settings": [_finding_object(finding) for finding in check_settings()],
        "manifests": [_finding_object(finding) for finding in _hook_findings(current_roots())],
    }
    print_json(document)
