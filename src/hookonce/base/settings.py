"""Settings of hookonce, from config.toml of the user and of the system. A project sets none.

A value that a setting cannot have, or a file that cannot be read, counts as the strictest value where one is stricter;
doctor names both.
"""

import os
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from time import time_ns
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import fields

from hookonce.base.paths import config_dir
from hookonce.errors import HookonceError

SYSTEM = Path("/etc/hookonce")
OWNER = 0  # whose the system's files have to be
AGENT_HOOKS_LOG_VARIABLE = "AGENT_HOOKS_LOG"
AGENT_HOOKS_RULES_FILE = "agent-hooks.json"
_FILE_NAME = "config.toml"
_OTHERS_WRITE_BITS = 0o022
_SETTLE_NS = 2_000_000_000  # who writes twice in one moment may leave the same stamp

PrivacyLevel = Literal["minimal", "standard", "full"]
_Count = Annotated[int, Meta(gt=0, description="a whole number above 0")]
_UserName = Annotated[str, Meta(min_length=1, max_length=200, description="a text that names you")]
_Texts = Annotated[list[str], Meta(description="a list of commands")]
_ModelTable = Annotated[dict[str, Annotated[str, Meta(min_length=1)]], Meta(description="a table of texts")]
_GRANTS_RULE = 'a table with a list of texts for each module, like name = ["fs.read"]'
_Grants = Annotated[dict[str, list[str]], Meta(description=_GRANTS_RULE)]


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting under its key in the files, with the default that counts where no file has it."""

    untrusted: Literal["skip", "deny"] = "skip"  # what becomes of an action in a project with untrusted hooks
    scanners: _Texts = []  # commands that look at hooks before a person is asked to trust them; of both files
    strict_nonblocking: bool = False  # whether hooks of users and projects that are not blocking may only observe
    context_limit: _Count | None = None  # characters of context that hooks may add
    privileges: Literal["all", "reduced"] = "all"  # with what a hook runs
    http: bool = True  # whether a user may have an HTTP listener
    models: _ModelTable | None = None  # the language models that hooks ask: see handlers/prompt.py
    user: _UserName | None = None  # whom live events name; None: a pseudonym of the account
    record: bool = True  # whether calls are recorded; a user may say no, unless the system says yes
    grants: _Grants = {}  # what modules may do, by their names; `*` stands for all of them
    privacy: PrivacyLevel = "minimal"  # how much of a record is kept
    durability: Literal["normal", "full"] = "normal"  # whether records survive a crash, or a loss of power too
    keep_days: _Count | None = None  # after how many days records go; None if they stay
    keep_megabytes: _Count | None = None  # how large the record may become until its oldest days go
    agent_hooks_log: bool = False  # whether the variable AGENT_HOOKS_LOG, which anybody can set, may name a file

    read_error: str | None = None
    invalid: dict[str, Any] = {}

    def require(self, *names: str) -> "Settings":
        """These settings; HookonceError if a file cannot be read, or one of these names has a value that it cannot."""
        if self.read_error is not None:
            raise HookonceError(self.read_error)
        for name in names:
            if name in self.invalid:
                value = self.invalid[name]
                raise HookonceError(f"the setting {name} has to be {describe_values(name)}, and is {value!r}")
        return self


_STRICTEST_FIRST: dict[str, tuple[Any, ...]] = {
    "untrusted": ("deny", "skip"),
    "privileges": ("reduced", "all"),
    "http": (False, True),
    "privacy": get_args(PrivacyLevel),
}
# What counts where a value cannot be one of the setting, or a file cannot be read.
STRICT_VALUES = {name: values[0] for name, values in _STRICTEST_FIRST.items()} | {"record": True, "durability": "full"}


@cache
def setting_types() -> dict[str, Any]:
    """The type of each key that a file may have; `consent` is the system's alone."""
    internal = {"read_error", "invalid"}
    types = {field.name: field.type for field in fields(Settings) if field.name not in internal}
    return types | {"consent": Literal["unattended"]}


def describe_values(name: str) -> str:
    """The values that a setting can have, in words."""
    setting_type = setting_types()[name]
    if setting_type is bool:
        return "true or false"
    metas = [meta for part in (setting_type, *get_args(setting_type)) for meta in getattr(part, "__metadata__", ())]
    return metas[0].description if metas else " or ".join(f'"{word}"' for word in get_args(setting_type))


