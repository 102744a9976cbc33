"""Fetching pinned agents into the cache: whole, checked and marked, or not at all."""

import fcntl
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage, rmtree
from tempfile import mkdtemp
from time import monotonic
from typing import Literal

from msgspec import Struct

from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.spelling import near
from hookonce.errors import UnknownName, UsageError
from hookonce.lab import drivers, found, npm, pins
from hookonce.lab.npm import Unavailable, Unreachable
from hookonce.lab.pins import Package

__all__ = ["Unavailable", "Wanted", "fetch", "plan"]

Tell = Callable[[str], object]
_SCRATCH = ".fetching-"
_MORE = 1.5  # of what lands on the disk: npm keeps the archives in a cache of its own
_MEGABYTE = 1024 * 1024
_VERSION = re.compile(r"\d+\.\d+\.\d+[\w.+-]*", re.ASCII)  # it becomes the name of a folder


class Wanted(Struct, frozen=True, kw_only=True):
    """One version of an agent; `unchecked` is one that lies there without our mark."""

    agent: str
    version: str
    megabytes: int
    state: Literal["fetched", "unchecked", "missing"]
    folder: str


def plan(names: Sequence[str], versions: Sequence[str] = ()) -> list[Wanted]:
    """What would be fetched: the named agents or all, in these versions or the pinned ones, and Node.js if needed."""
    if strange := [version for version in versions if not _VERSION.fullmatch(version)]:
        raise UsageError(f"{strange[0]!r} is no exact version such as {pins.NODE[1]}")
    chosen = [_known(name) for name in names] or pins.agents()
    rows = [(name, version) for name in chosen for version in versions or pins.versions(name)[:1]]
    needs = [drivers.load(name).node for name in chosen if name in drivers.DRIVERS]
    if (least := max((one for one in needs if one is not None), default=None)) and found.own_node(least) is None:
        rows.append(pins.NODE)
    return [_wanted(name, version) for name, version in dict.fromkeys(rows)]


def _known(name: str) -> str:
    known = [*pins.agents(), pins.NODE[0]]
    meant = AGENT_ALIASES.get(name, name)
    if meant not in known:
        raise UnknownName(f"no agent called {name!r} can be fetched" + (near(name, known) or f": {', '.join(known)}"))
    return meant


def _wanted(name: str, version: str) -> Wanted:
    here = found.place(name, version)
    state: Literal["fetched", "unchecked", "missing"] = "unchecked" if (here / found.MODULES).is_dir() else "missing"
    return Wanted(
        agent=name,
        version=version,
        megabytes=pins.download(name, version).megabytes,
        state="fetched" if found.is_complete(name, version) else state,
        folder=str(here),
    )


def fetch(names: Sequence[str], versions: Sequence[str] = (), tell: Tell = lambda _: None) -> None:
    """Fetch what is missing, each version for itself; a problem with one does not keep the others away."""
    problems = []
    with _alone(tell):
        left = [one for one in plan(names, versions) if one.state != "fetched"]
        for one in left:
            try:
                _bring(one, tell)
            except Unreachable:
                raise
            except Unavailable as problem:
                problems.append(str(problem))
    if problems:
        raise Unavailable("; ".join(problems))


@contextmanager
def _alone(tell: Tell) -> Iterator[None]:
    """One fetch at a time; what an earlier one has left unfinished is removed."""
    here = found.folder()
    try:
        here.mkdir(parents=True, exist_ok=True)
        lock = (here / ".lock").open("w")
    except OSError as problem:
        raise Unavailable(
            f"agents cannot be kept in {here} ({problem.strerror}); HOOKONCE_AGENTS names another"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("another fetch is under way; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for unfinished in here.glob(f"{_SCRATCH}*"):
            rmtree(unfinished, ignore_errors=True)
        yield


def _bring(one: Wanted, tell: Tell) -> None:
    here, began = Path(one.folder), monotonic()
    wanted = pins.packages(pins.download(one.agent, one.version).packages, found.platform())
    missing = bool(npm.faults(here, wanted))
    (here / found.MARKER).unlink(missing_ok=True)
    if missing:
        npm.program()
        _room(one)
        tell(f"{one.agent} {one.version}: fetching about {one.megabytes} MB from npm")
        _replace(here / found.MODULES, wanted)
    (here / found.MARKER).write_text(found.mark(one.agent, one.version), encoding="utf-8")
    took = f"fetched in {monotonic() - began:.0f} s" if missing else "was there already"
    tell(f"{one.agent} {one.version}: {took}; {_trust(wanted)}")


def _trust(wanted: list[Package]) -> str:
    """What the checksums say."""
    if all(package.integrity for package in wanted):
        return "its checksums are the pinned ones"
    return f"its checksums for {found.platform()} are not pinned, only the registry's word for them"


def _room(one: Wanted) -> None:
    free = disk_usage(found.folder()).free // _MEGABYTE
    if free < one.megabytes * _MORE:
        told = f"{one.agent} {one.version} needs about {one.megabytes * _MORE:.0f} MB of disk, and {free} MB are free"
        raise Unavailable(f"{told} in {found.folder()}; make room, or name another folder with HOOKONCE_AGENTS")


def _replace(target: Path, wanted: list[Package]) -> None:
    """Fetch into a folder beside, and move it to its place in one step."""
    scratch = Path(mkdtemp(prefix=_SCRATCH, dir=found.folder()))
    try:
        new = scratch / "new"
        new.mkdir()
        npm.install(new, wanted)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rename(scratch / "old")
        (new / found.MODULES).rename(target)
    finally:
        rmtree(scratch, ignore_errors=True)
