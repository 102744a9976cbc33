"""hookonce doctor: diagnosis and repair of hook installations."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce import agents
from hookonce.base import paths
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import confirm, require_consent
from hookonce.cli._ui.messages import pluralize, print_lines, print_result, warn
from hookonce.cli._ui.tables import print_words
from hookonce.client.installation import install_client
from hookonce.configure.changes import FileChange, render_diff
from hookonce.configure.locations import current_roots
from hookonce.configure.status import read_agent_hooks
from hookonce.diagnose.agent_check import check_agent
from hookonce.diagnose.diagnosis import NOTE_KINDS, Diagnosis
from hookonce.diagnose.doctor import run_checks
from hookonce.diagnose.self_check import calling_agents, check_installation
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.trust.consent import hook_digest, vouch

_EXAMPLES = """examples:
  hookonce doctor
  hookonce doctor --repair
  hookonce doctor --vouch 3f1c0a9b2d4e5f60"""
_MAX_REPAIRS = 50  # in one go: each is planned anew, so none can go round in circles for ever
_NOT_INSTALLED = "hookonce is not installed for any agent, so no hook runs. Next: hookonce install"
_OWN_FILE_KINDS = frozenset({"client", "interpreter", "unanswered"})  # what we put back without asking: our own files


def configure(parser: ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.epilog = _EXAMPLES
    config_changes.add_change_options(parser, has_changes=False)
    add_flag(parser, "--repair", "repair what can be repaired; every change is shown first")
    add_flag(parser, "--dry-run", "with --repair: show the changes, without making them")
    vouch_help = "mark foreign hooks as known to you, by the marks that doctor shows, until they change"
    parser.add_argument("--vouch", nargs="+", metavar="MARK", default=[], help=vouch_help)


def run(options: Namespace) -> int:
    """Explain what keeps hooks from running, and list hooks that nobody vouches for."""
    if options.vouch:
        _run_vouch(options)
        return 0
    if options.repair:
        _run_repair(options)
    findings = _collect_findings(options)
    problems = [finding for finding in findings if finding.kind not in NOTE_KINDS]
    is_installed = bool(calling_agents(current_roots(), str(paths.client_path())))
    objects = [_finding_object(finding) for finding in findings]
    document = {"ok": not problems, "installed": is_installed, "findings": objects}
    print_result(options, document, lambda _: _print_findings(findings, is_installed=is_installed))
    return 1 if problems else 0


def _run_vouch(options: Namespace) -> None:
    locations, client = current_roots(), str(paths.client_path())
    named_agents = config_changes.select_agents(options, locations)
    hooks = {
        hook_digest(agent, hook): (agent, hook)
        for agent in named_agents
        for _, _, hook in read_agent_hooks(agent, locations).hooks
    }
    messages = {
        finding.mark: finding.message
        for agent in named_agents
        for finding in check_agent(agent, locations, client)
        if finding.mark in hooks
    }
    if unknown_marks := [mark for mark in options.vouch if mark not in messages]:
        raise HookonceError(f"no hook has the mark {unknown_marks[0]}; hookonce doctor lists them")
    require_consent("doctor --vouch", "\n".join(messages[mark] for mark in options.vouch))
    files = vouch(hooks[mark] for mark in options.vouch)
    print(
        f"{pluralize(len(options.vouch), 'hook')} marked as known, until {' or '.join(('the entry', *files))} changes"
    )


def _print_findings(findings: list[Diagnosis], *, is_installed: bool) -> None:
    for finding in findings:
        ending = f" (hookonce doctor --vouch {finding.mark})" if finding.mark else ""
        print_words(f"{finding.kind}: {finding.message}{ending}")
    if any(finding.repair or finding.kind in _OWN_FILE_KINDS for finding in findings):
        print("Next: hookonce doctor --repair")
    if all(finding.kind in {"sandbox", "shell_form", "wrapped"} for finding in findings):
        print("nothing is wrong" if is_installed else _NOT_INSTALLED)


def _finding_object(finding: Diagnosis) -> dict[str, object]:
    facts = {name: getattr(finding, name) for name in ("agent", "kind", "message", "path", "mark")}
    return facts | {"repairable": finding.repair is not None or finding.kind in _OWN_FILE_KINDS}


def _collect_findings(options: Namespace) -> list[Diagnosis]:
    """Of the agents that were named, else of all: a stranger's hooks wait for agents that are not here yet."""
    return list(run_checks(map(find_agent, options.names or agents.AGENTS)))


def _run_repair(options: Namespace) -> None:
    applied_changes: list[FileChange] = []
    failures: list[tuple[str, str]] = []
    for _ in range(_MAX_REPAIRS):
        repairs = [finding.repair for finding in _collect_findings(options) if finding.repair is not None]
        if options.dry_run:
            applied_changes = repairs
            break
        change = next((repair for repair in repairs if repair not in applied_changes), None)
        if change is None:
            break
        if sys.stdin.isatty() and not options.json:
            print_lines(render_diff([change]))
        if not confirm("Make this change?"):
            break
        install_client(warn)
        new_changes, problems = config_changes.apply_changes([change])
        applied_changes, failures = applied_changes + new_changes, failures + problems
        if problems:
            break
    if not options.dry_run and any(finding.kind in _OWN_FILE_KINDS for finding in check_installation()):
        install_client(warn)
    if not options.json:
        config_changes.report_changes(options, "repaired", applied_changes, failures)
