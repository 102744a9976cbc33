"""hookonce restore: restore a backup of an agent's configuration."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import print_json
from hookonce.configure.locations import current_roots
from hookonce.configure.restore import list_copies, plan_restore
from hookonce.errors import UsageError


def configure(parser: ArgumentParser) -> None:
    """The options of `restore`."""
    parser.epilog = "examples:\n  hookonce restore claude-code --dry-run\n  hookonce restore claude-code"
    config_changes.add_change_options(parser)
    add_flag(parser, "--list", "list the backups")
    parser.add_argument("--back", type=int, default=1, metavar="N", help="restore the Nth newest backup; default: 1")


def run(options: Namespace) -> int:
    """Put back the newest copy of an agent's configuration, as it was before our last change."""
    if options.back < 1:
        raise UsageError("--back counts from 1, the newest backup")
    if options.list:
        _list_copies(options)
        return 0
    changes, problems = config_changes.plan_changes(
        options, lambda agent, locations: plan_restore(agent, options.scope, locations, options.back)
    )
    if options.dry_run or not changes:
        return config_changes.report_changes(options, "restored", changes, problems)
    require_consent("restore", config_changes.describe_changes(changes))
    applied_changes, failures = config_changes.apply_changes(changes, is_removal=True)
    return config_changes.report_changes(options, "restored", applied_changes, problems + failures)


def _list_copies(options: Namespace) -> None:
    locations = current_roots()
    agents = config_changes.select_agents(options, locations)
    copies = [copy for agent in agents for copy in list_copies(agent, options.scope, locations)]
    if options.json:
        print_json([{"back": number, "path": str(path), "copy": str(copy)} for number, path, copy in copies])
        return
    for number, path, copy in copies:
        print(f"--back {number}: {path} as of {copy.name} ({copy.stat().st_size} bytes)")
