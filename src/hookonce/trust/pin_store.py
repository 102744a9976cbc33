"""Store of trust pins: what a person has agreed to run, by the repository that it belongs to (`trust.json`)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.base import paths
from hookonce.base.files import read_regular_file
from hookonce.errors import HookonceError
from hookonce.model import Hook


class Pin(Struct, frozen=True, kw_only=True):
    """One state of a project's hooks that a person has agreed to."""

    manifest: str  # the digest of the file of hooks
    files: dict[str, str] = {}  # the digest of every file that it names
    programs: dict[str, str] = {}  # where each program was found
    loose: dict[str, str] = {}  # what could not be pinned, with the reason


_PinsByRoot = dict[str, list[Pin]]
_PINS_FILE = "trust.json"
_MAX_LINK_BYTES = 1 << 14  # of a file that names a folder of git


class PinMismatch(HookonceError):
    """A hook or one of its files is not what was pinned."""


def content_digest(data: bytes) -> str:
    """The SHA-256 of content, in hex."""
    return sha256(data).hexdigest()


def trust_root_of(project: Path) -> str:
    """The repository that a project belongs to: worktrees share it, so they share what was agreed to."""
    here = os.path.realpath(project)
    git = Path(here, ".git")
    if git.is_symlink():
        return here
    if git.is_dir():
        return str(git)
    try:
        return _repository_of_worktree(git) or here
    except (OSError, ValueError):
        return here


def _repository_of_worktree(link: Path) -> str | None:
    """The repository of a worktree that lists it too: whoever wrote the project could name any repository."""
    gitdir = read_regular_file(link, _MAX_LINK_BYTES).decode().removeprefix("gitdir:").strip()
    worktree_dir = Path(os.path.realpath(link.parent / gitdir))
    repository = worktree_dir.parent.parent
    back_link = read_regular_file(worktree_dir / "gitdir", _MAX_LINK_BYTES).decode().strip()
    is_listed = worktree_dir.parent.name == "worktrees" and (repository / "HEAD").is_file()
    leads_back = os.path.realpath(worktree_dir / back_link) == os.path.realpath(link)
    return str(repository) if is_listed and leads_back else None


def load_pins(project: Path, data: bytes | None = None) -> list[Pin]:
    """The states of this project's hooks that were agreed to; with `data`, only those of a file with these bytes."""
    project_pins = _read_pins().get(trust_root_of(project), [])
    manifest_digest = None if data is None else content_digest(data)
    return [pin for pin in project_pins if manifest_digest in {None, pin.manifest}]


def find_trusted_hook(project: Path, data: bytes, hook: Hook) -> Hook | None:
    """The hook as it may run, its files replaced by the copies that were agreed to; None if it may not."""
    try:
        return verify_by_pins(project, hook, load_pins(project, data))
    except PinMismatch:
        return None


def verify_by_pins(project: Path, hook: Hook, project_pins: list[Pin]) -> Hook:
    """The hook as it may run by one of these pins; PinMismatch with the reason if by none."""
    from hookonce.trust.pins import verify_hook  # most projects have no hooks, and do without it

    root, mismatch = trust_root_of(project), PinMismatch("nobody has agreed to it, or it has changed since")
    for pin in project_pins:
        try:
            return verify_hook(project, root, pin, hook)
        except PinMismatch as reason:
            mismatch = reason
    raise mismatch


def add_pins(project: Path, new: list[Pin]) -> None:
    """Add pins, and the copies of what they pin: all of them or none."""
    from hookonce.trust.pins import store_copies

    root = trust_root_of(project)
    for pin in new:
        store_copies(project, root, pin)
    with _edit_pins() as all_pins:
        project_pins = all_pins.setdefault(root, [])
        project_pins += [pin for pin in new if pin not in project_pins]


def revoke_pins(project: Path) -> int:
    """Remove every pin of a project; returns how many there were."""
    from hookonce.trust.pins import remove_copies

    root = trust_root_of(project)
    with _edit_pins() as all_pins:
        removed_pins = all_pins.pop(root, [])
    for pin in removed_pins:
        remove_copies(root, pin)
    return len(removed_pins)


def _read_pins() -> _PinsByRoot:
    """Pins that cannot be read pin nothing."""
    try:
        return decode((paths.data_dir() / _PINS_FILE).read_bytes(), type=_PinsByRoot)
    except (OSError, DecodeError):
        return {}


@contextmanager
def _edit_pins() -> Iterator[_PinsByRoot]:
    """All pins, to be changed by one at a time; a file that cannot be read is not written over."""
    import fcntl

    file = paths.data_dir() / _PINS_FILE
    paths.make_private_dir(file.parent)
    with file.with_name("trust.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        all_pins = _read_pins()
        if not all_pins and file.exists() and file.read_bytes() != b"{}":
            raise HookonceError(f"{file} is damaged; move it away to begin anew")
        yield all_pins
        _write_atomically(file, encode(all_pins))


def _write_atomically(file: Path, data: bytes) -> None:
    draft = file.with_name(f".{file.name}.{token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as target:
        target.write(data)
        target.flush()
        os.fsync(handle)
    draft.replace(file)
