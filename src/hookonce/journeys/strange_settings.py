"""What the settings' files may hold: keys that nobody reads, and values that no setting has."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hookonce.canon.spelling import near
from hookonce.config import paths, settings

_LONGEST = 60  # characters of a value that are repeated


def _one_of(*words: str) -> tuple[Callable[[Any], bool], str]:
    told = " or ".join(f'"{word}"' for word in words)
    return lambda value: type(value) is str and value in words, told


def _is_texts(value: object) -> bool:
    return type(value) is list and all(type(text) is str for text in value)


def _is_grants(value: object) -> bool:
    return type(value) is dict and all(map(_is_texts, value.values()))


def _is_models(value: object) -> bool:
    return type(value) is dict and all(type(text) is str and text for text in value.values())


_SWITCH = (lambda value: type(value) is bool, "true or false")
_COUNT = (lambda value: type(value) is int and value > 0, "a whole number above 0")
# What each setting may hold, and how that is said.
ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "untrusted": _one_of("skip", "deny"),
    "scanners": (_is_texts, "a list of commands"),
    "strict_nonblocking": _SWITCH,
    "context_limit": _COUNT,
    "privileges": _one_of("all", "reduced"),
    "http": _SWITCH,
    "consent": _one_of("unattended"),
    "models": (_is_models, "a table of texts"),
    "record": _SWITCH,
    "grants": (_is_grants, 'a table with a list of texts for each module, like name = ["fs.read"]'),
    "privacy": _one_of("minimal", "standard", "full"),
    "durability": _one_of("normal", "full"),
    "keep_days": _COUNT,
    "keep_megabytes": _COUNT,
    "agent_hooks_log": _SWITCH,
}
KNOWN = frozenset(ALLOWED)
# How a value is read that is none: as the strictest one where one is stricter.
_READ = {
    "untrusted": '"deny"',
    "privileges": '"reduced"',
    "http": "false",
    "record": "true",
    "privacy": '"minimal"',
    "durability": '"full"',
}


def strange_settings() -> Iterator[tuple[Path, str]]:
    """Each such key or value, with its file; a file that cannot be read is told elsewhere."""
    for folder in (paths.configuration(), settings.SYSTEM):
        file = folder / "config.toml"
        try:
            found = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        for key, value in found.items():
            if (told := _told(key, value)) is not None:
                yield file, f"{file}: {told}"


def _told(key: str, value: object) -> str | None:
    if key not in ALLOWED:
        return f"there is no setting {key}, it does nothing{near(key, KNOWN)}"
    fits, allowed = ALLOWED[key]
    if fits(value):
        return None
    shown = repr(value) if len(repr(value)) <= _LONGEST else f"{repr(value)[:_LONGEST]}…"
    effect = f"it is read as {_READ[key]}" if key in _READ else "it does nothing"
    return f"{key} is {shown}, and has to be {allowed}; {effect}"
