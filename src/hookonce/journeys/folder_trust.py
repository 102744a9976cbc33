"""Folders that Gemini CLI does not trust: it runs no hook there, not even the user's own, and says little about it."""

import os
from pathlib import Path
from typing import Any

from hookonce.edit import jsonc
from hookonce.edit.keys import held
from hookonce.edit.refusal import Refusal
from hookonce.journeys.places import Place, resolved
from hookonce.model import Agent

_AGENT = "gemini-cli"
_SETTINGS = ("/etc/gemini-cli/settings.json", "~/.gemini/settings.json")  # the first that says something counts
_SWITCH = ("security", "folderTrust", "enabled")
_RULES = "~/.gemini/trustedFolders.json"
_TRUSTED = "GEMINI_CLI_TRUST_WORKSPACE"


def distrust(agent: Agent, place: Place) -> str | None:
    """Why the agent drops all hooks in this project, if it does; an IDE that says otherwise is not heard here."""
    if agent.name != _AGENT or os.environ.get(_TRUSTED) == "true" or not _asks(place):
        return None
    project = place.project.resolve()
    rule = _rule(project, _read(resolved(place, _RULES)))
    if rule is not None and rule[1] != "DO_NOT_TRUST":
        return None
    told = f"{agent.title} runs no hook in {project}, not even your own"
    if rule is not None:
        return f"{told}: {rule[0]} is marked as not trusted; /permissions there changes that"
    return f"{told}, before you trust the folder: start it there and say yes"


def _asks(place: Place) -> bool:
    """Whether folders have to be trusted, which is so unless a setting says otherwise."""
    said = (held(_read(resolved(place, name)), _SWITCH) for name in _SETTINGS)
    return next((word for word in said if type(word) is bool), True)


def _rule(project: Path, rules: Any) -> tuple[Path, str] | None:
    """The rule for the innermost folder around the project."""
    found = [_meant(Path(name), word) for name, word in rules.items()] if type(rules) is dict else []
    around = [(folder, word) for folder, word in found if project.is_relative_to(folder)]
    return max(around, key=lambda one: len(one[0].parts), default=None)


def _meant(folder: Path, word: Any) -> tuple[Path, str]:
    """A rule may be about the folder above the one that it names."""
    real = folder.resolve()
    return (real.parent if word == "TRUST_PARENT" else real), str(word)


def _read(path: Path) -> Any:
    try:
        return jsonc.value_at(path.read_bytes(), ())
    except (OSError, Refusal):
        return None
