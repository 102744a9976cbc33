"""The last version of a manifest that could be used: while somebody is editing it, its hooks go on as they were.

A project's are not kept: what runs there is what somebody has agreed to, as it is now.
"""

from hashlib import sha256
from pathlib import Path

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.manifest.contents import read_regular_file
from hookonce.manifest.discover import ManifestSource
from hookonce.manifest.load import load_manifest
from hookonce.model import Manifest

_MAX_COPY_BYTES = 1 << 20  # bytes, as of a manifest


def last_good_path(source: ManifestSource) -> Path:
    """The path of the last good copy of a manifest."""
    return paths.data_dir() / "good" / sha256(bytes(source.path)).hexdigest()[:32]


def load_last_good(source: ManifestSource) -> Manifest | None:
    """The last good version of a manifest; None for a project's, or if there is none."""
    if source.scope == "project" or source.problem is not None:
        return None
    try:
        return load_manifest(read_regular_file(last_good_path(source), _MAX_COPY_BYTES))
    except (OSError, HookonceError):
        return None


def is_last_good(source: ManifestSource) -> bool:
    """Whether the last good copy is what the file says now."""
    try:
        return read_regular_file(last_good_path(source), _MAX_COPY_BYTES) == source.data
    except OSError:
        return False
