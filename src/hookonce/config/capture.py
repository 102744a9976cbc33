"""Who wants everything captured as Agent Hooks has it: a variable that names a file, or a file of rules."""

import os
from functools import lru_cache
from pathlib import Path

from hookonce.config import paths, settings

VARIABLE = "AGENT_HOOKS_LOG"
FILE = "agent-hooks.json"


def is_ruled() -> bool:
    """Whether there may be rules; asked with every record, so without looking into anything."""
    return any(map(_is_there, (paths.configuration(), settings.SYSTEM)))


def _is_there(folder: Path) -> bool:
    return os.access(_name(folder), os.F_OK)


@lru_cache(maxsize=16)
def _name(folder: Path) -> str:
    return str(folder / FILE)
