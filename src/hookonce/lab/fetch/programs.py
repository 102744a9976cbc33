"""Agent program lookup: the user's own program, or a pinned one from the cache."""

import os
import platform as machine
import sys
from pathlib import Path
from shutil import which
from typing import Literal

from msgspec import Struct

from hookonce import agents
from hookonce.base import paths
from hookonce.configure import status
from hookonce.configure.version_probe import probe_version
from hookonce.lab import drivers
from hookonce.lab.drivers import Driver
from hookonce.lab.fetch import pins
from hookonce.lab.fetch.npm import Unavailable

MODULES, MARKER = "node_modules", ".complete"
_SHEBANG_BYTES = 200  # bytes in which a script says who reads it
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class AgentProgram(Struct, frozen=True, kw_only=True):
    """Program that can be run; `node` runs it if it is JavaScript."""

    agent: str
    version: str
    program: Path
    node: Path | None
    origin: Literal["machine", "cache"]


def find_program(name: str, version: str | None = None, *, use_pinned: bool = False) -> AgentProgram | None:
    """The agent's program: a named or the pinned version from the cache; else the user's own, else the pinned one."""
    driver = drivers.load_driver(name)
    if version is not None or use_pinned:
        return find_in_cache(driver, version)
    return find_on_machine(driver) or find_in_cache(driver)


def find_in_cache(driver: Driver, version: str | None = None) -> AgentProgram | None:
    """The agent from the cache, None if that version was never fetched whole."""
    version = version or driver.version
    if not is_complete(driver.agent, version):
        return None
    modules = version_folder(driver.agent, version) / MODULES
    program = next(modules.glob(driver.program.format(platform=npm_platform())), None)
    if program is None:
        return None
    return AgentProgram(agent=driver.agent, version=version, program=program, node=_node_of(driver), origin="cache")


def find_on_machine(driver: Driver) -> AgentProgram | None:
    """The agent that the user has, None if there is none or it does not say which version it is."""
    program_name = status.find_program(agents.load(driver.agent))
    version = probe_version(program_name) if program_name else None
    if program_name is None or version is None:
        return None
    program = Path(program_name).absolute()
    node = _node_of(driver) if _is_javascript(program) else None
    return AgentProgram(agent=driver.agent, version=version, program=program, node=node, origin="machine")


def _node_of(driver: Driver) -> Path | None:
    return None if driver.min_node_version is None else find_node(driver.min_node_version, driver.agent)


def cache_folder() -> Path:
    """Where fetched agents lie."""
    if override := os.environ.get("HOOKONCE_AGENTS"):
        return Path(override).absolute()
    cache_root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache_root) if Path(cache_root).is_absolute() else paths.home() / ".cache") / "hookonce" / "agents"


def version_folder(name: str, version: str) -> Path:
    """The folder of one version."""
    return cache_folder() / name / version


def npm_platform() -> str:
    """This machine, as vendors name it in their packages."""
    architecture = machine.machine().lower()
    return f"{sys.platform}-{_ARCHITECTURES.get(architecture, architecture)}"


def is_complete(name: str, version: str) -> bool:
    """Whether a version was fetched whole, as it is pinned today."""
    if not pins.pinned_versions(name):
        return False
    try:
        marker_on_disk = (version_folder(name, version) / MARKER).read_text(encoding="utf-8")
    except OSError:
        return False
    return marker_on_disk == marker_text(name, version) and (version_folder(name, version) / MODULES).is_dir()


def marker_text(name: str, version: str) -> str:
    """What the marker of a whole version says: its packages and their checksums."""
    packages = pinned_packages(name, version)
    return "".join(f"{package.name}@{package.version} {package.integrity or '-'}\n" for package in packages)


def pinned_packages(name: str, version: str) -> list[pins.NpmPackage]:
    """The packages of a version, as they are for this machine."""
    return pins.resolve_packages(pins.find_download(name, version).packages, npm_platform())


def find_node(min_version: int, agent: str) -> Path:
    """A Node.js that is new enough: the user's own, else the cached one."""
    if (own_program := find_own_node(min_version)) is not None:
        return own_program
    name, version = pins.NODE
    program = version_folder(name, version) / MODULES / pinned_packages(name, version)[0].name / "bin" / "node"
    if int(version.split(".")[0]) < min_version or not is_complete(name, version) or not program.exists():
        raise Unavailable(f"{agent} needs Node.js {min_version} or newer: hookonce lab fetch {agent}")
    return program


def find_own_node(min_version: int) -> Path | None:
    """The user's own Node.js, if it is new enough."""
    node_path = which("node")
    version = probe_version(node_path) if node_path else None
    return Path(node_path).absolute() if node_path and version and int(version.split(".")[0]) >= min_version else None


def _is_javascript(program: Path) -> bool:
    with program.open("rb") as file:
        first = file.readline(_SHEBANG_BYTES)
    return first.startswith(b"#!") and any(Path(word).name == "node" for word in first.decode(errors="replace").split())
