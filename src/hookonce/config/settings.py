"""Settings of the system and of the user. A project sets none, and consent is the system's alone to give away."""

from functools import lru_cache
from pathlib import Path
from time import time_ns
from typing import Any, Literal

from hookonce.config.paths import configuration
from hookonce.errors import HookonceError

SYSTEM = Path("/etc/hookonce")
OWNER = 0  # whose the system's files have to be
_NAME = "config.toml"
_OTHERS_WRITE = 0o022
_PRIVACY: tuple[Literal["minimal", "standard", "full"], ...] = ("minimal", "standard", "full")  # strictest first


def consent(folder: Path | None = None) -> str | None:
    """Who may say yes: `unattended` where the machine's owner has said so, in a file that nobody else can write."""
    file = (folder or SYSTEM) / _NAME
    if not is_owners(file, file.parent):
        return None
    try:
        found = _read(file).get("consent")
    except HookonceError:
        return None  # a broken file gives nothing away, and keeps no person from saying yes
    return found if type(found) is str else None


def is_owners(*paths: Path) -> bool:
    """Whether only the machine's owner can write these files and folders, and all of them are there."""
    try:
        found = [path.stat() for path in paths]
    except OSError:
        return False
    return all(one.st_uid == OWNER and not one.st_mode & _OTHERS_WRITE for one in found)


def untrusted() -> Literal["skip", "deny"]:
    """What becomes of an action in a project with hooks that nobody has agreed to: one who says `deny` is enough.

    A word that is neither was not meant to be `skip`, which is what nobody has to say.
    """
    return "skip" if all(found.get("untrusted", "skip") == "skip" for found in _all()) else "deny"


def privileges() -> Literal["reduced", "all"]:
    """With what a hook runs: one who says `reduced` is enough, and a file that cannot be read may have said it."""
    for file in _files():
        try:
            found = _read(file).get("privileges", "all")
        except HookonceError:
            return "reduced"
        if found != "all":
            return "reduced"
    return "all"


def http() -> bool:
    """Whether a user may have an HTTP door: one who says anything but `true` is enough."""
    return all(found.get("http", True) is True for found in _all())


def scanners() -> list[str]:
    """Commands that look at a project's hooks before a person is asked to trust them; the system's and the user's."""
    listed = [found.get("scanners") for found in _all()]
    return [text for one in listed if type(one) is list for text in one if type(text) is str]


def privacy() -> Literal["minimal", "standard", "full"]:
    """How much of a record is kept: of several words the strictest counts, and one that cannot be read is `minimal`."""
    try:
        said = [found["privacy"] for found in _all() if "privacy" in found]
    except HookonceError:
        return "minimal"
    if not said or any(word not in _PRIVACY for word in said):
        return "minimal"
    return _PRIVACY[min(map(_PRIVACY.index, said))]


def records() -> bool:
    """Whether calls are recorded: a user may say no, unless the system says yes; what cannot be read says nothing."""
    try:
        said = [found["record"] for found in _all() if "record" in found]
    except HookonceError:
        return True
    return not said or said[-1] is not False  # the system's word comes last, and counts


def grants() -> dict[str, list[str]]:
    """What modules may do, by their names; `*` stands for all of them. A file that cannot be read grants nothing."""
    found: dict[str, list[str]] = {}
    try:
        tables = [one["grants"] for one in _all() if type(one.get("grants")) is dict]
    except HookonceError:
        return {}
    for name, listed in (pair for table in tables for pair in table.items()):
        if type(listed) is list:
            found.setdefault(name, []).extend(word for word in listed if type(word) is str)
    return found


def durability() -> Literal["normal", "full"]:
    """Whether what was kept survives a crash of processes (`normal`), or a loss of power too (`full`).

    What cannot be read may have said `full`, and keeps nothing out of the record.
    """
    try:
        return "normal" if setting("durability", "normal") == "normal" else "full"
    except HookonceError:
        return "full"


def agent_hooks_log() -> bool:
    """Whether AGENT_HOOKS_LOG may name a file; whoever starts an agent can set it, so a user has to say so."""
    try:
        return setting("agent_hooks_log") is True
    except HookonceError:
        return False


def keep_days() -> int | None:
    """After how many days records go; None if they stay."""
    return _positive("keep_days")


def keep_megabytes() -> int | None:
    """How large the record may become until its oldest days go; None if it may grow."""
    return _positive("keep_megabytes")


def _positive(name: str) -> int | None:
    found = setting(name)
    if found is None or (type(found) is int and found > 0):
        return found
    raise HookonceError(f"the setting {name} has to be a whole number above 0, and is {found!r}")


def problem() -> str | None:
    """Why a file of settings cannot be read; None if all can."""
    try:
        _all()
    except HookonceError as found:
        return str(found)
    return None


def setting(name: str, default: Any = None) -> Any:
    """A setting of the user, else of the system."""
    return next((found[name] for found in _all() if name in found), default)


def _all() -> list[dict[str, Any]]:
    return [_read(file) for file in _files()]


def _files() -> tuple[Path, Path]:
    return _under(configuration()), _under(SYSTEM)


@lru_cache(maxsize=16)
def _under(folder: Path) -> Path:
    """Asked with every record, and dear to put together."""
    return folder / _NAME


def _read(file: Path) -> dict[str, Any]:
    """What a file says; asked with every record, so one that lies there unchanged is not read again."""
    try:
        seen = _stamp(file)
        known = _known.get(file)
        if known is None or known[0] != seen:
            known = seen, _parsed(file)
            if time_ns() - max(seen[:2]) > _SETTLED:  # who writes twice in one moment may leave the same stamp
                _known[file] = known
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise HookonceError(f"{file} cannot be read: {problem}") from None
    return known[1]


_known: dict[Path, tuple[tuple[int, ...], dict[str, Any]]] = {}
_SETTLED = 2_000_000_000  # nanoseconds


def _stamp(file: Path) -> tuple[int, ...]:
    """How a file is known again."""
    seen = file.stat()
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_dev, seen.st_uid, seen.st_mode


def _parsed(file: Path) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(file.read_text(encoding="utf-8"))
