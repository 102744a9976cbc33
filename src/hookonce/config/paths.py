"""Where hookonce keeps its own files. The same places on every system, so that hooks find them."""

from os import environ
from pathlib import Path


def home() -> Path:
    """The user's home: of the password database, unless HOME names another directory that is ours."""
    from os import getuid
    from pwd import getpwuid

    known = Path(getpwuid(getuid()).pw_dir)
    named = Path(environ.get("HOME", known))
    try:
        return named if named != known and named.stat().st_uid == getuid() else known
    except OSError:
        return known


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
