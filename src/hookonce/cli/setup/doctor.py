"""hookonce doctor: diagnosis and repair of hook installations."""

import os
import sys
from argparse import ArgumentParser, Namespace

from hookonce import agents
from hookonce.base import paths
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.consent import confirm, consent_help, require_consent
from hookonce.cli._ui.messages import pluralize, print_json, warn
from hookonce.client.daemon_endpoints import describe_orphan
from hookonce.client.installation import install_client as place_client
from hookonce.configure.changes import FileChange, render_diff
from hookonce.configure.locations import ConfigRoots, current_roots
from hookonce.configure.status import install_status
from hookonce.daemon import control as service
from hookonce.diagnose.agent_check import Diagnosis, check_agent
from hookonce.diagnose.checks.agent_silence import describe_silence as told_silence
from hookonce.diagnose.checks.agent_silence import detect_silence
from hookonce.diagnose.self_check import calling_agents, check_callers, check_installation, check_manifests
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.model import Agent
from hookonce.store import database, status
from hookonce.store.maintenance.quarantine import find_damage
from hookonce.store.status import load_store_summary
from hookonce.trust.consent import vouch

_EXAMPLES = """examples:
  hookonce doctor
  hookonce doctor --repair
  hookonce doctor --vouch 3f1c0a9b2d4e5f60"""


_DOCTOR_HINT = ". Next: hookonce doctor"  # what others say of us
_SPOOL_NOTE = "agents are answered, and what they tell waits in the spool"
_OWN_FILE_KINDS = frozenset({"client", "interpreter", "unanswered"})  # what we put back without asking: our own files


