"""Where hookonce keeps its own files. The same places on every system, so that hooks find them."""

import os
from functools import cache
from pathlib import Path


def home() -> Path:
    """The user's home: of the password database, unless HOME names another directory that is ours."""
    named, user = os.environ.get("HOME", ""), os.getuid()
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


def data() -> Path:
    """Our data directory; XDG_DATA_HOME is ignored, because a repository could set it."""
    return home() / ".local" / "share" / "hookonce"


def configuration() -> Path:
    """Our own configuration, and the user's manifest."""
    return home() / ".config" / "hookonce"


def backups() -> Path:
    """Where copies of files that belong to others are kept."""
    return data() / "backups"


def client() -> Path:
    """The command that stands in agents' configurations: one path that never changes."""
    return data() / "bin" / "hookonce-on"


def log() -> Path:
    """The log in which an internal error leaves its trace."""
    return data() / "hookonce.log"