def fits(name: str, value: Any) -> bool:
    """Whether a setting can have a value."""
    try:
        convert(value, setting_types()[name])
    except ValidationError:
        return False
    return True


def load() -> Settings:
    """The settings that count now; asked with every call, so files that lie there unchanged are not read again."""
    names = _file_names(config_dir(), SYSTEM)
    stamps = _file_stamp(names[0]), _file_stamp(names[1])
    entry = _cache.get(names)
    if entry is not None and entry[0] == stamps:
        return entry[1]
    try:
        current = _merge([read_file(Path(name)) for name, stamp in zip(names, stamps, strict=True) if stamp])
    except HookonceError as problem:
        return Settings(**STRICT_VALUES, read_error=str(problem))
    if time_ns() - max(max(stamp[:2], default=0) for stamp in stamps) > _SETTLE_NS:
        _cache[names] = stamps, current
    return current


_cache: dict[tuple[str, str], tuple[tuple[tuple[int, ...], ...], Settings]] = {}


def settings_files() -> tuple[Path, Path]:
    """The user's file and the system's, which need not be there."""
    return _file_in(config_dir(), _FILE_NAME), _file_in(SYSTEM, _FILE_NAME)


@lru_cache(maxsize=8)
def _file_names(user: Path, system: Path) -> tuple[str, str]:
    return f"{user}/{_FILE_NAME}", f"{system}/{_FILE_NAME}"


@lru_cache(maxsize=32)
def _file_in(folder: Path, name: str) -> Path:
    """Asked with every record, and slow to put together."""
    return folder / name


def _file_stamp(file: str) -> tuple[int, ...]:
    """What tells a version of a file from others; empty if there is none."""
    try:
        status = os.stat(file)  # noqa: PTH116  asked with every call
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError:
        return (time_ns(),)  # equal to no other
    times = status.st_mtime_ns, status.st_ctime_ns
    return (*times, status.st_size, status.st_ino, status.st_dev, status.st_uid, status.st_mode)


def read_file(file: Path) -> dict[str, Any]:
    """The table of one file, empty if there is none; HookonceError if it cannot be read."""
    try:
        return _parse_file(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise HookonceError(f"{file} cannot be read: {problem}") from None


def _parse_file(file: Path) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(file.read_text(encoding="utf-8"))


def _merge(tables: list[dict[str, Any]]) -> Settings:
    """The settings of several files, the user's first: the strictest counts, else the user's, but for `record`."""
    values, invalid = dict[str, Any](), dict[str, Any]()
    for name in setting_types().keys() - {"consent"}:
        raw = [table[name] for table in tables if name in table]
        read = [value if fits(name, value) else STRICT_VALUES.get(name) for value in raw]
        if not raw:
            continue
        if name in _JOINS:
            values[name] = _JOINS[name](raw)
        elif name in _STRICTEST_FIRST:
            values[name] = min(read, key=_STRICTEST_FIRST[name].index)
        elif read[0] is None:
            invalid[name] = raw[0]
        else:
            values[name] = read[-1 if name == "record" else 0]
    return Settings(**values, invalid=invalid)


def _join_texts(values: list[Any]) -> list[str]:
    return [text for value in values if type(value) is list for text in value if type(text) is str]


def _join_grants(values: list[Any]) -> dict[str, list[str]]:
    tables = [value for value in values if type(value) is dict]
    names = dict.fromkeys(name for table in tables for name, words in table.items() if type(words) is list)
    return {name: _join_texts([table.get(name) for table in tables]) for name in names}


_JOINS: dict[str, Callable[[list[Any]], Any]] = {"scanners": _join_texts, "grants": _join_grants}


def consent(folder: Path | None = None) -> str | None:
    """Who may say yes: `unattended` where the machine's owner has said so, in a file that nobody else can write."""
    file = (folder or SYSTEM) / _FILE_NAME
    if not is_writable_by_owner_only(file, file.parent):
        return None
    try:
        value = read_file(file).get("consent")
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


def has_agent_hooks_rules() -> bool:
    """Whether there may be rules of Agent Hooks capture; asked with every record, so no file is opened."""
    files = (_file_in(folder, AGENT_HOOKS_RULES_FILE) for folder in (config_dir(), SYSTEM))
    return any(os.access(file, os.F_OK) for file in files)
