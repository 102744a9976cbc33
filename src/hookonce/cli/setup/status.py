"""hookonce status: installation state of agents, daemon, store and alarms."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import to_builtins

from hookonce import __version__
from hookonce.agents import config_of, load
from hookonce.base import paths
from hookonce.base.jsontext import dump
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.messages import pluralize, warn
from hookonce.cli._ui.tables import new_table, print_table
from hookonce.cli.daemon import daemon
from hookonce.client.missed_calls import describe_missed_calls as told_unanswered
from hookonce.client.missed_calls import read_missed_calls
from hookonce.configure.agent_trust import distrust_reason
from hookonce.configure.locations import ConfigRoots, current_roots
from hookonce.configure.status import InstallStatus
from hookonce.configure.status import install_status as standing
from hookonce.configure.version_probe import program_version
from hookonce.daemon import control
from hookonce.diagnose.agent_check import BlockedScope, Diagnosis, find_blocked_scopes
from hookonce.diagnose.agent_check import scope_states as states
from hookonce.diagnose.checks.agent_silence import AgentSilence, detect_silence
from hookonce.diagnose.checks.agent_silence import describe_silence as told_silence
from hookonce.diagnose.self_check import calling_agents, check_manifests, check_settings
from hookonce.dispatch.pause import pause_end as paused_until
from hookonce.inspect.store_access import ingest_spool
from hookonce.store.spool.files import lost_record_count
from hookonce.store.status import (
    LOOP_EVENT,
    VIOLATION_EVENT,
    Alarms,
    StoreSummary,
    find_write_obstacle,
    load_alarms,
    load_store_summary,
)

_BYTES_PER_MB = 1 << 20


def configure(parser: ArgumentParser) -> None:
    """The options of `status`."""
    parser.epilog = "examples:\n  hookonce status\n  hookonce status codex --json"
    config_changes.add_change_options(parser, has_changes=False)


def run(options: Namespace) -> int:
    """Show which agents call hookonce, what else they run, and where a killed hook lets things pass."""
    locations, client = current_roots(), paths.client_path()
    selected_agents = config_changes.select_agents(options, locations)
    statuses = [standing(agent, locations, str(client)) for agent in selected_agents]
    distrust_reasons = {
        agent.name: reason for agent in selected_agents if (reason := distrust_reason(agent, locations)) is not None
    }
    silences = {
        install_status.agent: agent_silence
        for agent, install_status in zip(selected_agents, statuses, strict=True)
        if (agent_silence := detect_silence(agent, install_status, locations, os.environ)) is not None
    }
    hindrances = {
        install_status.agent: find_blocked_scopes(agent, install_status, locations, str(client))
        for agent, install_status in zip(selected_agents, statuses, strict=True)
    }
    with ThreadPoolExecutor() as pool:
        versions = list(
            pool.map(
                lambda install_status: program_version(install_status.program) if install_status.program else None,
                statuses,
            )
        )
    if options.json:
        _print_json(statuses, versions, distrust_reasons, silences, hindrances)
        return 0
    if (pause_end := paused_until()) is not None:
        print(f"paused until {pause_end}: no hook is asked before that; hookonce resume ends it")
    output = new_table("agent", "version", "user", "project", "other hooks", "hook crashes", "hook is late")
    for install_status, version in zip(statuses, versions, strict=True):
        scope_states = states(install_status, hindrances[install_status.agent])
        shown_states = (scope_states.get("user", "-"), scope_states.get("project", "-"))
        output.add_row(
            install_status.agent,
            version or "-",
            *shown_states,
            str(len(install_status.foreign)),
            install_status.crash,
            install_status.late,
        )
    print_table(output)
    for install_status in statuses:
        _print_details(install_status, hindrances[install_status.agent], silences.get(install_status.agent))
    for finding in [*check_settings(), *_hook_findings(locations)]:
        print(f"{finding.kind}: {finding.message}")
    ingest_spool(warn)
    daemon_status = control.query_status()
    if (unanswered_calls := read_missed_calls()) is not None:
        print(f"{told_unanswered(unanswered_calls)}. Next: hookonce doctor")
    print(daemon.format_status(daemon_status))
    _print_record_state(load_store_summary(), ((daemon_status or {}).get("store") or {}).get("problem"))
    _print_alarms(load_alarms())
    print("open: the action goes on as if there were no hook; closed: it is refused")
    return 0


def _print_record_state(record_summary: StoreSummary, store_problem: str | None) -> None:
    waiting_note = (
        f", {pluralize(record_summary.waiting, 'file')} of the spool to be taken up" if record_summary.waiting else ""
    )
    print(
        record_summary.problem
        or f"the record: {pluralize(record_summary.records, 'event')}, {record_summary.size / _BYTES_PER_MB:.1f} MB{waiting_note}"
    )
    if store_problem is not None and find_write_obstacle() is None:
        print(
            f"the record cannot be written ({store_problem}); what agents tell waits in the spool. Next: hookonce doctor"
        )
    if (write_problem := find_write_obstacle()) is not None:
        print(f"{write_problem}: agents are answered, and what they tell is lost")
    if record_summary.damaged:
        print(f"{pluralize(record_summary.damaged, 'file')} of the spool cannot be read and was put aside")
    if record_summary.lost:
        print(f"{pluralize(record_summary.lost, 'record')} could not be written. Next: hookonce doctor")


def _print_alarms(recent_alarms: Alarms) -> None:
    last = recent_alarms.newest
    if last is None:
        return
    parts = [pluralize(recent_alarms.violations, "policy violation")] if recent_alarms.violations else []
    parts += [f"{recent_alarms.suspected} of them suspected"] if recent_alarms.suspected else []
    parts += [pluralize(recent_alarms.loops, "retry loop")] if recent_alarms.loops else []
    print(f"ALARM: {', '.join(parts)} in the last 24 hours, the last one of {last.agent} at {last.time}")
    for kind in (VIOLATION_EVENT,) * bool(recent_alarms.violations) + (LOOP_EVENT,) * bool(recent_alarms.loops):
        print(f"  hookonce events --type {kind} --since 24h")


def _print_details(
    install_status: InstallStatus, hindrances: list[BlockedScope], agent_silence: AgentSilence | None
) -> None:
    if agent_silence is not None:
        print(
            f"{install_status.agent}: {told_silence(agent_silence)}, and hookonce doctor {install_status.agent} says what keeps them from running"
        )
    for scope in install_status.scopes:
        if scope.missing:
            print(
                f"{install_status.agent}, {scope.scope}: no entry for {', '.join(scope.missing)}; hookonce install adds them"
            )
        if scope.problem:
            print(f"{install_status.agent}, {scope.scope}: {scope.problem}")
    for loan in install_status.borrowed:
        print(f"{install_status.agent} also fires {loan.hooks} hooks of {loan.agent}, from {loan.path}")
    for why in dict.fromkeys(why for part in hindrances for why in part.why):
        print(f"{install_status.agent}: {why}")
    if (
        install_status.trust
        and not hindrances
        and not _is_reviewed(install_status)
        and any(scope.state != "absent" for scope in install_status.scopes)
    ):
        print(f"{install_status.agent}: {install_status.trust}")


def _is_reviewed(install_status: InstallStatus) -> bool:
    """Whether the agent's user has said all that it asks for: nothing is left to do where only their own hooks are."""
    has_review = config_of(load(install_status.agent)).review is not None
    return has_review and all(scope.state == "absent" for scope in install_status.scopes if scope.scope == "project")


