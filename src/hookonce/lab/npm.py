"""npm, asked for exactly what is pinned: the lock that it works from is ours, so that nothing else can land.

npm itself then refuses an archive whose checksum is another, before it is unpacked, and takes no older version where
Node.js is old. Scripts of packages are never run: all they would do is link a program to a second place.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from hookonce.errors import HookonceError
from hookonce.lab.pins import Package
from hookonce.model import Object
from hookonce.texts import dump, load

_WORDS = ("ci", "--prefix=.", "--ignore-scripts", "--engine-strict=false", "--install-strategy=hoisted")
_QUIET = ("--no-audit", "--no-fund", "--loglevel=error")
_HASTY = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
_PATIENCE = 1800  # seconds
_PREFIX = re.compile(r"^npm (?:error|ERR!) ?")
_UNREACHABLE = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|E\w*TIME(?:D)?OUT)\b"
)
_FIRST = 2  # lines of a complaint that say what is wrong; the others repeat it


class Unavailable(HookonceError):
    """An agent, or what it needs, cannot be had."""


class Unreachable(Unavailable):
    """Nothing at all can be had: there is no npm, or no network."""


def program() -> str:
    """Where npm is."""
    if (found := which("npm")) is None:
        raise Unreachable(
            "npm is not on the path, so no agent can be fetched; install Node.js, which brings npm, and try again"
        )
    return found


def install(folder: Path, packages: Sequence[Package]) -> None:
    """Have npm put packages into an empty folder; an error unless they are what is pinned."""
    wanted = {one.name: one.version if one.real == one.name else f"npm:{one.real}@{one.version}" for one in packages}
    (folder / "package.json").write_bytes(dump({"private": True, "dependencies": wanted}))
    (folder / "package-lock.json").write_bytes(dump(_lock(wanted, packages)))
    _run([program(), *_WORDS, *_QUIET, *_HASTY], folder, f"{packages[0].real} {packages[0].version}")
    if wrong := faults(folder, packages):
        raise Unavailable(f"what npm has fetched is not what is pinned: {'; '.join(wrong)}; nothing of it was kept")


def _lock(wanted: dict[str, str], packages: Sequence[Package]) -> Object:
    rows = {f"node_modules/{one.name}": _row(one) for one in packages}
    return {"lockfileVersion": 3, "requires": True, "packages": {"": {"dependencies": wanted}, **rows}}


def _row(one: Package) -> Object:
    told = {"name": one.real if one.real != one.name else None, "version": one.version, "integrity": one.integrity}
    return {key: value for key, value in told.items() if value is not None}


def _run(words: list[str], folder: Path, what: str) -> None:
    try:
        done = subprocess.run(  # noqa: S603  the user's own npm
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not fetch {what} within {_PATIENCE // 60} minutes; try again") from None
    if done.returncode:
        raise _problem(done.stderr.decode(errors="replace"), what)


def _problem(err: str, what: str) -> Unavailable:
    lines = [_PREFIX.sub("", line).strip() for line in err.splitlines() if _PREFIX.match(line)]
    told = "; ".join([line for line in lines if line][:_FIRST]) or err.strip()[-200:] or "it does not say why"
    if found := _UNREACHABLE.search(err):
        return Unreachable(
            f"npm cannot reach its registry ({found[0]}), so {what} could not be fetched; try again with a network"
        )
    return Unavailable(f"npm could not fetch {what}: {told}; `npm config get registry` says where it looks")


def faults(folder: Path, packages: Sequence[Package]) -> list[str]:
    """How the packages in a folder differ from what is pinned; npm writes its list of them when all are there."""
    listed = _object(folder / "node_modules/.package-lock.json").get("packages", {})
    told = [_fault(folder / "node_modules" / one.name, one, listed) for one in packages]
    return [fault for fault in told if fault is not None]


def _fault(folder: Path, one: Package, listed: Object) -> str | None:
    row = listed.get(f"node_modules/{one.name}")
    there = _object(folder / "package.json").get("version")
    if row is None or there is None:
        return f"{one.name} is missing"
    if {row.get("version"), there} != {one.version}:
        return f"{one.name} is {there}, not {one.version}"
    if one.integrity is not None and row.get("integrity") != one.integrity:
        return f"the checksum of {one.name} {one.version} is not the pinned one"
    return None


def _object(path: Path) -> Object:
    try:
        found = load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if type(found) is dict else {}
