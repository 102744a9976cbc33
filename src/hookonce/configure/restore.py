"""Restore of an agent's files from our backups, and deletion of all our data (`hookonce purge`)."""

import shutil
from pathlib import Path

from hookonce.base import paths
from hookonce.base.files import list_backups, read_file, read_if_readable, read_regular_file
from hookonce.base.runtime_location import CLIENT_SUBDIR
from hookonce.configure import journal
from hookonce.configure.changes import FileChange
from hookonce.configure.locations import ConfigRoots, config_files, target_file
from hookonce.errors import HookonceError
from hookonce.model import Agent

_KEYS_FOLDER = "keys"  # what signs the record goes last, so that a purge that was cut short can still be audited


def plan_restore(agent: Agent, scope: str, roots: ConfigRoots, back: int = 1) -> list[FileChange]:
    """Plan the return to the newest backup of each of an agent's files, or to an older one, where it differs."""
    changes = []
    for path in _restorable_files(agent, scope, roots):
        copies = list_backups(path, paths.backups_dir())
        if len(copies) < back:
            continue
        old, new = read_file(path), read_regular_file(copies[-back])
        if old != new:
            changes.append(FileChange(path=path, old=old, new=new, agent=agent.name, scope=scope))
    if not changes:
        raise HookonceError(f"there is no backup of {agent.title}'s {scope} configuration that differs from it")
    return changes


def list_copies(agent: Agent, scope: str, roots: ConfigRoots) -> list[tuple[int, Path, Path]]:
    """Every backup of an agent's files, newest first: how far back it lies, the file, and the copy."""
    files, folder = _restorable_files(agent, scope, roots), paths.backups_dir()
    return [
        (number, path, copy) for path in files for number, copy in enumerate(reversed(list_backups(path, folder)), 1)
    ]


def _restorable_files(agent: Agent, scope: str, roots: ConfigRoots) -> list[Path]:
    files = [path for file_scope, path in config_files(agent, roots) if file_scope == scope]
    target = target_file(agent, scope, roots)
    if target is not None and not target.is_dir() and target not in files:
        files.append(target)
    return files


def delete_data() -> list[Path]:
    """Delete our data, keys last; the paths that were deleted."""
    folder = paths.data_dir()
    if not folder.is_dir():
        return []
    removed_paths = []
    for item in sorted(folder.iterdir(), key=lambda item: (item.name == _KEYS_FOLDER, item.name)):
        shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
        removed_paths.append(item)
    folder.rmdir()
    return removed_paths


def leftover_files() -> list[Path]:
    """Files that we changed and that still name our client: an uninstall of the project they belong to is due."""
    folder = f"/{CLIENT_SUBDIR}".encode()  # a launcher has it without the home
    return [path for path in journal.changed_files() if folder in (read_if_readable(path) or b"")]
