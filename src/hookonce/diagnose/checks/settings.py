"""Checks of the settings files: keys that nobody reads, and values that no setting has."""

from collections.abc import Iterator
from json import dumps
from pathlib import Path

from hookonce.base import settings
from hookonce.errors import HookonceError
from hookonce.vocabulary.names import suggest_name

_MAX_VALUE_CHARS = 60  # of a value that are repeated


def find_setting_problems() -> Iterator[tuple[Path, str]]:
    """Each such key or value, with its file; a file that cannot be read is reported elsewhere."""
    for file in settings.settings_files():
        try:
            values = settings.read_file(file)
        except HookonceError:
            continue
        for key, value in values.items():
            if (problem := _setting_problem(key, value)) is not None:
                yield file, f"{file}: {problem}"


def _setting_problem(key: str, value: object) -> str | None:
    if key not in settings.setting_types():
        return f"there is no setting {key}, it does nothing{suggest_name(key, settings.setting_types().keys())}"
    if settings.fits(key, value):
        return None
    strict_value = settings.STRICT_VALUES.get(key)
    effect = "it does nothing" if strict_value is None else f"it is read as {dumps(strict_value)}"
    shown = repr(value) if len(repr(value)) <= _MAX_VALUE_CHARS else f"{repr(value)[:_MAX_VALUE_CHARS]}…"
    return f"{key} is {shown}, and has to be {settings.describe_values(key)}; {effect}"
