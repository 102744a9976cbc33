"""Download of pinned agents into the cache: complete, verified and marked, or not at all."""

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

from hookonce.errors import UnknownName, UsageError
from hookonce.lab import drivers
from hookonce.lab.fetch import npm, pins, programs
from hookonce.lab.fetch.npm import Unavailable, Unreachable
from hookonce.lab.fetch.pins import NpmPackage
from hookonce.vocabulary.names import AGENT_ALIASES, suggest_name

__all__ = ["AgentDownload", "Unavailable", "fetch_agents", "plan_downloads"]

DownloadState = Literal["fetched", "unchecked", "missing"]
Progress = Callable[[str], object]
_SCRATCH_PREFIX = ".fetching-"
_DISK_FACTOR = 1.5  # of what lands on the disk: npm keeps the archives in a cache of its own
_BYTES_PER_MB = 1024 * 1024
_VERSION = re.compile(r"\d+\.\d+\.\d+[\w.+-]*", re.ASCII)  # it becomes the name of a folder


class AgentDownload(Struct, frozen=True, kw_only=True):
    """One version of an agent in the cache; `unchecked` lies there without our marker."""

    agent: str
    version: str
    megabytes: int
    state: DownloadState
    folder: str


def plan_downloads(names: Sequence[str], versions: Sequence[str] = ()) -> list[AgentDownload]:
    """Plan downloads: named agents or all, given or pinned versions, and Node.js if needed."""
    if bad_versions := [version for version in versions if not _VERSION.fullmatch(version)]:
        raise UsageError(f"{bad_versions[0]!r} is no exact version such as {pins.NODE[1]}")
    agent_names = [_resolve_name(name) for name in names] or pins.pinned_agents()
    rows = [(name, version) for name in agent_names for version in versions or pins.pinned_versions(name)[:1]]
    agent_drivers = [drivers.load_driver(name) for name in agent_names if name in drivers.DRIVER_MODULES]
    min_node_version = max((driver.min_node_version or 0 for driver in agent_drivers), default=0)
    if min_node_version and programs.find_own_node(min_node_version) is None:
        rows.append(pins.NODE)
    return [_download_state(name, version) for name, version in dict.fromkeys(rows)]


def _resolve_name(name: str) -> str:
    names = [*pins.pinned_agents(), pins.NODE[0]]
    agent_name = AGENT_ALIASES.get(name, name)
    if agent_name not in names:
        hint = suggest_name(name, names) or f": {', '.join(names)}"
        raise UnknownName(f"no agent called {name!r} can be fetched{hint}")
    return agent_name


def _download_state(name: str, version: str) -> AgentDownload:
    folder, megabytes = programs.version_folder(name, version), pins.find_download(name, version).megabytes
    is_there, is_complete = (folder / programs.MODULES).is_dir(), programs.is_complete(name, version)
    state: DownloadState = "fetched" if is_complete else "unchecked" if is_there else "missing"
    return AgentDownload(agent=name, version=version, megabytes=megabytes, state=state, folder=str(folder))


def fetch_agents(names: Sequence[str], versions: Sequence[str] = (), progress: Progress = lambda _: None) -> None:
    """Fetch what is missing; a problem with one version does not stop the others."""
    problems = []
    with _fetch_lock(progress):
        for download in [one for one in plan_downloads(names, versions) if one.state != "fetched"]:
            try:
                _fetch_download(download, progress)
            except Unreachable:
                raise
            except Unavailable as problem:
                problems.append(str(problem))
    if problems:
        raise Unavailable("; ".join(problems))


@contextmanager
def _fetch_lock(progress: Progress) -> Iterator[None]:
    """One fetch at a time; what an earlier one has left unfinished is removed."""
    cache = programs.cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = (cache / ".lock").open("w")
    except OSError as problem:
        message = f"agents cannot be kept in {cache} ({problem.strerror}); HOOKONCE_AGENTS names another"
        raise Unavailable(message) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another fetch is under way; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for scratch_folder in cache.glob(f"{_SCRATCH_PREFIX}*"):
            rmtree(scratch_folder, ignore_errors=True)
        yield


def _fetch_download(download: AgentDownload, progress: Progress) -> None:
    version_folder, start_time = Path(download.folder), monotonic()
    pinned_packages = programs.pinned_packages(download.agent, download.version)
    is_missing = bool(npm.find_faults(version_folder, pinned_packages))
    (version_folder / programs.MARKER).unlink(missing_ok=True)
    if is_missing:
        npm.find_npm()
        need_mb, free_mb = download.megabytes * _DISK_FACTOR, disk_usage(programs.cache_folder()).free // _BYTES_PER_MB
        if free_mb < need_mb:
            need = f"{download.agent} {download.version} needs about {need_mb:.0f} MB of disk"
            free = f"{free_mb} MB are free in {programs.cache_folder()}"
            raise Unavailable(f"{need}, and {free}; make room, or name another folder with HOOKONCE_AGENTS")
        progress(f"{download.agent} {download.version}: fetching about {download.megabytes} MB from npm")
        _replace_modules(version_folder / programs.MODULES, pinned_packages)
    marker = programs.marker_text(download.agent, download.version)
    (version_folder / programs.MARKER).write_text(marker, encoding="utf-8")
    duration_text = f"fetched in {monotonic() - start_time:.0f} s" if is_missing else "was there already"
    checksum_note = "its checksums are the pinned ones"
    if not all(package.integrity for package in pinned_packages):
        checksum_note = f"its checksums for {programs.npm_platform()} are not pinned, only the registry's word for them"
    progress(f"{download.agent} {download.version}: {duration_text}; {checksum_note}")


def _replace_modules(target: Path, pinned_packages: list[NpmPackage]) -> None:
    scratch = Path(mkdtemp(prefix=_SCRATCH_PREFIX, dir=programs.cache_folder()))
    try:
        new_folder = scratch / "new"
        new_folder.mkdir()
        npm.install_packages(new_folder, pinned_packages)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rename(scratch / "old")
        (new_folder / programs.MODULES).rename(target)
    finally:
        rmtree(scratch, ignore_errors=True)
