"""restore: a file as it was before the last change of ours. purge: no trace of us left."""

import shutil
from pathlib import Path

from hookonce.config import paths
from hookonce.edit.file import backups, read_file
from hookonce.errors import HookonceError
from hookonce.journeys import ledger
from hookonce.journeys.change import Change
from hookonce.journeys.places import Place, sources, written
from hookonce.model import Agent

_KEYS = "keys"  # what signs the record goes last, so that a purge that was cut short can still be audited


def plan_restore(agent: Agent, scope: str, place: Place, back: int = 1) -> list[Change]:
    """The newest copy of each of an agent's files, or an older one, where it says something else than the file now."""
    changes = []
    for path in _files(agent, scope, place):
        copies = backups(path, paths.backups())
        if len(copies) < back:
            continue
        old, new = read_file(path), copies[-back].read_bytes()
        if old != new:
            changes.append(Change(path=path, old=old, new=new, agent=agent.name, scope=scope))
    if not changes:
        raise HookonceError(f"there is no copy of {agent.title}'s {scope} configuration that differs from it")
    return changes


def copies_of(agent: Agent, scope: str, place: Place) -> list[tuple[int, Path, Path]]:
    """Every copy that there is of an agent's files, newest first: how far back it lies, the file, and the copy."""
    found = [(path, backups(path, paths.backups())) for path in _files(agent, scope, place)]
    return [(number, path, copy) for path, copies in found for number, copy in enumerate(reversed(copies), 1)]


def _files(agent: Agent, scope: str, place: Place) -> list[Path]:
    found = [path for where, path in sources(agent, place) if where == scope]
    target = written(agent, scope, place)
    if target is not None and not target.is_dir() and target not in found:
        found.append(target)
    return found


def forget_everything() -> list[Path]:
    """Delete our data, keys last; what was deleted is told."""
    folder = paths.data()
    if not folder.is_dir():
        return []
    gone = []
    for item in sorted(folder.iterdir(), key=lambda item: (item.name == _KEYS, item.name)):
        shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
        gone.append(item)
    folder.rmdir()
    return gone


def leftovers() -> list[Path]:
    """Files that we changed and that still name our client: an uninstall of the project they belong to is due."""
    client = str(paths.client()).encode()
    return [path for path in ledger.known() if path.is_file() and client in path.read_bytes()]
