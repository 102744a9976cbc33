"""Folders that Gemini CLI does not trust: it runs no hook there, not even the user's own, and says little about it."""

import os
from pathlib import Path
from typing import Any

from hookonce.edit import jsonc
from hookonce.edit.keys import value_at_path
from hookonce.edit.refusal import FileEditError
from hookonce.journeys.places import ConfigRoots, resolve_path
from hookonce.model import Agent

_GEMINI = "gemini-cli"
_GEMINI_SETTINGS = ("/etc/gemini-cli/settings.json", "~/.gemini/settings.json")  # the first that says something counts
_FOLDER_TRUST_KEYS = ("security", "folderTrust", "enabled")
_TRUST_RULES_FILE = "~/.gemini/trustedFolders.json"
_TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"


def distrust_reason(agent: Agent, roots: ConfigRoots) -> str | None:
    """Why the agent drops all hooks in this project, if it does; an IDE that says otherwise is not heard here."""
    if agent.name != _GEMINI or os.environ.get(_TRUST_VARIABLE) == "true" or not _is_folder_trust_on(roots):
        return None
    project = roots.project.resolve()
    rule = _innermost_rule(project, _read_jsonc(resolve_path(roots, _TRUST_RULES_FILE)))
    if rule is not None and rule[1] != "DO_NOT_TRUST":
        return None
    sentence = f"{agent.title} runs no hook in {project}, not even your own"
    if rule is not None:
        return f"{sentence}: {rule[0]} is marked as not trusted; /permissions there changes that"
    return f"{sentence}, before you trust the folder: start it there and say yes"


def _is_folder_trust_on(roots: ConfigRoots) -> bool:
    """Folders have to be trusted unless a setting says otherwise."""
    values = (value_at_path(_read_jsonc(resolve_path(roots, name)), _FOLDER_TRUST_KEYS) for name in _GEMINI_SETTINGS)
    return next((value for value in values if type(value) is bool), True)


def _innermost_rule(project: Path, rules: Any) -> tuple[Path, str] | None:
    parsed_rules = [_resolve_rule(Path(name), level) for name, level in rules.items()] if type(rules) is dict else []
    around = [(folder, level) for folder, level in parsed_rules if project.is_relative_to(folder)]
    return max(around, key=lambda rule: len(rule[0].parts), default=None)


def _resolve_rule(folder: Path, level: Any) -> tuple[Path, str]:
    """A rule may be about the folder above the one that it names."""
    real = folder.resolve()
    return (real.parent if level == "TRUST_PARENT" else real), str(level)


def _read_jsonc(path: Path) -> Any:
    try:
        return jsonc.value_at(path.read_bytes(), ())
    except (OSError, FileEditError):
        return None
