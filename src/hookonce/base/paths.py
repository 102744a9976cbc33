"""Paths of hookonce's own files. The same on every system, so that hooks find them."""

import os
from functools import cache, lru_cache
from pathlib import Path


def home() -> Path:
    """The user's home: of the password database, unless HOME names another directory that is ours."""
    return _home(os.environ.get("HOME", ""), os.getuid())


@lru_cache(maxsize=8)
def _home(path: str, user: int) -> Path:
    return Path(path if _is_own_home(path, user) else _home_of_user(user))


def _is_own_home(path: str, user: int) -> bool:
    """Whether a directory may be a home; a repository is none, or whoever wrote it would speak for the user."""
    try:
        is_own = os.path.isabs(path) and os.stat(path).st_uid == user  # noqa: PTH116, PTH117  asked at every call
    except (OSError, ValueError):
        return False
    return is_own and (path == _home_of_user(user) or not _is_in_repository(path))


@cache
def _is_in_repository(path: str) -> bool:
    return any(os.path.lexists(folder / ".git") for folder in (Path(path), *Path(path).parents))


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
