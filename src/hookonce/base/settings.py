"""Settings in config.toml of the system and the user. A project sets none; only the system's gives consent."""

import os
from functools import lru_cache
from pathlib import Path
from time import time_ns
from typing import Any, Literal

from hookonce.base import paths
from hookonce.base.paths import config_dir
from hookonce.errors import HookonceError

SYSTEM = Path("/etc/hookonce")
OWNER = 0  # whose the system's files have to be
_FILE_NAME = "config.toml"
_OTHERS_WRITE_BITS = 0o022
_PRIVACY_LEVELS: tuple[Literal["minimal", "standard", "full"], ...] = ("minimal", "standard", "full")  # strictest first


def consent(folder: Path | None = None) -> str | None:
    """Who may say yes: `unattended` where the machine's owner has said so, in a file that nobody else can write."""
    file = (folder or SYSTEM) / _FILE_NAME
    if not is_writable_by_owner_only(file, file.parent):
        return None
    try:
        value = _read_file(file).get("consent")
    except HookonceError:
        return None  # a broken file gives nothing away, and keeps no person from saying yes
    return value if type(value) is str else None


def is_writable_by_owner_only(*paths: Path) -> bool:
    """Whether only the machine's owner can write these files and folders, and all of them are there."""
    try:
        statuses = [path.stat() for path in paths]
    except OSError:
        return False
    return all(status.st_uid == OWNER and not status.st_mode & _OTHERS_WRITE_BITS for status in statuses)


def untrusted_action() -> Literal["skip", "deny"]:
    """What becomes of an action in a project with untrusted hooks: `deny` in one file is enough.

    A word that is neither was not meant to be `skip`, which is what nobody has to say.
    """
    return "skip" if all(table.get("untrusted", "skip") == "skip" for table in _read_all()) else "deny"


def privileges() -> Literal["reduced", "all"]:
    """With what a hook runs: one who says `reduced` is enough, and a file that cannot be read may have said it."""
    for file in _settings_files():
        try:
            value = _read_file(file).get("privileges", "all")
        except HookonceError:
            return "reduced"
        if value != "all":
            return "reduced"
    return "all"


def allows_http() -> bool:
    """Whether a user may have an HTTP listener: one file that says anything but `true` forbids it."""
    return all(table.get("http", True) is True for table in _read_all())


def scanners() -> list[str]:
    """Commands that look at a project's hooks before a person is asked to trust them; the system's and the user's."""
    values = [table.get("scanners") for table in _read_all()]
    return [text for value in values if type(value) is list for text in value if type(text) is str]


def privacy_level() -> Literal["minimal", "standard", "full"]:
    """How much of a record is kept: of several words the strictest counts, and one that cannot be read is `minimal`."""
    try:
        levels = [table["privacy"] for table in _read_all() if "privacy" in table]
    except HookonceError:
        return "minimal"
    if not levels or any(word not in _PRIVACY_LEVELS for word in levels):
        return "minimal"
    return _PRIVACY_LEVELS[min(map(_PRIVACY_LEVELS.index, levels))]


def records() -> bool:
    """Whether calls are recorded: a user may say no, unless the system says yes; what cannot be read says nothing."""
    try:
        values = [table["record"] for table in _read_all() if "record" in table]
    except HookonceError:
        return True
    return not values or values[-1] is not False  # the system's word comes last, and counts


def grants() -> dict[str, list[str]]:
    """What modules may do, by their names; `*` stands for all of them. A file that cannot be read grants nothing."""
    grants_by_module: dict[str, list[str]] = {}
    try:
        tables = [document["grants"] for document in _read_all() if type(document.get("grants")) is dict]
    except HookonceError:
        return {}
    for name, words in (pair for table in tables for pair in table.items()):
        if type(words) is list:
            grants_by_module.setdefault(name, []).extend(word for word in words if type(word) is str)
    return grants_by_module


def durability() -> Literal["normal", "full"]:
    """Whether what was kept survives a crash of processes (`normal`), or a loss of power too (`full`).

    What cannot be read may have said `full`, and keeps nothing out of the record.
    """
    try:
        return "normal" if get_setting("durability", "normal") == "normal" else "full"
    except HookonceError:
        return "full"


def agent_hooks_log() -> bool:
    """Whether AGENT_HOOKS_LOG may name a file; whoever starts an agent can set it, so a user has to say so."""
    try:
        return get_setting("agent_hooks_log") is True
    except HookonceError:
        return False


def keep_days() -> int | None:
    """After how many days records go; None if they stay."""
    return _positive_integer("keep_days")


def keep_megabytes() -> int | None:
    """How large the record may become until its oldest days go; None if it may grow."""
    return _positive_integer("keep_megabytes")


def _positive_integer(name: str) -> int | None:
    value = get_setting(name)
    if value is None or (type(value) is int and value > 0):
        return value
    raise HookonceError(f"the setting {name} has to be a whole number above 0, and is {value!r}")


def find_settings_problem() -> str | None:
    """Why a file of settings cannot be read; None if all can."""
    try:
        _read_all()
    except HookonceError as error:
        return str(error)
    return None


def get_setting(name: str, default: Any = None) -> Any:
    """A setting of the user, else of the system."""
    return next((table[name] for table in _read_all() if name in table), default)


def _read_all() -> list[dict[str, Any]]:
    return [_read_file(file) for file in _settings_files()]


def _settings_files() -> tuple[Path, Path]:
    return _settings_path(config_dir()), _settings_path(SYSTEM)


@lru_cache(maxsize=16)
def _settings_path(folder: Path) -> Path:
    """Asked with every record, and dear to put together."""
    return folder / _FILE_NAME


def _read_file(file: Path) -> dict[str, Any]:
    """What a file says; asked with every record, so one that lies there unchanged is not read again."""
    try:
        stamp = _file_stamp(file)
        cache_entry = _cache.get(file)
        if cache_entry is None or cache_entry[0] != stamp:
            cache_entry = stamp, _parse_file(file)
            if time_ns() - max(stamp[:2]) > _SETTLE_NS:  # who writes twice in one moment may leave the same stamp
                _cache[file] = cache_entry
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise HookonceError(f"{file} cannot be read: {problem}") from None
    return cache_entry[1]


_cache: dict[Path, tuple[tuple[int, ...], dict[str, Any]]] = {}
_SETTLE_NS = 2_000_000_000  # nanoseconds


def _file_stamp(file: Path) -> tuple[int, ...]:
    """How a file is known again."""
    status = file.stat()
    return (
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
        status.st_uid,
        status.st_mode,
    )


def _parse_file(file: Path) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(file.read_text(encoding="utf-8"))


AGENT_HOOKS_LOG_VARIABLE = "AGENT_HOOKS_LOG"
AGENT_HOOKS_RULES_FILE = "agent-hooks.json"


def has_agent_hooks_rules() -> bool:
    """Whether there may be rules of Agent Hooks capture; asked with every record, so no file is opened."""
    return any(map(_has_rules_file, (paths.config_dir(), SYSTEM)))


def _has_rules_file(folder: Path) -> bool:
    return os.access(_rules_path(folder), os.F_OK)


@lru_cache(maxsize=16)
def _rules_path(folder: Path) -> str:
    return str(folder / AGENT_HOOKS_RULES_FILE)
