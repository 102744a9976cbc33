"""Store of trust pins: what a person has agreed to run, by the repository that it belongs to (`trust.json`)."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from struct import unpack_from

from msgspec import Struct
from msgspec.json import encode

from hookonce.base import paths
from hookonce.base.files import NewerFileError, decode_own_file, read_regular_file
from hookonce.errors import HookonceError
from hookonce.manifest.discover import ManifestSource, find_project_sources, resolve_folder
from hookonce.model import Hook, Json

Identity = tuple[int, int, int]  # device, inode and generation of a folder


class ClosedHook(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A fail-closed hook that a person has agreed to, as far as it must be known when its manifest cannot be read."""

    event: str
    name: str | None = None
    matcher: Json = None
    spec: str = ""


class Pin(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One state of a project's hooks that a person has agreed to."""

    manifest: str  # the digest of the file of hooks, or of what is there instead; or `_WORKTREE`
    files: dict[str, str] = {}  # the digest of every file that it names
    programs: dict[str, str] = {}  # where each program was found
    loose: dict[str, str] = {}  # what could not be pinned, with the reason
    reads: dict[str, list[str]] = {}  # by script, the files that it runs besides itself, whether or not they are there
    policy: str | None = None  # the digest of the project's policy, None if it had none
    closed_hooks: list[ClosedHook] = []
    folder: str = ""  # the project's real path, by which it is known without its repository
    identity: Identity | None = None  # of that folder, which may be moved
    branch: str | None = None  # what was checked out when an absence was accepted; None for hooks that are there


_PinsByRoot = dict[str, list[Pin]]
_MAX_LINK_BYTES = 1 << 14  # of a file that names a folder of git


class PinMismatch(HookonceError):
    """A hook or one of its files is not what was pinned."""


class PinsUnreadable(HookonceError):
    """The file of pins is there and cannot be read: nobody knows what was agreed to."""


def content_digest(data: bytes) -> str:
    """The SHA-256 of content, in hex."""
    return sha256(data).hexdigest()


def trust_root_of(project: Path) -> str:
    """The repository that a project belongs to: worktrees share it, so they share what was agreed to."""
    here = os.path.realpath(project)
    git = os.path.join(here, ".git")  # noqa: PTH118  pathlib raises where a folder cannot be entered
    if os.path.islink(git):  # noqa: PTH114
        return here
    if os.path.isdir(git):  # noqa: PTH112
        return git
    try:
        return _repository_of_worktree(Path(git)) or here
    except (OSError, ValueError):
        return here


def _repository_of_worktree(link: Path) -> str | None:
    """The repository of a worktree that lists it too: whoever wrote the project could name any repository."""
    worktree_dir = Path(os.path.realpath(link.parent / _read_link(link)))
    repository = worktree_dir.parent.parent
    back_link = _read_link(worktree_dir / "gitdir")
    is_listed = worktree_dir.parent.name == "worktrees" and (repository / "HEAD").is_file()
    leads_back = os.path.realpath(worktree_dir / back_link) == os.path.realpath(link)
    return str(repository) if is_listed and leads_back else None


def absence_digest(project: Path, sources: list[ManifestSource]) -> str:
    """The digest of a state in which trusted hooks are not there: the branch, and what is there instead of them."""
    files = [(source.path.name, content_digest(source.data), source.problem) for source in sources]
    return content_digest(encode(["absent", read_head(project), files]))


def read_head(project: Path) -> str:
    """What a repository, or worktree, has checked out: the name of a branch, or a commit; "" without one."""
    git = project / ".git"
    try:
        if not git.is_dir():
            git = project / _read_link(git)
        return read_regular_file(git / "HEAD", _MAX_LINK_BYTES).decode()
    except (OSError, ValueError):
        return ""


def _read_link(file: Path) -> str:
    """What a file of git says that names a folder."""
    return read_regular_file(file, _MAX_LINK_BYTES).decode().removeprefix("gitdir:").strip()


def load_pins(project: Path, manifest_digest: str | None = None) -> list[Pin]:
    """The states of this project's hooks that were agreed to; with a digest, only those of a file of that content."""
    project_pins = _read_pins().get(trust_root_of(project), [])
    return [pin for pin in project_pins if manifest_digest in {None, pin.manifest}]


def find_trusted_hook(project: Path, data: bytes, hook: Hook) -> Hook | None:
    """The hook as it may run, its files replaced by the copies that were agreed to; None if it may not."""
    try:
        return verify_by_pins(project, hook, load_pins(project, content_digest(data)))
    except PinMismatch:
        return None


def verify_by_pins(project: Path, hook: Hook, project_pins: list[Pin]) -> Hook:
    """The hook as it may run by one of these pins; PinMismatch with the reason if by none."""
    from hookonce.trust.pins import verify_hook  # most projects have no hooks, and do without it

    root, mismatch = trust_root_of(project), PinMismatch("it is not trusted, or it has changed since it was")
    for pin in project_pins:
        try:
            return verify_hook(project, root, pin, hook)
        except PinMismatch as reason:
            mismatch = reason
    raise mismatch


def add_pins(project: Path, new: list[Pin]) -> None:
    """Add pins, and the copies of what they pin: all of them or none.

    Where hooks that are agreed to are there, an absence that was accepted on this branch is over.
    """
    from hookonce.trust.pins import store_copies

    root = trust_root_of(project)
    for pin in new:
        store_copies(project, root, pin)
    roots = {root, *(guard.root for guard in find_own_guards(project))}
    present = {content_digest(source.data) for source in find_project_sources(project) if not source.is_openhook}
    with _edit_pins() as all_pins:
        for name in roots:
            pins = all_pins.setdefault(name, [])
            if not present.isdisjoint(pin.manifest for pin in (*pins, *new)):
                pins[:] = [pin for pin in pins if pin.branch != read_head(project)]
            pins += [pin for pin in new if pin not in pins]


def revoke_pins(project: Path) -> int:
    """Remove every pin of a project; returns how many there were."""
    from hookonce.trust.pins import remove_copies

    roots = {trust_root_of(project), *(guard.root for guard in find_own_guards(project))}
    with _edit_pins() as all_pins:
        removed_pins = [(root, pin) for root in roots for pin in all_pins.pop(root, [])]
    for root, pin in removed_pins:
        remove_copies(root, pin)
    return len(removed_pins)


class Guard(Struct, frozen=True):
    """A project whose fail-closed hooks were trusted once: they are asked there, or else the call is refused."""

    root: str
    folders: frozenset[str]  # real paths at which it was trusted
    worktrees: frozenset[str]  # paths of its worktrees, at which something else may be by now
    identities: frozenset[Identity]
    digests: frozenset[str]  # of every manifest, and every absence of one, that was ever agreed to
    closed_hooks: list[ClosedHook]


def load_guards(stamp: tuple[int, ...] = ()) -> list[Guard]:
    """Every project with trusted fail-closed hooks; PinsUnreadable if nobody can tell.

    With the stamp of the file of pins what was made of it is kept while that holds.
    """
    return _load_index(stamp).guards


class _GuardIndex(Struct, frozen=True):
    """The guards, and their roots by path and by device and inode, so that many of them cost no call any time."""

    guards: list[Guard]
    folders: dict[str, list[str]]
    inodes: dict[tuple[int, int], list[tuple[int, str]]]  # generation and root


def _load_index(stamp: tuple[int, ...]) -> _GuardIndex:
    index = _index_cache.get(stamp) if stamp else None
    if index is None:
        index = _GuardIndex(_build_guards(_load_pins_file()), {}, {})
        for guard in index.guards:
            for folder in guard.folders:
                index.folders.setdefault(folder, []).append(guard.root)
            for device, inode, generation in guard.identities:
                index.inodes.setdefault((device, inode), []).append((generation, guard.root))
        _index_cache.clear()
        _index_cache[stamp] = index
    return index


_index_cache: dict[tuple[int, ...], _GuardIndex] = {}  # by the stamp of the file, the last one alone


def _build_guards(all_pins: _PinsByRoot) -> list[Guard]:
    return [
        Guard(
            root,
            frozenset(pin.folder for pin in pins if pin.closed_hooks),
            frozenset(pin.folder for pin in pins if pin.manifest == _WORKTREE),
            frozenset(pin.identity for pin in pins if pin.identity),
            frozenset(pin.manifest for pin in pins),
            list({encode(hook): hook for pin in pins for hook in pin.closed_hooks}.values()),
        )
        for root, pins in all_pins.items()
        if any(pin.closed_hooks for pin in pins)
    ]


def find_guards(cwds: tuple[str, ...], project: Path | None, stamp: tuple[int, ...] = ()) -> list[tuple[Guard, Path]]:
    """The guarded projects that directories lie in, each with its folder as it is now: whatever lies in between.

    By path, by the folder itself, which may have been moved, and by the repository that worktrees share.
    """
    index = _load_index(stamp)
    if not index.guards:
        return []
    places: dict[str, Path] = {}
    for folder in _ancestors(cwds):
        for root in (*index.folders.get(folder, ()), *_roots_by_inode(folder, index)):
            places.setdefault(root, Path(folder))
    roots = {guard.root for guard in index.guards}
    git = f"{project}/.git"
    may_share_root = project is not None and (git in roots or os.path.isfile(git))  # noqa: PTH113  a worktree has a file
    if project is not None and may_share_root and (root := trust_root_of(project)) in roots - places.keys():
        places[root] = Path(os.path.realpath(project))
        _remember_worktree(root, str(places[root]))
    return [(guard, places[guard.root]) for guard in index.guards if guard.root in places]


def find_own_guards(project: Path) -> list[Guard]:
    """The guards of a project itself, which may have been moved or lost its repository; none of those around it."""
    folder = os.path.realpath(project)
    return [guard for guard, place in find_guards((str(project),), project) if os.path.realpath(place) == folder]


def _remember_worktree(root: str, folder: str) -> None:
    """Remember a worktree of a guarded project by its inode: its `.git` may be gone at the next call."""
    worktree = Pin(manifest=_WORKTREE, folder=folder, identity=folder_identity(folder))
    with suppress(OSError, ValueError, HookonceError), _edit_pins(waits=False) as all_pins:
        pins = all_pins.get(root, [])
        pins[:] = [
            pin
            for pin in pins
            if pin.manifest != _WORKTREE or (pin.folder != folder and os.path.isdir(pin.folder))  # noqa: PTH112
        ]
        pins.append(worktree)


_WORKTREE = "worktree"  # in the place of a digest


def _ancestors(cwds: tuple[str, ...]) -> Iterator[str]:
    """Directories and those above them: as named, for a link may have taken a project's place, and as they are."""
    places = [os.path.abspath(cwd) for cwd in cwds]  # noqa: PTH100  as texts; somebody waits
    for cwd in cwds:
        with suppress(ValueError):  # NUL or half a character: what stands before may be a project's path all the same
            places.append(resolve_folder(cwd))
    for folder in dict.fromkeys(f"/{place.lstrip('/')}" for place in places):
        while True:
            yield folder
            folder, last = os.path.dirname(folder), folder  # noqa: PTH120, PLW2901
            if folder == last:
                break


def folder_identity(folder: str) -> Identity | None:
    """Device, inode and generation of a folder; None if it cannot be told from others that get its inode later."""
    try:
        status = os.stat(folder)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    generation = _generation_of(folder)
    return (status.st_dev, status.st_ino, generation) if generation else None


def _roots_by_inode(folder: str, index: _GuardIndex) -> list[str]:
    """The roots of guards that a folder belongs to, wherever it is now; of one that nobody may read all generations."""
    try:
        status = os.stat(folder)  # noqa: PTH116
    except (OSError, ValueError):
        return []
    same = index.inodes.get((status.st_dev, status.st_ino), [])
    generation = _generation_of(folder) if same else None
    return [root for known_generation, root in same if generation in {known_generation, None}]


def _generation_of(folder: str) -> int | None:
    """The generation of an inode, whose number is used again, or its birth time; None for a folder nobody may read."""
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return int.from_bytes(fcntl.ioctl(handle, _GET_GENERATION, bytes(8))[:4], sys.byteorder)
    except OSError:
        return _birth_time_ns(handle)  # as in the layers of a container
    finally:
        os.close(handle)


_GET_GENERATION = 0x80087601  # FS_IOC_GETVERSION


def _birth_time_ns(handle: int) -> int:
    """The time at which an open file was made; 0 where the system does not tell."""
    from ctypes import CDLL, create_string_buffer

    result = create_string_buffer(256)  # struct statx
    with suppress(AttributeError, OSError):
        if CDLL(None).statx(handle, b"", _AT_EMPTY_PATH, _STATX_BTIME, result) == 0:
            mask, seconds, nanoseconds = unpack_from("=I76xqI", result)
            return seconds * 10**9 + nanoseconds if mask & _STATX_BTIME else 0
    return 0


_AT_EMPTY_PATH, _STATX_BTIME = 0x1000, 0x800


def _load_pins_file() -> _PinsByRoot:
    if not os.path.lexists(paths.pins_path()):  # asked first, because that needs no descriptor
        return {}
    try:
        pins: _PinsByRoot = decode_own_file(paths.pins_path(), read_regular_file(paths.pins_path()), _PinsByRoot)
    except NewerFileError as problem:
        raise PinsUnreadable(str(problem)) from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is damaged; move it away to start again"
        raise PinsUnreadable(f"{paths.pins_path()} cannot be read: {reason}") from None
    return pins


def _read_pins() -> _PinsByRoot:
    """Pins that cannot be read pin nothing."""
    try:
        return _load_pins_file()
    except PinsUnreadable:
        return {}


@contextmanager
def _edit_pins(*, waits: bool = True) -> Iterator[_PinsByRoot]:
    """All pins, to be changed by one at a time; a file that cannot be read is not written over.

    Who answers a call does not wait for another, who may be anybody: OSError instead.
    """
    import fcntl

    file = paths.pins_path()
    paths.make_private_dir(file.parent)
    with file.with_name("trust.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        all_pins = _load_pins_file()
        yield all_pins
        _write_atomically(file, encode(all_pins))


def _write_atomically(file: Path, data: bytes) -> None:
    draft = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as target:
        target.write(data)
        target.flush()
        os.fsync(handle)
    draft.replace(file)
