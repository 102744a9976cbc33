"""Trust in a project's hooks: what a person has agreed to, written down by the repository that it belongs to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.model import Hook


class Pin(Struct, frozen=True, kw_only=True):
    """One state of a project's hooks that a person has agreed to.

    `manifest` is the file of hooks, `files` every file that it names, `programs` where each program was found, and
    `loose` what could not be pinned, with the reason.
    """

    manifest: str
    files: dict[str, str] = {}
    programs: dict[str, str] = {}
    loose: dict[str, str] = {}


_All = dict[str, list[Pin]]


class Changed(HookonceError):
    """Something is not what was agreed to."""


def digest(data: bytes) -> str:
    """How content is known again."""
    return sha256(data).hexdigest()


def root_of(project: Path) -> str:
    """The repository that a project belongs to: worktrees share it, so they share what was agreed to.

    A worktree is believed only if the repository knows it too: whoever wrote the project could name any repository.
    """
    here = os.path.realpath(project)
    git = Path(here, ".git")
    if git.is_symlink():
        return here
    if git.is_dir():
        return str(git)
    try:
        return _common(git) or here
    except (OSError, ValueError):
        return here


def _common(link: Path) -> str | None:
    """The repository of a worktree, which lists it among its worktrees."""
    told = link.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    own = Path(os.path.realpath(link.parent / told))
    common = own.parent.parent
    back = (own / "gitdir").read_text(encoding="utf-8").strip()
    listed = own.parent.name == "worktrees" and (common / "HEAD").is_file()
    return str(common) if listed and os.path.realpath(own / back) == os.path.realpath(link) else None


def pins(project: Path, data: bytes | None = None) -> list[Pin]:
    """The states of this project's hooks that were agreed to; with `data`, only those of a file with these bytes."""
    found = _read().get(root_of(project), [])
    wanted = None if data is None else digest(data)
    return [pin for pin in found if wanted in {None, pin.manifest}]


def trusted(project: Path, data: bytes, hook: Hook) -> Hook | None:
    """The hook as it may run, its files replaced by the copies that were agreed to; None if it may not."""
    try:
        return safe(project, hook, pins(project, data))
    except Changed:
        return None


def safe(project: Path, hook: Hook, agreed: list[Pin]) -> Hook:
    """The hook as it may run by one of these pins; Changed with the reason if by none."""
    from hookonce.manifest.pin import safe_hook  # most projects have no hooks, and do without it

    root, why = root_of(project), Changed("nobody has agreed to it, or it has changed since")
    for pin in agreed:
        try:
            return safe_hook(project, root, pin, hook)
        except Changed as reason:
            why = reason
    raise why


def agree(project: Path, new: list[Pin]) -> None:
    """Keep pins, and the copies of what they pin: all of them or none."""
    from hookonce.manifest.pin import keep

    root = root_of(project)
    for pin in new:
        keep(project, root, pin)
    with _changed() as known:
        mine = known.setdefault(root, [])
        mine += [pin for pin in new if pin not in mine]


def revoke(project: Path) -> int:
    """Forget every pin of a project; how many there were."""
    from hookonce.manifest.pin import drop

    root = root_of(project)
    with _changed() as known:
        gone = known.pop(root, [])
    for pin in gone:
        drop(root, pin)
    return len(gone)


def _file() -> Path:
    return paths.data() / "trust.json"


def _read() -> _All:
    """Pins that cannot be read pin nothing."""
    try:
        return decode(_file().read_bytes(), type=_All)
    except (OSError, DecodeError):
        return {}


@contextmanager
def _changed() -> Iterator[_All]:
    """All pins, to be changed by one at a time; a file that cannot be read is not written over."""
    import fcntl

    file = _file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with file.with_name("trust.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = _read()
        if not known and file.exists() and file.read_bytes() != b"{}":
            raise HookonceError(f"{file} is damaged; move it away to begin anew")
        yield known
        _write(file, encode(known))


def _write(file: Path, data: bytes) -> None:
    draft = file.with_name(f".{file.name}.{token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as target:
        target.write(data)
        target.flush()
        os.fsync(handle)
    draft.replace(file)
