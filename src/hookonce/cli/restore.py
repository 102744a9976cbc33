"""hookonce restore: restore a backup of an agent's configuration."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli.consent import require_consent, consent_help
from hookonce.errors import UsageError
from hookonce.journeys.change import FileChange, render_diff
from hookonce.journeys.places import ConfigRoots, current_roots
from hookonce.journeys.restore import list_copies, plan_restore
from hookonce.model import Agent
from hookonce.texts import dump


def configure(parser: ArgumentParser) -> None:
    """The options of `restore`."""
    parser.epilog = (
        consent_help("restore, but for --list and --dry-run,")
        + "\n\nexamples:\n  hookonce restore claude-code --dry-run\n  hookonce restore claude-code"
    )
    _machine.add_change_options(parser)
    parser.add_argument("--list", action="store_true", help="show the copies that there are")
    parser.add_argument("--back", type=int, default=1, metavar="N", help="the Nth newest copy; default: 1")


def run(options: Namespace) -> int:
    """Put back the newest copy of an agent's configuration, as it was before our last change."""

    def plan_agent(agent: Agent, locations: ConfigRoots) -> list[FileChange]:
        return plan_restore(agent, options.scope, locations, options.back)

    if options.back < 1:
        raise UsageError("--back counts from 1, the newest copy")
    if options.list:
        return _list_copies(options)
    changes, problems = _machine.plan_changes(options, plan_agent)
    if options.dry_run or not changes:
        return _machine.report_changes(options, "restored", changes, problems)
    require_consent("restore", render_diff(changes))
    applied_changes, failures = _machine.apply_changes(changes, is_removal=True)
    return _machine.report_changes(options, "restored", applied_changes, problems + failures)


def _list_copies(options: Namespace) -> int:
    locations = current_roots()
    copies = [agent_copy for agent in _machine.select_agents(options, locations) for agent_copy in list_copies(agent, options.scope, locations)]
    if options.json:
        rows = [{"back": number, "path": str(path), "copy": str(copy)} for number, path, copy in copies]
        sys.stdout.buffer.write(dump(rows) + b"\n")
        return 0
    for number, path, copy in copies:
        print(f"--back {number}: {path} as of {copy.name} ({copy.stat().st_size} bytes)")
    return 0
