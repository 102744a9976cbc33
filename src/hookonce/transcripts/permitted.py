"""Which files are read as session files: somebody may name any path. Nothing that is said there is kept, and yet."""

import os
import stat
from pathlib import Path

from hookonce.errors import HookonceError

# A folder that all session files of an agent lie in, wherever its home may be.
_FOLDERS = {"claude-code": "projects", "codex": "sessions", "gemini-cli": "chats"}
_ENDINGS = frozenset({".jsonl", ".json"})
_LONGEST = 4096


def permitted(agent: str, named: str, home: Path) -> Path:
    """The real file behind a name: the user's own, no device or pipe, and where that agent keeps its sessions.

    An OSError if it is not there, a HookonceError if it is none that is read.
    """
    if not named.startswith(os.sep) or "\0" in named or len(named) > _LONGEST:
        raise HookonceError(f"no session file of {agent}: its path says nothing")
    path = Path(os.path.realpath(named))
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        raise HookonceError(f"no session file of {agent}: {path} is not a file of this user")
    is_home = path.is_relative_to(os.path.realpath(home)) or _FOLDERS.get(agent) in path.parts
    if not is_home or path.suffix not in _ENDINGS:
        raise HookonceError(f"no session file of {agent}: {path} does not lie where it keeps them")
    return path
