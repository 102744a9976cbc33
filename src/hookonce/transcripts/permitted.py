"""Follower of session files: resolves a path that is safe to read, reads what was appended since a cursor.

Anybody may name a path as a session file, so only the user's own files in an agent's session folders are
read. A file that was replaced (device, inode or the bytes before the cursor differ) is read from its start.
"""

import os
import stat
from pathlib import Path

from hookonce.errors import HookonceError

# A folder that all session files of an agent lie in, wherever its home may be.
_SESSION_FOLDERS = {"claude-code": "projects", "codex": "sessions", "gemini-cli": "chats"}
_SESSION_SUFFIXES = frozenset({".jsonl", ".json"})
_MAX_PATH_CHARS = 4096


def resolve_session_file(agent: str, path_text: str, home: Path) -> Path:
    """Resolve a session file: a regular file of this user, where the agent keeps its sessions.

    Raises OSError if it does not exist, HookonceError if it must not be read.
    """
    if not path_text.startswith(os.sep) or "\0" in path_text or len(path_text) > _MAX_PATH_CHARS:
        raise HookonceError(f"no session file of {agent}: its path says nothing")
    path = Path(os.path.realpath(path_text))
    file_stat = path.stat()
    if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_uid != os.getuid():
        raise HookonceError(f"no session file of {agent}: {path} is not a file of this user")
    is_session_path = path.is_relative_to(os.path.realpath(home)) or _SESSION_FOLDERS.get(agent) in path.parts
    if not is_session_path or path.suffix not in _SESSION_SUFFIXES:
        raise HookonceError(f"no session file of {agent}: {path} does not lie where it keeps them")
    return path
