"""Paths of hookonce's own files. The same on every system, so that hooks find them."""

import os
from functools import cache, lru_cache
from os.path import isdir
from pathlib import Path

from hookonce.base.runtime_location import MAX_PATH_CHARS, home_of_client

_REPOSITORY_FOLDERS = (".git", ".hg", ".jj", ".svn")
_home_of_call: list[Path] = []  # of the process that answers a call; empty in commands that a person types


def home() -> Path:
    """The user's home: for a call that of its client; else of the password database, or another that HOME names."""
    return _home_of_call[0] if _home_of_call else _home(os.environ.get("HOME", ""), os.getuid())


def use_client_home(client_dir: str) -> None:
    """Use the home in which the client of a call lies, else the account's: HOME is what the caller says."""
    uid = os.getuid()
    _home_of_call[:] = [Path(home_of_client(client_dir, uid) or _home_of_user(uid))]


@lru_cache(maxsize=8)
def _home(path: str, user: int) -> Path:
    return Path(path if _is_own_home(path, user) else _home_of_user(user))


def _is_own_home(path: str, user: int) -> bool:
    """Whether a directory may be a home; a repository is none, or whoever wrote it would speak for the user."""
    try:
        is_own = os.path.isabs(path) and os.stat(path).st_uid == user  # noqa: PTH116, PTH117  asked at every call
    except (OSError, ValueError):
        return False
    return is_own and (path == _home_of_user(user) or not (_is_in_repository(path) or path.startswith("/proc/")))


@cache
def _is_in_repository(path: str) -> bool:
    real_path = Path(os.path.realpath(path))
    folders = (real_path, *real_path.parents)
    return any(os.path.lexists(folder / name) for folder in folders for name in _REPOSITORY_FOLDERS)


@cache
def _home_of_user(user: int) -> str:
    from pwd import getpwuid

    try:
        return getpwuid(user).pw_dir
    except KeyError:  # a container may run us as somebody who is not in the list
        return "/"


@lru_cache(maxsize=64)
def _subpath(folder: Path, *names: str) -> Path:
    """Asked so often in one call that building it anew would be felt."""
    return folder.joinpath(*names)


def data_dir() -> Path:
    """Our data directory; XDG_DATA_HOME is ignored, because a repository could set it."""
    return _subpath(home(), ".local", "share", "hookonce")


def config_dir() -> Path:
    """Our own configuration, and the user's manifest."""
    return _subpath(home(), ".config", "hookonce")


def backups_dir() -> Path:
    """Where copies of files that belong to others are kept."""
    return data_dir() / "backups"


def client_path() -> Path:
    """The command that stands in agents' configurations: one path that never changes."""
    return _subpath(data_dir(), "bin", "hookonce-on")


def log_path() -> Path:
    """The log in which an internal error leaves its trace."""
    return data_dir() / "hookonce.log"


def pause_path() -> Path:
    """The file that says until when hooks are paused."""
    return _subpath(data_dir(), "paused-until")


def pins_path() -> Path:
    """The file of all trust pins."""
    return _subpath(data_dir(), "trust.json")


def make_private_dir(path: Path) -> None:
    """Make a folder of ours, and each missing one above it, for us alone: whatever the umask is."""
    for folder in reversed([folder for folder in (path, *path.parents) if not folder.is_dir()]):
        folder.mkdir(mode=0o700, exist_ok=True)


def nearest_folder(cwd: str) -> str:
    """The folder that somebody names, or the first above it that can be entered."""
    name = cwd[:MAX_PATH_CHARS].partition("\0")[0].encode(errors="replace").decode()
    folders = (Path(name), *Path(name).parents) if name.startswith(os.sep) else ()
    return next((str(folder) for folder in folders if isdir(folder) and os.access(folder, os.X_OK)), os.sep)  # noqa: PTH112
