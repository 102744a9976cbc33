"""Who wants everything captured as Agent Hooks has it: a variable that names a file, or a file of rules."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from hookonce.config import paths, settings

VARIABLE = "AGENT_HOOKS_LOG"
FILE = "agent-hooks.json"


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Whether anybody may; asked with every record, so without looking into anything."""
    return VARIABLE in environment or any(map(_is_there, (paths.configuration(), settings.SYSTEM)))


def _is_there(folder: Path) -> bool:
    return os.access(_name(folder), os.F_OK)


@lru_cache(maxsize=16)
def _name(folder: Path) -> str:
    return str(folder / FILE)
