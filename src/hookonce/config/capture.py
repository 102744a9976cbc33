"""Who wants everything captured as Agent Hooks has it: a variable that names a file, or a file of rules."""

import os
from functools import lru_cache
from pathlib import Path

from hookonce.config import paths, settings

AGENT_HOOKS_LOG_VARIABLE = "AGENT_HOOKS_LOG"
AGENT_HOOKS_RULES_FILE = "agent-hooks.json"


def has_agent_hooks_rules() -> bool:
    """Whether there may be rules of Agent Hooks capture; asked with every record, so no file is opened."""
    return any(map(_has_rules_file, (paths.config_dir(), settings.SYSTEM)))


def _has_rules_file(folder: Path) -> bool:
    return os.access(_rules_path(folder), os.F_OK)


@lru_cache(maxsize=16)
def _rules_path(folder: Path) -> str:
    return str(folder / AGENT_HOOKS_RULES_FILE)
