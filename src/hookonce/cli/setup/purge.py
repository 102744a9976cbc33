"""hookonce purge: uninstall everywhere and delete our data."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookonce import agents
from hookonce.agents import config_of
from hookonce.base import paths, runtime_dir
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.configure.agent_trust import plan_review
from hookonce.configure.changes import FileChange, render_diff
from hookonce.configure.install import plan_removal
from hookonce.configure.locations import current_roots
from hookonce.configure.restore import delete_data, leftover_files
from hookonce.daemon.control import end_daemon
from hookonce.errors import HookonceError


def configure(parser: ArgumentParser) -> None:
    """The options of `purge`."""
    parser.epilog = "examples:\n  hookonce purge --dry-run\n  hookonce purge"
    add_flag(parser, "--json", "tell it as JSON")
    add_flag(parser, "--dry-run", "show what would go, and change nothing")


def run(options: Namespace) -> int:
    """Uninstall everywhere and delete our data, copies of your files included."""
    changes, problems = _plan_removals()
    plan_text = f"{render_diff(changes)}delete {paths.data_dir()} and everything in it\n"
    if options.dry_run:
        code = config_changes.report_changes(options, "given back", changes, problems)
        if not options.json:
            print(f"{paths.data_dir()} would be deleted")
        return code
    require_consent("purge", plan_text)
    applied_changes, failures = config_changes.apply_changes(changes, is_removal=True)
    hint = "run hookonce uninstall --scope project there first"
    failures += [("", f"{path} still names us: {hint}") for path in leftover_files()]
    deleted_files = [] if failures or problems else _delete_everything()
    code = config_changes.report_changes(options, "given back", applied_changes, problems + failures)
    if not options.json:
        print(f"{paths.data_dir()} was deleted" if deleted_files else f"{paths.data_dir()} was kept")
    return code


def _delete_everything() -> list[Path]:
    """Without the daemon, which would write what it still has to say into a new record."""
    end_daemon()
    deleted_files = delete_data()
    runtime_dir.remove_runtime_dirs()
    return deleted_files


def _plan_removals() -> tuple[list[FileChange], list[tuple[str, str]]]:
    locations, client = current_roots(), str(paths.client_path())
    changes: dict[str, FileChange] = {}
    problems: list[tuple[str, str]] = []
    for agent in map(agents.load, agents.AGENTS):
        for scope in config_of(agent).files if agent.config else ():
            try:
                removals = plan_removal(agent, scope, locations, client, unwrap=True)
                marks = [
                    plan_review(agent, change.path, change.old, locations, client, present=False) for change in removals
                ]
                changes |= {str(change.path): change for change in (*removals, *marks) if change is not None}
            except HookonceError as problem:
                problems.append((agent.name, str(problem)))
    return list(changes.values()), problems
