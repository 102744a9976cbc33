"""hookonce uninstall: remove our entries from agents' configurations."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli._words import pluralize
from hookonce.cli.consent import require_consent, consent_help
from hookonce.config import paths
from hookonce.journeys import posting
from hookonce.journeys.adopt import find_manifest
from hookonce.journeys.change import FileChange, render_diff
from hookonce.journeys.install import plan_removal
from hookonce.journeys.places import ConfigRoots, current_roots
from hookonce.journeys.review import plan_review_removal
from hookonce.model import Agent


def configure(parser: ArgumentParser) -> None:
    """The options of `uninstall`."""
    parser.epilog = (
        consent_help("uninstall, but for --dry-run,")
        + "\n\nexamples:\n  hookonce uninstall --dry-run\n  hookonce uninstall claude-code"
    )
    _machine.add_change_options(parser)
    parser.add_argument("--all", action="store_true", help="also let scripts run bare that `convert` has wrapped")


def run(options: Namespace) -> int:
    """Take our entries out of agents' configurations; nobody else's are touched."""
    client = str(paths.client_path())

    def plan_agent(agent: Agent, locations: ConfigRoots) -> list[FileChange]:
        changes = plan_removal(agent, options.scope, locations, client, unwrap=options.all)
        review_changes = [plan_review_removal(agent, change, locations, client) for change in changes]
        return changes + [review_change for review_change in review_changes if review_change is not None]

    changes, problems = _machine.plan_changes(options, plan_agent)
    if options.dry_run or not changes:
        return _machine.report_changes(options, "changed", changes, problems)
    if text := _unused_hooks_warning(options, changes):
        print(f"hookonce: WARNING: {text}", file=sys.stderr)
    require_consent("uninstall", render_diff(changes))
    applied_changes, failures = _machine.apply_changes(changes, is_removal=True)
    posting.drop_unused_address()
    return _machine.report_changes(options, "given back", applied_changes, problems + failures)


def _unused_hooks_warning(options: Namespace, changes: list[FileChange]) -> str | None:
    file, count = find_manifest(options.scope, current_roots())
    names = list(dict.fromkeys(change.agent for change in changes if change.agent))
    if not count or not names:
        return None
    return (
        f"{', '.join(names)}: {pluralize(count, 'hook')} of {file} will not be asked any more; "
        f"hookonce convert --from hif --to {names[0]} {file} shows them as {names[0]}'s own"
    )
