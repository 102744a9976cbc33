"""hookonce uninstall: remove our entries from agents' configurations."""

from argparse import ArgumentParser, Namespace

from hookonce.base import paths
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.configure import http_policy
from hookonce.configure.agent_trust import plan_review
from hookonce.configure.changes import FileChange
from hookonce.configure.install import plan_removal
from hookonce.configure.locations import ConfigRoots
from hookonce.configure.wrappers import leftover_wrappers
from hookonce.model import Agent


def configure(parser: ArgumentParser) -> None:
    """The options of `uninstall`."""
    parser.epilog = "examples:\n  hookonce uninstall --dry-run\n  hookonce uninstall claude-code"
    config_changes.add_change_options(parser, has_diff=True)
    add_flag(parser, "--all", "also remove hookonce's wrapper from hooks that `convert` has written")


def run(options: Namespace) -> int:
    """Take our entries out of agents' configurations; nobody else's are touched."""
    client = str(paths.client_path())
    leftovers: config_changes.ChangeProblems = []

    def plan_agent(agent: Agent, locations: ConfigRoots) -> list[FileChange]:
        changes = plan_removal(agent, options.scope, locations, client, unwrap=options.all)
        if options.all:
            texts = leftover_wrappers(agent, options.scope, locations, client, changes)
            leftovers.extend((agent.name, text) for text in texts)
        review_changes = [
            plan_review(agent, change.path, change.old, locations, client, present=False) for change in changes
        ]
        return changes + [review_change for review_change in review_changes if review_change is not None]

    changes, problems = config_changes.plan_changes(options, plan_agent)
    problems += leftovers
    if options.dry_run or not changes:
        return config_changes.report_changes(options, "changed", changes, problems)
    warning = config_changes.unused_hooks_warning(options.scope, changes)
    require_consent("uninstall", f"{config_changes.describe_changes(changes)}{warning}")
    applied_changes, failures = config_changes.apply_changes(changes, is_removal=True)
    http_policy.drop_unused_address()
    return config_changes.report_changes(options, "given back", applied_changes, problems + failures)
