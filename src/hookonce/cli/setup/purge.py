"""hookonce purge: uninstall everywhere and delete our data."""

import os
import shutil
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from hookonce import agents
from hookonce.base import paths, runtime_dir
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import format_bytes
from hookonce.configure.agent_trust import plan_review
from hookonce.configure.changes import FileChange
from hookonce.configure.install import plan_removal
from hookonce.configure.locations import current_roots
from hookonce.configure.restore import delete_data, leftover_files
from hookonce.configure.wrappers import leftover_wrappers
from hookonce.daemon.control import end_daemon, has_active_calls
from hookonce.errors import HookonceError
from hookonce.lab.fetch.programs import cache_folder
from hookonce.model import Object

_MAX_CALLS_WAIT_S = 20.0  # for calls that are under way
_RETURN_WAIT_S = 0.3  # in which a call that was under way would have written something again


class OwnFolder(NamedTuple):
    """A folder of ours: what it holds, whether it goes, and how many bytes its files have."""

    path: Path
    content: str
    is_deleted: bool
    size: int


def configure(parser: ArgumentParser) -> None:
    """The options of `purge`."""
    parser.epilog = "examples:\n  hookonce purge --dry-run\n  hookonce purge\n  hookonce purge --config"
    add_flag(parser, "--config", "also delete your own hooks and settings")
    add_flag(parser, "--json", "print JSON")
    add_flag(parser, "--dry-run", "show what would be deleted, without deleting anything")
    add_flag(parser, "--diff", "with --dry-run: also show every line that changes")


def run(options: Namespace) -> int:
    """Uninstall everywhere and delete our data, copies of your files included."""
    changes, problems = _plan_removals()
    folders = _list_folders(with_config=options.config)
    left_entries = _find_left_entries({change.path for change in changes})
    if left_entries and not options.dry_run:  # before anything is asked or changed: half a purge is none
        return config_changes.report_changes(options, "given back", [], left_entries)
    problems += left_entries
    if left_entries:
        folders = [folder._replace(is_deleted=False) for folder in folders]
    if options.dry_run:
        code = config_changes.report_changes(options, "given back", changes, problems, _as_json(folders))
        _print_folders(options, folders, "would be deleted")
        return code
    deletions = [f"delete {folder.path} and everything in it\n" for folder in folders if folder.is_deleted]
    warning = config_changes.unused_hooks_warning("user", changes, is_deleted=options.config)
    require_consent("purge", f"{config_changes.describe_changes(changes)}{''.join(deletions)}{warning}")
    end_daemon()  # what it still has to write goes with the rest
    applied_changes, failures = config_changes.apply_changes(changes, is_removal=True)
    failures += _find_left_entries(set())
    if failures or problems:
        folders = [folder._replace(is_deleted=False) for folder in folders]
    else:
        failures = _delete_folders([folder.path for folder in folders if folder.is_deleted])
        folders = [folder._replace(is_deleted=not folder.path.exists()) for folder in folders]
    code = config_changes.report_changes(options, "given back", applied_changes, problems + failures, _as_json(folders))
    _print_folders(options, folders, "was deleted")
    return code


def _find_left_entries(planned_paths: set[Path]) -> list[tuple[str, str]]:
    """Entries of ours in files of other projects, which have to be removed there."""
    hint = "run hookonce uninstall --scope project there first, then hookonce purge"
    return [
        ("", f"{path} still has entries of hookonce, so nothing can be deleted: {hint}")
        for path in leftover_files()
        if path not in planned_paths
    ]


def _list_folders(*, with_config: bool) -> list[OwnFolder]:
    """Our folders that exist; agents that were fetched to a place of the user's own choice stay."""
    cache, config = cache_folder(), paths.config_dir()
    own_cache = cache if "HOOKONCE_AGENTS" in os.environ else cache.parent
    folders = [
        (paths.data_dir(), "the record, keys, and backups of your files", True),
        (own_cache, "agents that hookonce lab has downloaded", own_cache != cache),
        (config, "your own hooks and settings", with_config),
    ]
    return [OwnFolder(*folder, _folder_size(folder[0])) for folder in folders if folder[0].is_dir()]


def _folder_size(folder: Path) -> int:
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # a call that is under way has deleted it
                size += Path(root, name).lstat().st_size
    return size


def _as_json(folders: list[OwnFolder]) -> Object:
    rows = [
        {"path": str(path), "content": content, "deleted": is_deleted, "bytes": size}
        for path, content, is_deleted, size in folders
    ]
    return {"folders": rows}


def _print_folders(options: Namespace, folders: list[OwnFolder], verb: str) -> None:
    for folder in () if options.json else folders:
        fate = verb if folder.is_deleted else "would be kept" if options.dry_run else "was kept"
        print(f"{folder.path} {fate}: {folder.content}, {format_bytes(folder.size)}")
    if any(folder.path == paths.config_dir() and not folder.is_deleted for folder in folders) and not options.json:
        print("hookonce purge --config also deletes your own hooks and settings")


def _delete_folders(folders: list[Path]) -> list[tuple[str, str]]:
    """Delete folders until they stay away: a call that is under way writes again, or begins a daemon.

    No call is ended, for a hook may be about to refuse something; without the client none begins any more.
    """
    deadline = monotonic() + _MAX_CALLS_WAIT_S
    while True:
        with suppress(OSError):
            paths.client_path().unlink()
        is_late = monotonic() > deadline
        if has_active_calls() and not is_late:
            sleep(_RETURN_WAIT_S)
            continue
        end_daemon()
        with suppress(OSError):
            delete_data()
        runtime_dir.remove_runtime_dirs()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        sleep(_RETURN_WAIT_S)
        # A call that was just being started has no command line yet, by which it could have been seen before.
        if is_late or not (any(folder.exists() for folder in folders) or has_active_calls()):
            break
    hint = "stop your agents, then run hookonce purge again"
    failures = [("", f"{folder} is still there: {hint}") for folder in folders if folder.exists()]
    if not failures and has_active_calls():
        failures = [("", f"a call of an agent is under way, and may write something again: {hint}")]
    return failures


def _plan_removals() -> tuple[list[FileChange], list[tuple[str, str]]]:
    locations, client = current_roots(), str(paths.client_path())
    changes: dict[str, FileChange] = {}
    problems: list[tuple[str, str]] = []
    for agent in map(agents.load, agents.AGENTS):
        for scope in agent.config.files:
            try:
                removals = plan_removal(agent, scope, locations, client, unwrap=True)
                marks = [
                    plan_review(agent, change.path, change.old, locations, client, present=False) for change in removals
                ]
                problems += [
                    (agent.name, text) for text in leftover_wrappers(agent, scope, locations, client, removals)
                ]
                changes |= {str(change.path): change for change in (*removals, *marks) if change is not None}
            except HookonceError as problem:
                problems.append((agent.name, str(problem)))
    return list(changes.values()), problems
