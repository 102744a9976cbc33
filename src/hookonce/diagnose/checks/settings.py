"""Checks of the settings files: keys that nobody reads, and values that no setting has."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hookonce.base import paths, settings
from hookonce.vocabulary.names import suggest_name

_MAX_VALUE_CHARS = 60  # characters of a value that are repeated


def _choice_rule(*words: str) -> tuple[Callable[[Any], bool], str]:
    description = " or ".join(f'"{word}"' for word in words)
    return lambda value: type(value) is str and value in words, description


def _is_texts(value: object) -> bool:
    return type(value) is list and all(type(text) is str for text in value)


def _is_grants(value: object) -> bool:
    return type(value) is dict and all(map(_is_texts, value.values()))


def _is_models(value: object) -> bool:
    return type(value) is dict and all(type(text) is str and text for text in value.values())


_BOOLEAN_RULE = (lambda value: type(value) is bool, "true or false")
_COUNT_RULE = (lambda value: type(value) is int and value > 0, "a whole number above 0")
# What each setting may hold, and how that is said.
SETTING_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "untrusted": _choice_rule("skip", "deny"),
    "scanners": (_is_texts, "a list of commands"),
    "strict_nonblocking": _BOOLEAN_RULE,
    "context_limit": _COUNT_RULE,
    "privileges": _choice_rule("all", "reduced"),
    "http": _BOOLEAN_RULE,
    "consent": _choice_rule("unattended"),
    "models": (_is_models, "a table of texts"),
    "record": _BOOLEAN_RULE,
    "grants": (_is_grants, 'a table with a list of texts for each module, like name = ["fs.read"]'),
    "privacy": _choice_rule("minimal", "standard", "full"),
    "durability": _choice_rule("normal", "full"),
    "keep_days": _COUNT_RULE,
    "keep_megabytes": _COUNT_RULE,
    "agent_hooks_log": _BOOLEAN_RULE,
}
SETTING_NAMES = frozenset(SETTING_RULES)
# How a value is read that is none: as the strictest one where one is stricter.
_FALLBACK_VALUES = {
    "untrusted": '"deny"',
    "privileges": '"reduced"',
    "http": "false",
    "record": "true",
    "privacy": '"minimal"',
    "durability": '"full"',
}


def find_setting_problems() -> Iterator[tuple[Path, str]]:
    """Each such key or value, with its file; a file that cannot be read is reported elsewhere."""
    for folder in (paths.config_dir(), settings.SYSTEM):
        file = folder / "config.toml"
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        for key, value in values.items():
            if (problem := _setting_problem(key, value)) is not None:
                yield file, f"{file}: {problem}"


def _setting_problem(key: str, value: object) -> str | None:
    if key not in SETTING_RULES:
        return f"there is no setting {key}, it does nothing{suggest_name(key, SETTING_NAMES)}"
    fits, rule_text = SETTING_RULES[key]
    if fits(value):
        return None
    value_text = repr(value) if len(repr(value)) <= _MAX_VALUE_CHARS else f"{repr(value)[:_MAX_VALUE_CHARS]}…"
    effect = f"it is read as {_FALLBACK_VALUES[key]}" if key in _FALLBACK_VALUES else "it does nothing"
    return f"{key} is {value_text}, and has to be {rule_text}; {effect}"
