"""Wildcard configuration of Agent Hooks (`agent-hooks.json`): which events go to which file, and who may say so."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookonce.base import paths, settings
from hookonce.base.settings import AGENT_HOOKS_RULES_FILE
from hookonce.manifest.discover import PROJECT_FOLDER
from hookonce.model import Object, Problem
from hookonce.vocabulary.events import FROM_AGENT_HOOKS

ANY_EVENT = "*"
_RULE_FIELDS = frozenset({"event", "output"})


def looks_like_rules(document: Object) -> bool:
    """Whether a document has a rule with an output in it, as no other kind has."""
    hooks: Any = document.get("hooks")
    rules = hooks if type(hooks) is list else [hooks]
    return any(type(rule) is dict and "output" in rule and "handler" not in rule for rule in rules)


def find_rule_problems(document: Any) -> tuple[list[Problem], list[Problem]]:
    """The problems for which a rule is not followed, and the warnings."""
    hooks: Any = document.get("hooks") if type(document) is dict else None
    if type(hooks) not in (dict, list):
        message = "is required" if type(document) is dict and hooks is None else "expected a rule, or a list of rules"
        return [("$.hooks" if type(document) is dict else "$", message)], []
    if hooks == []:
        return [], [("$.hooks", "there is no rule, so nothing is recorded")]
    rules = [("$.hooks", hooks)] if type(hooks) is dict else [(f"$.hooks[{i}]", rule) for i, rule in enumerate(hooks)]
    problems = [problem for path, rule in rules for problem in _rule_problems(rule, path)]
    warnings = [warning for path, rule in rules if type(rule) is dict for warning in _rule_warnings(rule, path)]
    return problems, warnings


def _rule_problems(rule: Any, path: str) -> Iterator[Problem]:
    if type(rule) is not dict:
        yield path, "expected an object with event and output"
        return
    for name in sorted(_RULE_FIELDS):
        value = rule.get(name)
        if type(value) is not str or not value:
            yield f"{path}.{name}", "is required" if value is None else "expected a string"
    output = rule.get("output")
    if type(output) is str and output and not os.path.isabs(os.path.expanduser(output)):  # noqa: PTH111, PTH117
        yield f"{path}.output", "expected a file path that begins with / or ~"


def _rule_warnings(rule: dict[str, Any], path: str) -> Iterator[Problem]:
    event = rule.get("event")
    if type(event) is str and event != ANY_EVENT and event not in FROM_AGENT_HOOKS:
        yield f"{path}.event", f"{event} is not an event type of Agent Hooks; * matches all types"
    for name in rule:
        if name not in _RULE_FIELDS:
            yield f"{path}.{name}", "is not a field of a rule"


def find_scope_problems(file: Path, document: Any) -> tuple[list[Problem], list[Problem]]:
    """What follows from where the file lies: a project may name no file to write, and elsewhere nobody reads it."""
    if PROJECT_FOLDER in file.absolute().parts:
        hooks = document.get("hooks") if type(document) is dict else None
        rules = [("$.hooks", hooks)]
        if type(hooks) is list:
            rules = [(f"$.hooks[{index}]", rule) for index, rule in enumerate(hooks)]
        places = [f"{path}.output" for path, rule in rules if type(rule) is dict and "output" in rule]
        return [(path, f"a project may not set an output file; {_PLACES}") for path in places], []
    folder = file.absolute().parent
    if folder in {paths.config_dir(), settings.SYSTEM} and file.name == AGENT_HOOKS_RULES_FILE:
        return [], []
    return [], [("$", f"the file is not read here; {_PLACES}")]


_PLACES = f"{AGENT_HOOKS_RULES_FILE} is read from ~/.config/hookonce and /etc/hookonce"
