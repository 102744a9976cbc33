"""npm installation of exactly the pinned packages: the lock file is ours, so that nothing else can be installed.

npm refuses an archive with another checksum before it is unpacked, and takes no older version where
Node.js is old. Scripts of packages are never run: all they would do is link a program to a second place.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from hookonce.base.jsontext import as_dict, drop_none, dump, load
from hookonce.errors import HookonceError
from hookonce.lab.fetch.pins import NpmPackage
from hookonce.model import Object

_CI_OPTIONS = ("ci", "--prefix=.", "--ignore-scripts", "--engine-strict=false", "--install-strategy=hoisted")
_QUIET_OPTIONS = ("--no-audit", "--no-fund", "--loglevel=error")
_RETRY_OPTIONS = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
_INSTALL_TIMEOUT_S = 1800  # seconds
_PREFIX = re.compile(r"^npm (?:error|ERR!) ?")
_UNREACHABLE = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|E\w*TIME(?:D)?OUT)\b"
)
_MAX_ERROR_LINES = 2  # lines of a complaint that say what is wrong; the others repeat it


class Unavailable(HookonceError):
    """An agent, or what it needs, cannot be had."""


class Unreachable(Unavailable):
    """Nothing at all can be had: there is no npm, or no network."""


def find_npm() -> str:
    """Where npm is."""
    if (npm_path := which("npm")) is None:
        message = "npm is not on the path, so no agent can be fetched"
        raise Unreachable(f"{message}; install Node.js, which brings npm, and try again")
    return npm_path


def install_packages(folder: Path, packages: Sequence[NpmPackage]) -> None:
    """Have npm put packages into an empty folder; an error unless they are what is pinned."""
    dependencies = {
        package.name: package.version if package.real == package.name else f"npm:{package.real}@{package.version}"
        for package in packages
    }
    (folder / "package.json").write_bytes(dump({"private": True, "dependencies": dependencies}))
    rows = {}
    for package in packages:
        alias = package.real if package.real != package.name else None
        row = {"name": alias, "version": package.version, "integrity": package.integrity}
        rows[f"node_modules/{package.name}"] = drop_none(row)
    lock = {"lockfileVersion": 3, "requires": True, "packages": {"": {"dependencies": dependencies}, **rows}}
    (folder / "package-lock.json").write_bytes(dump(lock))
    command = [find_npm(), *_CI_OPTIONS, *_QUIET_OPTIONS, *_RETRY_OPTIONS]
    _run_npm(command, folder, f"{packages[0].real} {packages[0].version}")
    if problems := find_faults(folder, packages):
        raise Unavailable(f"what npm has fetched is not what is pinned: {'; '.join(problems)}; nothing of it was kept")


def _run_npm(command: list[str], folder: Path, label: str) -> None:
    try:
        result = subprocess.run(  # noqa: S603  the user's own npm
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=_INSTALL_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not fetch {label} within {_INSTALL_TIMEOUT_S // 60} minutes; try again") from None
    if result.returncode:
        raise _parse_error(result.stderr.decode(errors="replace"), label)


def _parse_error(err: str, label: str) -> Unavailable:
    lines = [_PREFIX.sub("", line).strip() for line in err.splitlines() if _PREFIX.match(line)]
    message = "; ".join([*filter(None, lines)][:_MAX_ERROR_LINES]) or err.strip()[-200:] or "it does not say why"
    if match := _UNREACHABLE.search(err):
        reason = f"npm cannot reach its registry ({match[0]})"
        return Unreachable(f"{reason}, so {label} could not be fetched; try again with a network")
    return Unavailable(f"npm could not fetch {label}: {message}; `npm config get registry` says where it looks")


def find_faults(folder: Path, packages: Sequence[NpmPackage]) -> list[str]:
    """How the packages in a folder differ from what is pinned; npm writes its list of them when all are there."""
    lock_rows = _read_object(folder / "node_modules/.package-lock.json").get("packages", {})
    modules = folder / "node_modules"
    return [fault for package in packages if (fault := _package_fault(modules / package.name, package, lock_rows))]


def _package_fault(folder: Path, package: NpmPackage, lock_rows: Object) -> str | None:
    row = lock_rows.get(f"node_modules/{package.name}")
    version_on_disk = _read_object(folder / "package.json").get("version")
    if row is None or version_on_disk is None:
        return f"{package.name} is missing"
    if {row.get("version"), version_on_disk} != {package.version}:
        return f"{package.name} is {version_on_disk}, not {package.version}"
    if package.integrity is not None and row.get("integrity") != package.integrity:
        return f"the checksum of {package.name} {package.version} is not the pinned one"
    return None


def _read_object(path: Path) -> Object:
    try:
        return as_dict(load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
