"""Where hookonce keeps its own files. The same places on every system, so that hooks find them."""

import os
from functools import cache, lru_cache
from pathlib import Path


def home() -> Path:
    """The user's home: of the password database, unless HOME names another directory that is ours."""
    return _home(os.environ.get("HOME", ""), os.getuid())


@lru_cache(maxsize=8)
def _home(named: str, user: int) -> Path:
    return Path(named if _is_ours(named, user) else _registered(user))


def _is_ours(named: str, user: int) -> bool:
    """Whether a directory may be a home; a repository is none, or whoever wrote it would speak for the user."""
    try:
        ours = os.path.isabs(named) and os.stat(named).st_uid == user  # noqa: PTH116, PTH117  asked at every call
    except (OSError, ValueError):
        return False
    return ours and (named == _registered(user) or not _in_a_repository(named))


@cache
def _in_a_repository(named: str) -> bool:
    return any(os.path.lexists(folder / ".git") for folder in (Path(named), *Path(named).parents))


@cache
def _registered(user: int) -> str:
    from pwd import getpwuid

    try:
        return getpwuid(user).pw_dir
    except KeyError:  # a container may run us as somebody who is not in the list
        return "/"


@lru_cache(maxsize=64)
def _under(place: Path, *names: str) -> Path:
    """Asked so often in one call that building it anew would be felt."""
    return place.joinpath(*names)


def data() -> Path:
    """Our data directory; XDG_DATA_HOME is ignored, because a repository could set it."""
    return _under(home(), ".local", "share", "hookonce")


def configuration() -> Path:
    """Our own configuration, and the user's manifest."""
    return _under(home(), ".config", "hookonce")


def backups() -> Path:
    """Where copies of files that belong to others are kept."""
    return data() / "backups"


def client() -> Path:
    """The command that stands in agents' configurations: one path that never changes."""
    return _under(data(), "bin", "hookonce-on")


def log() -> Path:
    """The log in which an internal error leaves its trace."""
    return data() / "hookonce.log"


def paused() -> Path:
    """Until when nobody is asked."""
    return _under(data(), "paused-until")
