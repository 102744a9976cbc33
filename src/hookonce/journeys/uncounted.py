"""Where losses are counted while our own folder takes nothing: the runtime directory, which lies elsewhere."""

from pathlib import Path

from hookonce.runtime.folder import find_runtime_dir
from hookonce.store import spool


def loss_count_file() -> Path:
    """File in the runtime directory whose length counts lost records while the data directory is not writable."""
    return find_runtime_dir() / "lost"


spool.fallback_loss_file = loss_count_file  # the store knows of no runtime directory