def _hook_findings(locations: ConfigRoots) -> Iterator[Diagnosis]:
    return check_manifests(locations.project, calling_agents(locations, str(paths.client_path())))


def _finding_object(finding: Diagnosis) -> dict[str, str | None]:
    return {"kind": finding.kind, "message": finding.message, "path": finding.path}


def _print_json(
    statuses: list[InstallStatus],
    versions: list[str | None],
    distrust_reasons: dict[str, str],
    silences: dict[str, AgentSilence],
    hindrances: dict[str, list[BlockedScope]],
) -> None:
    client = paths.client_path()
    agent_objects: list[Any] = [
        to_builtins(install_status)
        | {"version": version, "no_hooks_because": distrust_reasons.get(install_status.agent)}
        | {
            "silent": to_builtins(silences.get(install_status.agent)),
            "hindered": to_builtins(hindrances[install_status.agent]),
        }
        for install_status, version in zip(statuses, versions, strict=True)
    ]
    document: dict[str, Any] = {
        "hookonce": __version__,
        "client": {"path": str(client), "there": client.exists()},
        "agents": agent_objects,
    }
    ingest_spool(warn)
    document["paused_until"] = paused_until()
    document["unanswered"] = to_builtins(read_missed_calls())
    document["lost_records"] = lost_record_count()
    document["record"] = to_builtins(load_store_summary())
    document["alarms"] = to_builtins(load_alarms())
    document["daemon"] = control.query_status()
    document["settings"] = [_finding_object(install_status) for install_status in check_settings()]
    document["manifests"] = [_finding_object(install_status) for install_status in _hook_findings(current_roots())]
    sys.stdout.buffer.write(dump(document) + b"\n")
