"""File stamps of manifests, policies and settings, to notice cheaply that the hooks may have changed."""

from functools import lru_cache
from os.path import lexists
from pathlib import Path
from time import time_ns

from hookonce.base import paths, settings
from hookonce.dispatch.fast_path import lookup
from hookonce.manifest.discover import MANIFEST_NAMES, OPENHOOK_FILE, PROJECT_FOLDER

Stamps = list[tuple[int, ...] | None]
_SETTINGS, _POLICY = "config.toml", "policy.json"
_FOLDER_STAMP_FIELDS = 2  # numbers by which a folder is known whose content does not count
_SETTLE_NS = 100_000_000  # nanoseconds within which a file may change once more without that being seen
_COARSE_SETTLE_NS = 2_000_000_000  # and that on disks which count seconds


def manifest_stamps(project: Path | None, shared_stamps: Stamps | None = None) -> Stamps:
    """The stamps of all these files and folders; equal stamps mean that nothing has changed.

    The last of those that all projects share is that of the trust pins: which projects have hooks that must be asked.
    Who has just looked at those that all projects share (`manifest_stamps(None)`) hands them in.
    """
    if shared_stamps is None:
        folders, pins_file = _shared_files(paths.home(), settings.SYSTEM)
        shared_stamps = _stamp_folders(folders)
        shared_stamps.append(lookup.stamp_file(pins_file))
    return shared_stamps if project is None else shared_stamps + _stamp_folders(_project_files(project))


def _stamp_folders(folders: list[tuple[str, list[str]]]) -> Stamps:
    file_stamps: Stamps = []
    missing_folder = "\0"
    for folder, names in folders:
        if folder.startswith(missing_folder):  # nothing lies in a folder that is not there
            file_stamps.append(None)
            continue
        folder_stamp = lookup.stamp_file(folder, is_expected=folder in _existing_cache)
        file_stamps.append(folder_stamp)
        if folder_stamp is None:
            missing_folder = f"{folder}/"
        else:
            for name in _existing_files(folder, names, folder_stamp):
                file_stamps.append(lookup.stamp_file(name, is_expected=True))
    return file_stamps


def _existing_files(folder: str, names: list[str], folder_stamp: tuple[int, ...]) -> list[str]:
    """Those of the names that are there; looked up anew when something has been put into the folder or taken away."""
    cache_entry = _existing_cache.get(folder)
    if cache_entry is not None and cache_entry[0] == folder_stamp:
        return cache_entry[1]
    existing = [name for name in names if lexists(name)]
    if is_settled([folder_stamp], _COARSE_SETTLE_NS):
        if len(_existing_cache) > _MAX_CACHE_FOLDERS:
            _existing_cache.clear()
        _existing_cache[folder] = (folder_stamp, existing)
    return existing


_existing_cache: dict[str, tuple[tuple[int, ...], list[str]]] = {}
_MAX_CACHE_FOLDERS = 1024  # folders


@lru_cache(maxsize=8)
def _shared_files(_home: Path, system: Path) -> tuple[list[tuple[str, list[str]]], str]:
    return candidate_files(paths.config_dir(), system), str(paths.pins_path())


@lru_cache(maxsize=8)
def candidate_files(user: Path, system: Path) -> list[tuple[str, list[str]]]:
    """The folders above a project, and the names in them, whether or not they are there."""
    names = (*MANIFEST_NAMES, _POLICY, _SETTINGS)
    return [(str(folder), [str(folder / name) for name in names]) for folder in (user, system, system / "org")]


@lru_cache(maxsize=256)
def _project_files(project: Path) -> list[tuple[str, list[str]]]:
    folder = project / PROJECT_FOLDER
    names = [str(folder / name) for name in (*MANIFEST_NAMES, _POLICY)]
    return [(str(folder), names), (str(project), [str(project / OPENHOOK_FILE)])]


def load_settings(shared_stamps: Stamps) -> settings.Settings:
    """The settings, read again when one of the files that all projects share has changed."""
    if _settings_cache and _settings_cache[0][0] == shared_stamps:
        return _settings_cache[0][1]
    current = settings.load()
    if current.read_error is None and is_settled(shared_stamps, _COARSE_SETTLE_NS):
        _settings_cache[:] = [(shared_stamps, current)]
    return current


_settings_cache: list[tuple[Stamps, settings.Settings]] = []  # at most one


def is_settled(file_stamps: Stamps, settle_ns: int | None = None) -> bool:
    """Whether the files are old enough for the next change to be seen."""
    newest = max(
        (max(stamp[:2]) for stamp in file_stamps if stamp is not None and len(stamp) > _FOLDER_STAMP_FIELDS), default=0
    )
    return time_ns() - newest > (_SETTLE_NS if settle_ns is None else settle_ns)
