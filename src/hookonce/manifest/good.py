"""The last version of a manifest that could be used: while somebody is editing it, its hooks go on as they were.

A project's are not kept: what runs there is what somebody has agreed to, as it is now.
"""

from hashlib import sha256
from pathlib import Path

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.manifest.contents import contents
from hookonce.manifest.discover import Source
from hookonce.manifest.load import load
from hookonce.model import Manifest

_MOST = 1 << 20  # bytes, as of a manifest


def file(source: Source) -> Path:
    """Where it is kept."""
    return paths.data() / "good" / sha256(bytes(source.path)).hexdigest()[:32]


def last(source: Source) -> Manifest | None:
    """What the file said when it could last be used; nothing for a project's, or if that is not known."""
    if source.scope == "project" or source.problem is not None:
        return None
    try:
        return load(contents(file(source), _MOST))
    except (OSError, HookonceError):
        return None


def is_known(source: Source) -> bool:
    """Whether what is kept is what the file says."""
    try:
        return contents(file(source), _MOST) == source.data
    except OSError:
        return False