def configure(parser: ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.epilog = _EXAMPLES
    config_changes.add_change_options(parser, has_changes=False)
    parser.add_argument("--repair", action="store_true", help="mend what can be mended, after showing it")
    parser.add_argument("--dry-run", action="store_true", help="with --repair: show it only")
    parser.add_argument(
        "--vouch",
        nargs="+",
        metavar="MARK",
        default=[],
        help=f"vouch for hooks by the marks that are shown. {consent_help('--vouch')}",
    )


def run(options: Namespace) -> int:
    """Explain what keeps hooks from running, and list hooks that nobody vouches for."""
    if options.vouch:
        return _run_vouch(options)
    if options.repair:
        _run_repair(options)
    findings = _collect_findings(options)
    problems = [finding for finding in findings if finding.kind != "unvouched"]
    if options.json:
        print_json({"ok": not problems, "findings": [_finding_object(finding) for finding in findings]})
    else:
        _print_findings(findings)
    return 1 if problems else 0


def _run_vouch(options: Namespace) -> int:
    locations, client = current_roots(), str(paths.client_path())
    marked_findings = [
        finding
        for agent in config_changes.select_agents(options, locations)
        for finding in check_agent(agent, locations, client)
        if finding.mark
    ]
    messages = {finding.mark: finding.message for finding in marked_findings}
    unknown_marks = [mark for mark in options.vouch if mark not in messages]
    if unknown_marks:
        raise HookonceError(f"no hook has the mark {unknown_marks[0]}; hookonce doctor lists them")
    require_consent("doctor --vouch", "\n".join(messages[mark] for mark in options.vouch))
    vouch(options.vouch)
    print(f"{pluralize(len(options.vouch), 'hook')} vouched for, until the entry or its script changes")
    return 0


def _print_findings(findings: list[Diagnosis]) -> None:
    for finding in findings:
        ending = f" (hookonce doctor --vouch {finding.mark})" if finding.mark else ""
        print(f"{finding.kind}: {finding.message}{ending}")
    if any(finding.repair or finding.kind in _OWN_FILE_KINDS for finding in findings):
        print("Next: hookonce doctor --repair")
    if not findings:
        print("nothing is wrong")


def _finding_object(finding: Diagnosis) -> dict[str, object]:
    facts = {name: getattr(finding, name) for name in ("agent", "kind", "message", "path", "mark")}
    return facts | {"repairable": finding.repair is not None or finding.kind in _OWN_FILE_KINDS}


def _orphan_findings() -> list[Diagnosis]:
    orphan_message = describe_orphan()
    return [] if orphan_message is None else [Diagnosis(agent=None, kind="daemon", message=orphan_message)]


def _record_findings() -> list[Diagnosis]:
    record_summary, damage_text = load_store_summary(), find_damage()
    messages = (
        []
        if damage_text
        else [record_summary.problem.removesuffix(_DOCTOR_HINT)]
        if record_summary.problem
        else status.find_record_troubles()
    )
    if damage_text is not None:
        messages.append(
            f"{database.database_file()} is damaged ({damage_text}); {_SPOOL_NOTE}. Next: hookonce audit set-aside"
        )
    elif (store_problem := ((service.query_status() or {}).get("store") or {}).get("problem")) is not None:
        messages.append(
            f"the daemon cannot write {database.database_file()} ({store_problem}); {_SPOOL_NOTE}, and it tries again"
        )
    if (write_problem := status.find_write_obstacle()) is not None:
        messages.append(f"{write_problem}: agents are answered, and what they tell is lost")
    if record_summary.damaged:
        messages.append(f"{pluralize(record_summary.damaged, 'file')} of the spool cannot be read and was put aside")
    if record_summary.lost:
        messages.append(
            f"{pluralize(record_summary.lost, 'record')} could not be written, and hookonce logs may say why"
        )
    return [Diagnosis(agent=None, kind="record", message=message) for message in messages]


def _silence_findings(agent: Agent, locations: ConfigRoots, client: str) -> list[Diagnosis]:
    silent_agent = detect_silence(agent, install_status(agent, locations, client), locations, os.environ)
    if silent_agent is None:
        return []
    return [
        Diagnosis(
            agent=agent.name,
            kind="silent",
            message=f"{agent.title}: {told_silence(silent_agent)}",
            path=silent_agent.path,
        )
    ]


def _collect_findings(options: Namespace) -> list[Diagnosis]:
    """Of the agents that were named, else of all: a stranger's hooks wait for agents that are not here yet."""
    locations, client = current_roots(), str(paths.client_path())
    agent_callers = calling_agents(locations, client)
    findings = [
        *check_installation(),
        *_orphan_findings(),
        *_record_findings(),
        *check_callers(locations, agent_callers),
        *check_manifests(locations.project, agent_callers),
    ]
    for agent in map(find_agent, options.names or agents.AGENTS):
        findings += [*check_agent(agent, locations, client), *_silence_findings(agent, locations, client)]
    return findings


def _run_repair(options: Namespace) -> None:
    applied_changes: list[FileChange] = []
    failures: list[tuple[str, str]] = []
    for _ in range(_MAX_REPAIRS):
        findings = _collect_findings(options)
        change = next(
            (
                finding.repair
                for finding in findings
                if finding.repair is not None and finding.repair not in applied_changes
            ),
            None,
        )
        if change is None or options.dry_run:
            applied_changes += (
                [finding.repair for finding in findings if finding.repair is not None] if options.dry_run else []
            )
            break
        if sys.stdin.isatty() and not options.json:
            sys.stdout.write(render_diff([change]))
        if not confirm("Mend this?"):
            break
        place_client(warn)
        new_changes, problems = config_changes.apply_changes([change])
        applied_changes, failures = applied_changes + new_changes, failures + problems
        if problems:
            break
    if not options.dry_run and any(finding.kind in _OWN_FILE_KINDS for finding in check_installation()):
        place_client(warn)
    if not options.json:
        config_changes.report_changes(options, "mended", applied_changes, failures)


_MAX_REPAIRS = 50  # repairs in one go: each is planned anew, so none can go round in circles for ever
