"""The files that decide which hooks there are, and how it is noticed that one of them has changed."""

from functools import lru_cache
from os.path import lexists
from pathlib import Path
from time import time_ns

from hookonce import light
from hookonce.config import paths, settings
from hookonce.manifest.discover import FOLDER, NAMES, OPENHOOK

Stamps = list[tuple[int, ...] | None]
_SETTINGS, _POLICY = "config.toml", "policy.json"
_BRIEF = 2  # numbers by which a folder is known whose content does not count
_FRESH = 100_000_000  # nanoseconds within which a file may change once more without that being seen


def stamps(project: Path | None) -> Stamps:
    """How all of them are known again."""
    found: Stamps = []
    for folder, names in files(project, paths.configuration(), settings.SYSTEM):
        known = light.stamp(folder)
        found.append(known)
        if known is not None:
            found += [light.stamp(name) for name in _there(folder, names, known)]
    return found


def _there(folder: str, names: list[str], known: tuple[int, ...]) -> list[str]:
    """Those of the names that are there; looked up anew when something has been put into the folder or taken away."""
    before = _found.get(folder)
    if before is not None and before[0] == known:
        return before[1]
    there = [name for name in names if lexists(name)]
    if is_settled([known]):
        if len(_found) > _MOST:
            _found.clear()
        _found[folder] = (known, there)
    return there


_found: dict[str, tuple[tuple[int, ...], list[str]]] = {}
_MOST = 1024  # folders


@lru_cache(maxsize=256)
def files(project: Path | None, user: Path, system: Path) -> list[tuple[str, list[str]]]:
    """The folders and the names in them, whether or not they are there."""
    names = (*NAMES, _POLICY, _SETTINGS)
    found: list[tuple[Path, tuple[str, ...]]] = [(folder, names) for folder in (user, system, system / "org")]
    if project is not None:
        found += [(project / FOLDER, (*NAMES, _POLICY)), (project, (OPENHOOK,))]
    return [(str(folder), [str(folder / name) for name in names]) for folder, names in found]


def is_settled(known: Stamps) -> bool:
    """Whether the files are old enough for the next change to be seen."""
    newest = max((max(stamp[:2]) for stamp in known if stamp is not None and len(stamp) > _BRIEF), default=0)
    return time_ns() - newest > _FRESH
