"""Where losses are counted while our own folder takes nothing: the runtime directory, which lies elsewhere."""

from pathlib import Path

from hookonce.runtime.folder import folder
from hookonce.store import spool


def place() -> Path:
    """A file without content, as long as the count."""
    return folder() / "lost"


spool.elsewhere = place  # the store knows of no runtime directory
