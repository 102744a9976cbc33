"""Which program the lab runs as an agent: the user's own, or a pinned one from the cache."""

import os
import platform as machine
import sys
from pathlib import Path
from shutil import which
from typing import Literal

from msgspec import Struct

from hookonce import agents
from hookonce.config import paths
from hookonce.journeys.spoken import version_of
from hookonce.journeys.survey import program as on_path
from hookonce.lab import drivers, pins
from hookonce.lab.driver import Driver
from hookonce.lab.npm import Unavailable

MODULES, MARKER = "node_modules", ".complete"
_LINE = 200  # bytes in which a script says who reads it
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class Found(Struct, frozen=True, kw_only=True):
    """A program that can be run; `node` runs it if it is no program by itself."""

    agent: str
    version: str
    program: Path
    node: Path | None
    origin: Literal["machine", "cache"]


def find(name: str, version: str | None = None, *, pinned: bool = False) -> Found | None:
    """The agent's program: a named or the pinned version from the cache; else the user's own, else the pinned one."""
    driver = drivers.load(name)
    if version is not None or pinned:
        return cached(driver, version)
    return on_machine(driver) or cached(driver)


def cached(driver: Driver, version: str | None = None) -> Found | None:
    """The agent from the cache, None if that version was never fetched whole."""
    version = version or driver.version
    if not is_complete(driver.agent, version):
        return None
    modules = place(driver.agent, version) / MODULES
    program = next(modules.glob(driver.program.format(platform=platform())), None)
    if program is None:
        return None
    return Found(
        agent=driver.agent,
        version=version,
        program=program,
        node=None if driver.node is None else node(driver.node, driver.agent),
        origin="cache",
    )


def on_machine(driver: Driver) -> Found | None:
    """The agent that the user has, None if there is none or it does not say which version it is."""
    named = on_path(agents.load(driver.agent))
    version = version_of(named) if named else None
    if named is None or version is None:
        return None
    program = Path(named).absolute()
    least = driver.node if _is_javascript(program) else None
    return Found(
        agent=driver.agent,
        version=version,
        program=program,
        node=None if least is None else node(least, driver.agent),
        origin="machine",
    )


def folder() -> Path:
    """Where fetched agents lie."""
    if named := os.environ.get("HOOKONCE_AGENTS"):
        return Path(named).absolute()
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(caches) if Path(caches).is_absolute() else paths.home() / ".cache") / "hookonce" / "agents"


def place(name: str, version: str) -> Path:
    """The folder of one version."""
    return folder() / name / version


def platform() -> str:
    """This machine, as vendors name it in their packages."""
    architecture = machine.machine().lower()
    return f"{sys.platform}-{_ARCHITECTURES.get(architecture, architecture)}"


def is_complete(name: str, version: str) -> bool:
    """Whether a version was fetched whole, as it is pinned today."""
    if not pins.versions(name):
        return False
    try:
        told = (place(name, version) / MARKER).read_text(encoding="utf-8")
    except OSError:
        return False
    return told == mark(name, version) and (place(name, version) / MODULES).is_dir()


def mark(name: str, version: str) -> str:
    """What the marker of a whole version says: its packages and their checksums."""
    made = pins.download(name, version)
    found = pins.packages(made.packages, platform())
    return "".join(f"{one.name}@{one.version} {one.integrity or '-'}\n" for one in found)


def node(least: int, agent: str) -> Path:
    """A Node.js that is new enough: the user's own, else the cached one."""
    if (own := own_node(least)) is not None:
        return own
    name, version = pins.NODE
    package = pins.packages(pins.PINS[pins.NODE].packages, platform())[0]
    program = place(name, version) / MODULES / package.name / "bin" / "node"
    if int(version.split(".")[0]) < least or not is_complete(name, version) or not program.exists():
        raise Unavailable(f"{agent} needs Node.js {least} or newer: hookonce lab fetch {agent}")
    return program


def own_node(least: int) -> Path | None:
    """The user's own Node.js, if it is new enough."""
    own = which("node")
    version = version_of(own) if own else None
    return Path(own).absolute() if own and version and int(version.split(".")[0]) >= least else None


def _is_javascript(program: Path) -> bool:
    with program.open("rb") as file:
        first = file.readline(_LINE)
    return first.startswith(b"#!") and any(Path(word).name == "node" for word in first.decode(errors="replace").split())
